// Finds members inside of a request's parameters, messages and tools that have no neutral form. A translation drops them, so they
// are reported. Unknown kinds of tools and content are handled as a whole and reported by their kind instead.

import { isRecord } from "../base/json-object.ts";

/** The members that are read of an object, or of each object in a list. */
export interface ObjectShape {
  /** Names of members that are read, or do not matter to a model, separated by spaces. */
  reads?: string;
  /** Members whose own members are examined. */
  holds?: Readonly<Record<string, ObjectShape>>;
  /** The same by the value of `type`; objects of other types are skipped. */
  kinds?: Readonly<Record<string, ObjectShape>>;
  /** The type of an object without `type`. */
  kind?: string;
}

/** An `ObjectShape` with an index of its members. */
export interface Known {
  /** The path of the object, without list indexes. */
  path: string;
  reads: ReadonlySet<string>;
  holds: ReadonlyMap<string, Known>;
  kinds: ReadonlyMap<string, Known> | undefined;
  kind: string | undefined;
}

/** Indexes the shape of a body. */
export function known(shape: ObjectShape, path = ""): Known {
  const under = (name: string) => (path === "" ? name : `${path}.${name}`);
  const entries = (shapes: Readonly<Record<string, ObjectShape>>, at: (name: string) => string) =>
    new Map(Object.entries(shapes).map(([name, inner]) => [name, known(inner, at(name))]));
  return {
    path,
    reads: new Set((shape.reads ?? "").split(" ")),
    holds: entries(shape.holds ?? {}, under),
    kinds: shape.kinds === undefined ? undefined : entries(shape.kinds, () => path),
    kind: shape.kind,
  };
}

/** The paths, without list indexes, of nested members that a translation does not read; each once. */
export function unreadMembers(reads: Known, body: Readonly<Record<string, unknown>>): Set<string> {
  const out = new Set<string>();
  for (const [name, inner] of reads.holds) look(body[name], inner, out);
  return out;
}

function look(value: unknown, shape: Known, out: Set<string>): void {
  if (Array.isArray(value)) {
    for (const element of value) look(element, shape, out);
    return;
  }
  if (!isRecord(value)) return;
  let own = shape;
  if (shape.kinds !== undefined) {
    const kind = shape.kinds.get(String(value["type"] ?? shape.kind));
    if (kind === undefined) return;
    own = kind;
  }
  for (const name in value) {
    const member = value[name];
    // Features that are turned off (padding in streams, deferred loading) are not reported.
    if (own.reads.has(name) || member === null || member === undefined || member === false) continue;
    const inner = own.holds.get(name);
    if (inner !== undefined) look(member, inner, out);
    else if (typeof member !== "object" || Object.keys(member).length > 0) out.add(`${own.path}.${name}`);
  }
}
