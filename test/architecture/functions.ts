// Analyses functions in the syntax tree: their length, and uses of variables before their declaration.

import { type Node, parseSync, visitorKeys } from "oxc-parser";

/** A function of a file. */
export interface FunctionSpan {
  /** Its name, or that of the variable, member or call to which it is given. */
  readonly name: string;
  /** The number of its first line. */
  readonly line: number;
  readonly lines: number;
  /** Whether it is a list of tests, that is, an argument of `describe`. */
  readonly listsTests: boolean;
}

/** Every function of a file, including nested ones. Throws if the file cannot be parsed. */
export function functionsOf(path: string, text: string): FunctionSpan[] {
  const lineOf = lineFinder(text);
  const found: FunctionSpan[] = [];
  const visit = (node: Node, name: string, listsTests: boolean): void => {
    if (isFunction(node)) {
      const line = lineOf(node.start);
      found.push({ name: ownName(node) ?? name, line, lines: lineOf(node.end) - line + 1, listsTests });
    }
    const named = nameGiven(node) ?? name;
    const describes = node.type === "CallExpression" && /^describe\b/.test(text.slice(node.start, node.start + 20));
    for (const child of childrenOf(node)) visit(child, named, describes && isFunction(child));
  };
  visit(parsed(path, text), path, false);
  return found;
}

/** Uses of a function's variables above their declaration, in nested functions that could run too early. */
export function usesBeforeDeclaration(path: string, text: string): string[] {
  const lineOf = lineFinder(text);
  const found: string[] = [];
  const inScope = (scope: ReadonlyMap<string, number>, node: Node): void => {
    if (node.type === "TSTypeAnnotation" || node.type === "TSTypeParameterInstantiation") return;
    if (node.type === "Identifier") {
      const declared = scope.get(node.name);
      if (declared !== undefined && node.start < declared) found.push(`line ${lineOf(node.start)}: ${node.name}`);
      return;
    }
    const inner = isFunction(node) ? new Map([...scope, ...bindingsOf(node)]) : scope;
    for (const child of childrenOf(node)) inScope(inner, child);
  };
  inScope(new Map(), parsed(path, text));
  return found;
}

/** A test that stands in no `describe`. */
export interface TopLevelTest {
  readonly line: number;
  /** Its name as it is written, with its placeholders. */
  readonly name: string;
}

/** The tests of a file that stand in no `describe`, also those of tables and loops. */
export function topLevelTests(path: string, text: string): TopLevelTest[] {
  const lineOf = lineFinder(text);
  const found: TopLevelTest[] = [];
  const visit = (node: Node): void => {
    if (node.type === "CallExpression") {
      const called = calledName(node);
      if (called === "describe") return;
      const [name] = node.arguments;
      if (called === "test" && (name?.type === "Literal" || name?.type === "TemplateLiteral")) {
        found.push({ line: lineOf(name.start), name: text.slice(name.start + 1, name.end - 1) });
        return;
      }
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(parsed(path, text));
  return found;
}

/** The name with which a called expression begins: `test` of `test.skipIf(x).each(rows)(…)`. */
function calledName(node: Node): string | undefined {
  if (node.type === "Identifier") return node.name;
  if (node.type === "CallExpression") return calledName(node.callee);
  return node.type === "MemberExpression" ? calledName(node.object) : undefined;
}

/** The syntax tree of a file. Throws if it cannot be parsed. */
export function parsed(path: string, text: string): Node {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  return program;
}

/** Whether a node is a function with a body. */
export function isFunction(node: Node): boolean {
  return (
    (node.type === "FunctionDeclaration" ||
      node.type === "FunctionExpression" ||
      node.type === "ArrowFunctionExpression") &&
    node.body !== null
  );
}

function ownName(node: Node): string | undefined {
  return "id" in node && node.id !== null && node.id?.type === "Identifier" ? node.id.name : undefined;
}

/** The name that a node gives to the function in it. */
function nameGiven(node: Node): string | undefined {
  if (node.type === "VariableDeclarator" || node.type === "FunctionDeclaration") return ownName(node);
  if (node.type === "Property" || node.type === "MethodDefinition" || node.type === "PropertyDefinition")
    return "name" in node.key ? String(node.key.name) : undefined;
  if (node.type !== "CallExpression") return undefined;
  const { callee } = node;
  if (callee.type === "Identifier") return `${callee.name}(…)`;
  return callee.type === "MemberExpression" && "name" in callee.property ? `${callee.property.name}(…)` : undefined;
}

/**
 * The names that a function binds: its parameters from its start, and the variables of its body from their declaration.
 */
function bindingsOf(node: Node): Map<string, number> {
  const names = new Map<string, number>();
  const bind = (pattern: Node, from: number): void => {
    if (pattern.type === "Identifier") names.set(pattern.name, from);
    else if (pattern.type === "Property") bind(pattern.value, from);
    else if (pattern.type === "AssignmentPattern") bind(pattern.left, from);
    else if (pattern.type.endsWith("Pattern") || pattern.type === "RestElement")
      for (const child of childrenOf(pattern)) bind(child, from);
  };
  const visit = (inner: Node): void => {
    if (isFunction(inner)) return;
    if (inner.type === "VariableDeclarator") bind(inner.id, inner.start);
    for (const child of childrenOf(inner)) visit(child);
  };
  if ("params" in node && Array.isArray(node.params)) for (const param of node.params) bind(param as Node, 0);
  if ("body" in node && node.body !== null) visit(node.body as Node);
  return names;
}

/** The nodes below a node, without the names of members and the keys of objects. */
export function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (const key of visitorKeys[node.type] ?? []) {
    if ((key === "property" || key === "key") && !("computed" in node && node.computed)) continue;
    const value = (node as unknown as Record<string, Node | (Node | null)[] | null | undefined>)[key];
    if (Array.isArray(value)) {
      for (const child of value) if (child !== null) children.push(child);
    } else if (value !== null && value !== undefined) children.push(value);
  }
  return children;
}

/** The line number of a position in a text, counted from 1. */
export function lineFinder(text: string): (at: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (at) => {
    let low = 0;
    for (let high = starts.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
