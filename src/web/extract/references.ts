// Resolves references within one schema: to a pointer, an anchor, or a part with an address of its own. Nothing is ever fetched;
// a reference to another document resolves to nothing.

import { isRecord } from "../../base/json-object.ts";
import { escapePointer, SchemaError } from "./schema-error.ts";

/** The references of one schema. */
export interface References {
  /**
   * The target of `reference` as written in `from`; undefined if it is not in the schema. Throws `SchemaError` if the addresses
   * of the schema are too long together.
   */
  follow(from: object, reference: string): unknown;
}

/** The base of relative addresses, which no real schema has. */
const BASE = "schema:/";
/** Maximum length of one address, reference or anchor. */
const ADDRESS_CHARS_MAX = 1000;
/**
 * Maximum length of all addresses together, each with the address that it is relative to. A long address above many short ones
 * would otherwise take the product of both in time and memory.
 */
const ALL_CHARS_MAX = 1_000_000;
/** The members that hold addresses. */
const ADDRESSES = ["$id", "$ref", "$dynamicRef", "$anchor", "$dynamicAnchor"];

/** Indexes a schema. Repeated calls with the same schema return the same index. Throws `SchemaError`. */
export function referencesOf(root: object): References {
  let found = known.get(root);
  if (found === undefined) {
    found = new Index(root);
    known.set(root, found);
  }
  return found;
}

const known = new WeakMap<object, References>();

/** A value of the schema that is still to be indexed. */
interface Inner {
  readonly value: unknown;
  /** The address of the surrounding part. */
  readonly base: string;
  readonly within: Inner | undefined;
  readonly name: string;
}

/** A part of the schema with an address of its own. */
interface Resource {
  readonly root: unknown;
  readonly anchors: Map<string, unknown>;
}

class Index implements References {
  readonly #resources = new Map<string, Resource>();
  readonly #bases = new Map<object, string>();
  readonly #targets = new Map<object, Map<string, unknown>>();
  #charsLeft = ALL_CHARS_MAX;

  constructor(root: object) {
    this.#resources.set(BASE, { root, anchors: new Map() });
    const waiting: Inner[] = [{ value: root, base: BASE, within: undefined, name: "" }];
    for (let at = 0; at < waiting.length; at++) {
      const inner = waiting[at] as Inner;
      const { value } = inner;
      if (typeof value !== "object" || value === null) continue;
      const base = isRecord(value) ? this.#enter(value, inner) : inner.base;
      this.#bases.set(value, base);
      for (const [name, member] of Object.entries(value)) waiting.push({ value: member, base, within: inner, name });
    }
  }

  follow(from: object, reference: string): unknown {
    let targets = this.#targets.get(from);
    if (targets === undefined) {
      targets = new Map();
      this.#targets.set(from, targets);
    }
    if (!targets.has(reference)) targets.set(reference, this.#find(reference, this.#bases.get(from) ?? BASE));
    return targets.get(reference);
  }

  /** Adds an object with its anchors. Returns the address to which those inside are relative. */
  #enter(schema: Readonly<Record<string, unknown>>, inner: Inner): string {
    for (const word of ADDRESSES) {
      const text = schema[word];
      if (typeof text === "string" && text.length > ADDRESS_CHARS_MAX)
        throw new SchemaError(`${placeOf(inner)}/${word}`, `Expected at most ${ADDRESS_CHARS_MAX} characters.`);
    }
    const base = this.#baseWithin(schema, inner.base);
    let resource = this.#resources.get(base);
    if (resource === undefined) {
      resource = { root: schema, anchors: new Map() };
      this.#resources.set(base, resource);
    }
    for (const name of anchorsOf(schema)) resource.anchors.set(name, schema);
    return base;
  }

  /** The base address of relative references in this object. */
  #baseWithin(schema: Readonly<Record<string, unknown>>, base: string): string {
    const id = schema["$id"];
    if (typeof id !== "string" || id.startsWith("#")) return base;
    return this.#resolve(id, base)?.replace(/#.*$/, "") ?? base;
  }

  #find(reference: string, base: string): unknown {
    // Most references are of this form, which does not depend on how long the base is.
    const isHere = reference.startsWith("#");
    const address = isHere ? reference : this.#resolve(reference, base);
    if (address === undefined) return undefined;
    const [before = "", fragment = ""] = address.split("#", 2);
    const resource = this.#resources.get(isHere ? base : before);
    if (resource === undefined || fragment === "") return resource?.root;
    return fragment.startsWith("/") ? pointed(resource.root, fragment) : resource.anchors.get(fragment);
  }

  #resolve(reference: string, base: string): string | undefined {
    this.#spend(reference.length + base.length);
    const address = URL.parse(reference, base)?.href;
    // Percent encoding makes an address up to nine times as long.
    this.#spend(address?.length ?? 0);
    return address;
  }

  #spend(chars: number): void {
    this.#charsLeft -= chars;
    if (this.#charsLeft < 0)
      throw new SchemaError("", "The addresses in the schema ($id, $ref) are too long together. Shorten its $id.");
  }
}

function placeOf({ within, name }: Inner): string {
  return within === undefined ? "" : `${placeOf(within)}/${escapePointer(name)}`;
}

/** The names by which this object can be referenced. In draft 7, anchors are written as `$id`. */
function anchorsOf(schema: Readonly<Record<string, unknown>>): string[] {
  const { $id, $anchor, $dynamicAnchor } = schema;
  const older = typeof $id === "string" && $id.startsWith("#") ? $id.slice(1) : undefined;
  return [older, $anchor, $dynamicAnchor].filter((name): name is string => typeof name === "string" && name !== "");
}

function pointed(root: unknown, pointer: string): unknown {
  let at = root;
  for (const step of pointer.slice(1).split("/")) {
    const name = textOf(step);
    if (name === undefined || typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

/** Decodes a step of a pointer; undefined if its percent encoding is invalid. */
function textOf(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replace(/~1/g, "/").replace(/~0/g, "~");
  } catch {
    return undefined;
  }
}
