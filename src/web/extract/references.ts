// Resolves references within one schema: to a pointer, an anchor, or a part with an address of its own. Nothing is ever fetched;
// a reference to another document resolves to nothing.

import { isRecord } from "../../base/json-object.ts";

/** The references of one schema. */
export interface References {
  /** The target of `reference` as written in `from`; undefined if it is not in the schema. */
  follow(from: object, reference: string): unknown;
}

/** The base of relative addresses, which no real schema has. */
const BASE = "schema:/";

/** Indexes a schema. Repeated calls with the same schema return the same index. */
export function referencesOf(root: object): References {
  let found = known.get(root);
  if (found === undefined) {
    found = index(root);
    known.set(root, found);
  }
  return found;
}

const known = new WeakMap<object, References>();

function index(root: object): References {
  const resources = new Map<string, unknown>([[BASE, root]]);
  const anchors = new Map<string, unknown>();
  const bases = new Map<object, string>();
  const waiting: { value: unknown; base: string }[] = [{ value: root, base: BASE }];
  for (let at = 0; at < waiting.length; at++) {
    const { value, base } = waiting[at] as { value: unknown; base: string };
    if (typeof value !== "object" || value === null) continue;
    const own = isRecord(value) ? baseWithin(value, base) : base;
    bases.set(value, own);
    if (own !== base && !resources.has(own)) resources.set(own, value);
    if (isRecord(value)) for (const name of anchorsOf(value)) anchors.set(`${own}#${name}`, value);
    for (const inner of Object.values(value)) waiting.push({ value: inner, base: own });
  }
  return {
    follow(from, reference) {
      const address = resolve(reference, bases.get(from) ?? BASE);
      if (address === undefined) return undefined;
      const [resource = "", fragment = ""] = address.split("#", 2);
      if (!resources.has(resource)) return undefined;
      if (fragment === "") return resources.get(resource);
      if (!fragment.startsWith("/")) return anchors.get(address);
      return pointed(resources.get(resource), fragment);
    },
  };
}

/** The base address of relative references in this object. */
function baseWithin(schema: Readonly<Record<string, unknown>>, base: string): string {
  const id = schema["$id"];
  if (typeof id !== "string" || id.startsWith("#")) return base;
  return resolve(id, base)?.replace(/#.*$/, "") ?? base;
}

/** The names by which this object can be referenced. In draft 7, anchors are written as `$id`. */
function anchorsOf(schema: Readonly<Record<string, unknown>>): string[] {
  const { $id, $anchor, $dynamicAnchor } = schema;
  const older = typeof $id === "string" && $id.startsWith("#") ? $id.slice(1) : undefined;
  return [older, $anchor, $dynamicAnchor].filter((name): name is string => typeof name === "string" && name !== "");
}

function resolve(reference: string, base: string): string | undefined {
  return URL.canParse(reference, base) ? new URL(reference, base).href : undefined;
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
