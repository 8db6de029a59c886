// Members inside a request's parameters, messages and tools without a neutral form: a translation drops them, so they are
// reported. Unlisted kinds of tools and content pass as a whole and are reported by their kind instead.

import { isFields } from "./check.ts";

/** What is read of an object or of each object in a list. */
export interface ObjectShape {
  /** Members that are read or irrelevant to a model, separated by spaces. */
  reads?: string;
  /** Members that are examined. */
  holds?: Readonly<Record<string, ObjectShape>>;
  /** By the member `type`; objects of other types are skipped. */
  kinds?: Readonly<Record<string, ObjectShape>>;
  /** The default type of an object. */
  kind?: string;
}

/** The same, indexed. */
export interface Known {
  /** Its path, without list indices. */
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

/** The paths, without list indices, of nested members that a translation does not read; each once. */
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
  if (!isFields(value)) return;
  let own = shape;
  if (shape.kinds !== undefined) {
    const kind = shape.kinds.get(String(value["type"] ?? shape.kind));
    if (kind === undefined) return;
    own = kind;
  }
  for (const name in value) {
    const member = value[name];
    // Declined features (padding in streams, deferred loading) are not reported.
    if (own.reads.has(name) || member === null || member === undefined || member === false) continue;
    const inner = own.holds.get(name);
    if (inner !== undefined) look(member, inner, out);
    else if (typeof member !== "object" || Object.keys(member).length > 0) out.add(`${own.path}.${name}`);
  }
}
