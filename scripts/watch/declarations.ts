// Reads the type declarations of an installed SDK: the members of an interface, and the words that a type allows. Nothing is
// compiled; references are followed by name, through namespaces and imports.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Node, parseSync } from "oxc-parser";

/** A declaration with the namespaces around it, in which its references are looked up first. */
interface Declared {
  node: Node;
  scope: readonly string[];
  file: string;
}

/** The declarations of one file. An interface and a namespace, or a class, may share a name. */
interface Declarations {
  text: string;
  named: Map<string, Declared>;
  /** Local name → the file and the name in it; `*` for a namespace import. */
  imports: Map<string, { file: string; name: string }>;
}

/** The declarations of the SDKs below a folder such as `node_modules`. */
export class SdkTypes {
  readonly #dir: string;
  readonly #files = new Map<string, Declarations>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** The version of an SDK. */
  version(name: string): string {
    const text = readFileSync(join(this.#dir, name, "package.json"), "utf8");
    return (JSON.parse(text) as { version: string }).version;
  }

  /** The names of an interface's members, without those that are sent as headers. */
  members(file: string, name: string): string[] {
    const found = this.#need(file, name);
    const { text } = this.#load(found.file);
    const out: string[] = [];
    let end = found.node.start;
    for (const member of membersOf(found.node)) {
      if (!text.slice(end, member.start).includes("Header param:")) out.push(keyOf(member));
      end = member.end;
    }
    return out.filter((key) => key !== "");
  }

  /**
   * The words that a type allows: those of its literals, of an enumeration, or of the member `tag` of the objects in a union.
   * `path`: members to follow from the type.
   */
  words(
    file: string,
    name: string,
    { path = [], tag = "type" }: { path?: readonly string[]; tag?: string } = {},
  ): string[] {
    let at: Declared | undefined = this.#need(file, name);
    for (const key of path) at = at && this.#member(at, key);
    if (at === undefined) throw new Error(`${file}: ${name} has no ${path.join(".")} any more`);
    const out = new Set<string>();
    this.#collect(at, tag, out, new Set());
    if (out.size === 0) throw new Error(`${file}: ${[name, ...path].join(".")} has no words any more`);
    return [...out];
  }

  /** The words of the member `key` of every class in a file. */
  wordsOfClasses(file: string, key: string): string[] {
    const out = new Set<string>();
    for (const found of this.#load(file).named.values()) {
      const member = found.node.type === "ClassDeclaration" ? this.#member(found, key) : undefined;
      if (member !== undefined) this.#collect(member, "type", out, new Set());
    }
    return [...out];
  }

  #collect(at: Declared, tag: string, out: Set<string>, seen: Set<Node>): void {
    const { node } = at;
    if (seen.has(node)) return;
    seen.add(node);
    const follow = (next: Node | null | undefined) => {
      if (next != null) this.#collect({ ...at, node: next }, tag, out, seen);
    };
    switch (node.type) {
      case "TSUnionType":
      case "TSIntersectionType":
        node.types.forEach(follow);
        return;
      case "TSParenthesizedType":
      case "TSTypeAliasDeclaration":
        follow(node.typeAnnotation);
        return;
      case "TSArrayType":
        follow(node.elementType);
        return;
      case "TSLiteralType":
        if (node.literal.type === "Literal" && typeof node.literal.value === "string") out.add(node.literal.value);
        return;
      case "TSEnumDeclaration":
        for (const { initializer } of node.body.members) {
          if (initializer?.type === "Literal") out.add(String(initializer.value));
        }
        return;
      case "TSTypeReference": {
        const names = namesOf(node.typeName);
        const found = this.#resolve(names, at);
        if (found !== undefined) this.#collect(found, tag, out, seen);
        else if (names.join() === "Array") follow(node.typeArguments?.params[0]);
        return;
      }
      case "TSInterfaceDeclaration":
      case "TSTypeLiteral": {
        const member = this.#member(at, tag);
        if (member !== undefined) this.#collect(member, tag, out, seen);
      }
    }
  }

  /** The type of a member, also of an inherited one. */
  #member(at: Declared, key: string): Declared | undefined {
    const own = membersOf(at.node).find((member) => keyOf(member) === key);
    const type = own !== undefined && "typeAnnotation" in own ? own.typeAnnotation : undefined;
    if (type?.type === "TSTypeAnnotation") return { ...at, node: type.typeAnnotation };
    if (at.node.type === "TSTypeReference") {
      const found = this.#resolve(namesOf(at.node.typeName), at);
      return found && this.#member(found, key);
    }
    if (at.node.type !== "TSInterfaceDeclaration") return undefined;
    for (const { expression } of at.node.extends) {
      const base = this.#resolve(namesOf(expression), at);
      const member = base && this.#member(base, key);
      if (member !== undefined) return member;
    }
    return undefined;
  }

