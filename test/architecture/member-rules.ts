// Finds members that no code of src uses: methods of interfaces, classes and created objects, and verbs of the store. The
// check for unused exports does not see members.

import { type Node, parseSync, visitorKeys } from "oxc-parser";
import type { Finding } from "./rules.ts";
import type { FileMap } from "./source.ts";

/** Methods that only other programs call, or that tests need to move the clock. */
const CALLED_ELSEWHERE = new Map([
  ["getDerivedStateFromError", "Preact calls it"],
  ["removeChild", "turndown calls it"],
  ["nodeValue", "turndown reads it"],
  ["getSlice", "the parser of htmlparser2 calls it"],
  ["fastForwardTo", "the tokenizer of htmlparser2 calls it"],
  ["advance", "tests move the clock by it"],
]);

/**
 * Methods that are declared in src and not named by any other code there. Only names are compared, so a used name hides
 * others.
 */
export function unusedMethods(files: FileMap): Finding {
  const declared = new Map<string, string>();
  const used = new Set<string>(CALLED_ELSEWHERE.keys());
  for (const [path, text] of files) {
    if (!path.startsWith("src/") || path.endsWith(".d.ts")) continue;
    eachNode(parseSync(path, text).program, (node) => {
      const method = methodOf(node);
      if (method !== undefined) declared.set(method, path);
      for (const name of namesUsed(node)) used.add(name);
    });
  }
  const violations = [...declared].filter(([name]) => !used.has(name)).map(([name, path]) => `${path}: ${name}`);
  return { looked: declared.size, violations };
}

/** The store's verbs that no code outside their own domain uses. `files`: the sources. */
export function unusedVerbs(files: FileMap, verbs: readonly string[]): Finding {
  const used = new Set<string>();
  for (const [path, text] of files) {
    const isDomain = path.startsWith("src/store/") && path !== "src/store/sweeps.ts";
    if (!path.startsWith("src/") || path.endsWith(".d.ts") || isDomain) continue;
    eachNode(parseSync(path, text).program, (node) => {
      for (const name of namesUsed(node)) used.add(name);
    });
  }
  return { looked: verbs.length, violations: verbs.filter((verb) => !used.has(verb)) };
}

function methodOf(node: Node): string | undefined {
  if (node.type === "TSMethodSignature") return nameOf(node.key);
  return node.type === "MethodDefinition" && node.kind !== "constructor" ? nameOf(node.key) : undefined;
}

/** The names of members that a node reads: `x.name`, `{ name } = x`, `"name"` (as in `Pick`), and `name=` in JSX. */
function namesUsed(node: Node): string[] {
  const names = namesRead(node);
  return names.filter((name) => name !== undefined);
}

function namesRead(node: Node): (string | undefined)[] {
  if (node.type === "MemberExpression") return node.computed ? [] : [nameOf(node.property)];
  if (node.type === "ObjectPattern") return node.properties.map((one) => ("key" in one ? nameOf(one.key) : undefined));
  if (node.type === "Literal") return typeof node.value === "string" ? [node.value] : [];
  return node.type === "JSXAttribute" && "name" in node.name ? [String(node.name.name)] : [];
}

function nameOf(key: Node): string | undefined {
  return key.type === "Identifier" ? key.name : undefined;
}

function eachNode(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const key of visitorKeys[node.type] ?? []) {
    const value = (node as unknown as Record<string, Node | (Node | null)[] | null | undefined>)[key];
    if (Array.isArray(value)) {
      for (const child of value) if (child !== null) eachNode(child, visit);
    } else if (value !== null && value !== undefined) eachNode(value, visit);
  }
}
