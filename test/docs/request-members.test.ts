// Every member of a request that a client format reads is in the OpenAPI document, and every member that it knows is read. What is
// read is recorded while the formats read, so that no list can be incomplete.

import { expect, test } from "bun:test";
import { ENDPOINTS } from "../../src/app/endpoints.ts";
import { ApiError } from "../../src/base/errors.ts";
import { WIRE_FORMATS } from "../../src/wire/index.ts";
import type { Known } from "../../src/wire/unread.ts";

type Json = Record<string, unknown>;

/** The part of a JSON Schema that this test reads. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}

/** An object that records which of its members, and of their members, are read. */
function recording(value: Json, read: Set<string>, path = ""): Json {
  return new Proxy(value, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof name !== "string") return member;
      const where = path === "" ? name : `${path}.${name}`;
      read.add(where);
      const isObject = typeof member === "object" && member !== null && !Array.isArray(member);
      return isObject ? recording(member as Json, read, where) : member;
    },
  });
}

/** Reads a body as a format does. A body that it refuses counts as read so far. */
function readAs(format: (typeof WIRE_FORMATS)[number], body: Json): Set<string> {
  const read = new Set<string>();
  for (const reader of [
    (one: Json) => format.decode(one, {}),
    (one: Json) => format.routingOptions?.(one),
    (one: Json) => format.prompts?.(one),
    (one: Json) => format.entries?.editing?.edits(one),
  ]) {
    try {
      reader(recording(body, read));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return read;
}

/** The members of objects, but not those in lists, that are read according to the format's table of nested members. */
function tabled(known: Known, documented: Schema): string[] {
  return [...known.holds].flatMap(([name, inner]) => {
    const schema = documented.properties?.[name];
    if (inner.kinds !== undefined || schema?.type === "array") return [];
    const nested = [...inner.reads, ...inner.holds.keys()].filter((member) => member !== "");
    return [...nested.map((member) => `${inner.path}.${member}`), ...tabled(inner, schema ?? {})];
  });
}

/** Whether a path is described: as a property, or in the words of an object whose members are not listed. */
function isDescribed(schema: Schema, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  const property = schema.properties?.[name];
  if (property !== undefined) return isDescribed(property, rest);
  if (schema.anyOf?.some((one) => isDescribed(one, [name, ...rest]))) return true;
  return schema.properties === undefined && new RegExp(`\\b${name}\\b`).test(schema.description ?? "");
}

/** Members that are read behind the formats. */
const READ_LATER = ["background", "stream_options"];

test.each(WIRE_FORMATS.map((format) => [format.path, format] as const))(
  "%s is described as it is read",
  (path, format) => {
    const found = ENDPOINTS.find((endpoint) => endpoint.method === "POST" && endpoint.path === path);
    const body = found?.body;
    // What follows from the address is no member of the body that clients send.
    const stated = found?.address === undefined ? {} : { model: "a", stream: false };
    const schema = body?.schema as Schema | undefined;
    if (schema === undefined) throw new Error(`${path} is not described`);
    const [first] = Object.values(body?.examples ?? {}) as Json[];
    const example = { ...stated, ...first };
    const bodies = [example, ...Object.keys(schema.properties ?? {}).map((name) => ({ ...example, [name]: {} }))];
    const read = new Set([...bodies.flatMap((one) => [...readAs(format, one)]), ...tabled(format.reads, schema)]);
    expect(read.size).toBeGreaterThan(15);
    expect([...read].filter((name) => !(name in stated) && !isDescribed(schema, name.split(".")))).toEqual([]);
    // A known member that nothing reads would be lost without being reported.
    expect([...format.fields.known].filter((name) => !read.has(name) && !READ_LATER.includes(name))).toEqual([]);
  },
);