  #need(file: string, name: string): Declared {
    const found = this.#load(file).named.get(name);
    if (found === undefined) throw new Error(`${file} has no ${name} any more`);
    return found;
  }

  #resolve(names: readonly string[], from: Pick<Declared, "scope" | "file">): Declared | undefined {
    const { named, imports } = this.#load(from.file);
    for (let depth = from.scope.length; depth >= 0; depth--) {
      const found = named.get([...from.scope.slice(0, depth), ...names].join("."));
      if (found !== undefined) return found;
    }
    const [head = "", ...rest] = names;
    const imported = imports.get(head);
    if (imported === undefined || !existsSync(join(this.#dir, imported.file))) return undefined;
    const inside = imported.name === "*" ? rest : [imported.name, ...rest];
    return this.#resolve(inside, { scope: [], file: imported.file });
  }

  #load(file: string): Declarations {
    const known = this.#files.get(file);
    if (known !== undefined) return known;
    const text = readFileSync(join(this.#dir, file), "utf8");
    const out: Declarations = { text, named: new Map(), imports: new Map() };
    for (const node of parseSync(file, text).program.body) {
      if (node.type === "ImportDeclaration") addImports(node, file, out);
      else declare(node, { scope: [], file }, out);
    }
    this.#files.set(file, out);
    return out;
  }
}

function addImports(node: Extract<Node, { type: "ImportDeclaration" }>, file: string, out: Declarations): void {
  const target = join(dirname(file), node.source.value).replace(/\.js$/, ".d.ts");
  for (const specifier of node.specifiers) {
    const isNamed = specifier.type === "ImportSpecifier" && specifier.imported.type === "Identifier";
    const name = isNamed ? (specifier.imported as { name: string }).name : "*";
    out.imports.set(specifier.local.name, { file: target, name });
  }
}

function declare(outer: Node, { scope, file }: Omit<Declared, "node">, out: Declarations): void {
  const node = outer.type === "ExportNamedDeclaration" ? outer.declaration : outer;
  if (node == null || !("id" in node) || node.id?.type !== "Identifier") return;
  const path = [...scope, node.id.name];
  if (node.type === "TSModuleDeclaration") {
    if (node.body?.type === "TSModuleBlock")
      for (const inner of node.body.body) declare(inner, { scope: path, file }, out);
    return;
  }
  out.named.set(path.join("."), { node, scope, file });
}

function membersOf(node: Node): readonly Node[] {
  if (node.type === "TSInterfaceDeclaration" || node.type === "ClassDeclaration") return node.body.body;
  return node.type === "TSTypeLiteral" ? node.members : [];
}

function keyOf(member: Node): string {
  if (!("key" in member) || member.key == null) return "";
  const key = member.key as Node;
  if (key.type === "Identifier") return key.name;
  return key.type === "Literal" ? String(key.value) : "";
}

function namesOf(node: Node): string[] {
  if (node.type === "Identifier") return [node.name];
  if (node.type === "TSQualifiedName") return [...namesOf(node.left), node.right.name];
  if (node.type !== "MemberExpression" || node.property.type !== "Identifier") return [];
  return [...namesOf(node.object), node.property.name];
}
