// Finds tables that are read with a name that may come from outside. An object literal also has the members of
// `Object.prototype`: a client that sends `constructor` finds a function. Such a table is a `Map`, or is read by `entryOf`.

import { posix } from "node:path";
import { type Node, parseSync, visitorKeys } from "oxc-parser";
import type { Finding } from "./rules.ts";
import type { FileMap } from "./source.ts";

/**
 * Reads of constant object literals with a computed key, as `path: TABLE[key]`. Only tables of any text (`Record<string, …>`) can be
 * asked for what they do not list; the type of the others demands one of their own keys. The dashboard's pages are left out:
 * what they look up comes from this program.
 */
export function openTableReads(files: FileMap): Finding {
  const tables = new Map([...files].map(([path, text]) => [path, tablesOf(path, text)] as const));
  const violations: string[] = [];
  for (const [path, text] of files) {
    if (path.startsWith("src/dashboard/ui/")) continue;
    const { program } = parseSync(path, text);
    const known = new Set([...(tables.get(path) ?? []), ...importedTables(program, path, tables)]);
    eachNode(program, (node) => {
      if (node.type !== "MemberExpression" || !node.computed || node.object.type !== "Identifier") return;
      if (!known.has(node.object.name)) return;
      const key = text.slice(node.property.start, node.property.end);
      if (node.property.type === "Literal") return;
      violations.push(`${path}: ${node.object.name}[${key}]`);
    });
  }
  const looked = [...tables.values()].reduce((sum, { size }) => sum + size, 0);
  return { looked, violations: [...new Set(violations)] };
}

/** The names of a file's object literals whose keys may be any text. */
function tablesOf(path: string, text: string): Set<string> {
  const found = new Set<string>();
  for (const node of parseSync(path, text).program.body) {
    const declared = node.type === "ExportNamedDeclaration" ? node.declaration : node;
    if (declared?.type !== "VariableDeclaration") continue;
    for (const { id, init } of declared.declarations) {
      if (id.type !== "Identifier" || bare(init)?.type !== "ObjectExpression") continue;
      const type = id.typeAnnotation ? text.slice(id.typeAnnotation.start, id.typeAnnotation.end) : "";
      if (/Record<\s*string\b|\[\w+: string\]/.test(type)) found.add(id.name);
    }
  }
  return found;
}

/** The expression without `as const`, `satisfies T` and `Object.freeze(…)`. */
function bare(node: Node | null): Node | null {
  if (node === null) return null;
  if (node.type === "TSAsExpression" || node.type === "TSSatisfiesExpression") return bare(node.expression);
  return node;
}

/** The tables that a file imports, by the names under which it does. */
function importedTables(program: Node, path: string, tables: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  if (program.type !== "Program") return [];
  return program.body.flatMap((node) => {
    if (node.type !== "ImportDeclaration" || !node.source.value.startsWith(".")) return [];
    const from = tables.get(posix.normalize(posix.join(posix.dirname(path), node.source.value)));
    return node.specifiers.flatMap((one) =>
      one.type === "ImportSpecifier" && one.imported.type === "Identifier" && from?.has(one.imported.name) === true
        ? [one.local.name]
        : [],
    );
  });
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
