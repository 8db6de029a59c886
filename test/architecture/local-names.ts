// Finds variables by their names in the syntax tree, with the lines over which each is in use.

import type { Node } from "oxc-parser";
import { childrenOf, isFunction, lineFinder, parsed } from "./functions.ts";

/** A variable or parameter of a file. */
export interface Local {
  readonly name: string;
  /** The line of its declaration. */
  readonly line: number;
  /** The number of lines from its declaration to its last use. */
  readonly lines: number;
}

interface Declaration {
  readonly id: Node & { readonly name: string };
  /** The function, block or file in which the name has its meaning. */
  readonly scope: Node;
}

/**
 * The variables and parameters of a file that have one of these names. Left out are those that an object names, since they are
 * taken out of it under their members' names, and functions, whose names may be verbs.
 */
export function localsNamed(names: ReadonlySet<string>, path: string, text: string): Local[] {
  const lineOf = lineFinder(text);
  const declared = declarationsOf(names, parsed(path, text));
  return declared.map(({ id, scope }) => {
    const inner = new Set(
      declared.filter((other) => other.id.name === id.name && other.scope !== scope).map((other) => other.scope),
    );
    let last = id.start;
    const visit = (node: Node): void => {
      if (inner.has(node) && node !== scope) return;
      if (node.type === "Identifier" && node.name === id.name) last = Math.max(last, node.start);
      for (const child of childrenOf(node)) visit(child);
    };
    visit(scope);
    const line = lineOf(id.start);
    return { name: id.name, line, lines: lineOf(last) - line + 1 };
  });
}

const SCOPE = /^(?:BlockStatement|For(?:Of|In)?Statement|CatchClause|SwitchStatement|Program)$/;

function declarationsOf(names: ReadonlySet<string>, program: Node): Declaration[] {
  const found: Declaration[] = [];
  const bind = (pattern: Node, scope: Node): void => {
    if (pattern.type === "Identifier") {
      const type = "typeAnnotation" in pattern ? pattern.typeAnnotation?.typeAnnotation.type : undefined;
      if (names.has(pattern.name) && type !== "TSFunctionType") found.push({ id: pattern, scope });
    } else if (pattern.type === "Property") {
      if (!pattern.shorthand) bind(pattern.value, scope);
    } else if (pattern.type === "AssignmentPattern") bind(pattern.left, scope);
    else if (pattern.type.endsWith("Pattern") || pattern.type === "RestElement")
      for (const child of childrenOf(pattern)) bind(child, scope);
  };
  const visit = (node: Node, scope: Node): void => {
    let inner = scope;
    if (isFunction(node)) {
      inner = node;
      if ("params" in node && Array.isArray(node.params)) for (const param of node.params) bind(param as Node, node);
    } else if (SCOPE.test(node.type)) inner = node;
    if (node.type === "VariableDeclarator" && (node.init === null || !isFunction(node.init))) bind(node.id, inner);
    for (const child of childrenOf(node)) visit(child, inner);
  };
  visit(program, program);
  return found;
}
