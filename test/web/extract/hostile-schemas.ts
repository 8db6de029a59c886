// Schemas within the limit of size whose addresses and references would take long, or much memory, if they were followed naively.

/** A list of what `one` makes of each number. */
export const many = <T>(count: number, one: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => one(at));

/** A chain of schemas, each with an address relative to that of the previous one. */
function nested(depth: number, id: string, inner: object): object {
  let schema = inner;
  for (let at = 0; at < depth; at++) schema = { $id: id, "x-inner": schema };
  return schema;
}

const withX = (rest: object) => ({ $ref: "#/$defs/x", $defs: { x: { type: "object", properties: rest } } });

/** Each with a name. */
export const HOSTILE: readonly (readonly [string, object])[] = [
  [
    "a long address above many",
    { $id: `${"é".repeat(16_000)}/`, ...withX({ a: { anyOf: many(2000, () => ({ $id: "b" })) } }) },
  ],
  [
    "a long address above many references",
    { $id: `${"é".repeat(900)}/`, ...withX({ a: { anyOf: many(2000, (at) => ({ $ref: `b${at}` })) } }) },
  ],
  [
    "the longest allowed address above many",
    { $id: `${"é".repeat(999)}/`, ...withX({ a: { anyOf: many(3000, (at) => ({ $id: `b${at}` })) } }) },
  ],
  [
    "many addresses under a keyword that is not known",
    { "x-a": { $id: `${"é".repeat(16_000)}/`, b: many(2000, () => ({ $id: "b" })) } },
  ],
  ["addresses that grow", nested(100, `${"é".repeat(150)}/`, { anyOf: many(1000, () => ({ $id: "b" })) })],
  [
    "many anchors of a long address",
    { $id: `${"é".repeat(999)}/`, ...withX({ a: { anyOf: many(2000, (at) => ({ $anchor: `b${at}` })) } }) },
  ],
  ["long pointers", { ...withX({ a: { anyOf: many(60, () => ({ $ref: `#/$defs/x${"/%20".repeat(240)}` })) } }) }],
  ["a long reference", { $ref: `#/${"a/".repeat(30_000)}` }],
  [
    "references in a row",
    {
      $ref: "#/$defs/a0",
      $defs: Object.fromEntries(many(1800, (at) => [`a${at}`, at < 1799 ? { $ref: `#/$defs/a${at + 1}` } : {}])),
    },
  ],
];
