import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { validateNow } from "../../../src/web/extract/ajv.ts";
import { SchemaError } from "../../../src/web/extract/schema-error.ts";
import { createExtractThreads } from "../../../src/web/extract/threads.ts";
import { longestStep } from "../../support/steps.ts";

const validator = createExtractThreads({ timeoutMs: 30_000 });
afterAll(() => validator.close());
const signal = new AbortController().signal;
const from = { accountId: "one", signal };

test.each<[string, object, unknown, { path: string; message: string }[]]>([
  ["what fits", { type: "object", required: ["a"], properties: { a: { type: "string" } } }, { a: "x" }, []],
  [
    "a missing member and a wrong type",
    { type: "object", required: ["a"], properties: { b: { type: "number" } } },
    { b: "5" },
    [
      { path: "", message: "must have required property 'a'" },
      { path: "/b", message: "must be number" },
    ],
  ],
  [
    "a value that is not in the list, which is told",
    { properties: { a: { enum: ["x", "y"] } } },
    { a: "z" },
    [{ path: "/a", message: 'must be equal to one of the allowed values: ["x","y"]' }],
  ],
  [
    "one member too many",
    { additionalProperties: false, properties: {} },
    { a: 1 },
    [{ path: "", message: 'must NOT have additional properties: "a"' }],
  ],
  ["a date that is none", { format: "date" }, "yesterday", [{ path: "", message: 'must match format "date"' }]],
  ["a format nobody knows", { type: "string", format: "colour" }, "red", []],
  ["a keyword nobody knows", { type: "string", "x-note": 1, example: {} }, "a", []],
  [
    "the newer tuple",
    { $schema: "https://json-schema.org/draft/2020-12/schema", prefixItems: [{ type: "string" }], items: false },
    ["a", 1],
    [{ path: "", message: "must NOT have more than 1 items" }],
  ],
  [
    "the older tuple",
    { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] },
    [1],
    [{ path: "/0", message: "must be string" }],
  ],
  [
    "a schema that holds itself",
    { properties: { a: { $ref: "#" }, b: { type: "null" } } },
    { a: { a: { b: 1 } } },
    [{ path: "/a/a/b", message: "must be null" }],
  ],
  [
    "a schema with an address of its own",
    { $id: "https://example.com/s", $ref: "#/$defs/a", $defs: { a: { type: "string" } } },
    1,
    [{ path: "", message: "must be string" }],
  ],
  ["null where it is allowed in the manner of others", { type: "string", nullable: true }, null, []],
  ["the same without a type", { nullable: true, enum: ["a"] }, "a", []],
  ["a pattern that is none for Unicode", { pattern: "^[\\w-.]+$" }, "a-b", []],
])("checks %s", async (_name, schema, value, complaints) => {
  expect(await validator.validate(schema as never, value, from)).toEqual(complaints);
});

test("two jobs with the same address are independent", async () => {
  const schema = (type: string) => ({ $id: "https://example.com/same", type });
  expect(await validator.validate(schema("string"), "a", from)).toEqual([]);
  expect(await validator.validate(schema("number"), "a", from)).toEqual([{ path: "", message: "must be number" }]);
});

test("the number of reported errors is limited", async () => {
  const values = Array.from({ length: 500 }, String);
  expect(await validator.validate({ items: { type: "number" } }, values, from)).toHaveLength(50);
});

/** This takes minutes: the engine may stop matching one pattern after a second, and then reports that it does not match. */
const ENDLESS = { allOf: Array.from({ length: 500 }, () => ({ pattern: "^(a|a)*$" })) };

test("patterns that never end lose their thread, and the next check is answered", async () => {
  const brief = createExtractThreads({ timeoutMs: 1500 });
  try {
    const endless = brief.validate(ENDLESS, `${"a".repeat(60)}!`, from);
    await expect(endless).rejects.toThrow(SchemaError);
  } finally {
    brief.close();
  }
  expect(await validator.validate({ type: "string" }, "a", from)).toEqual([]);
});

test("a schema that ajv alone refuses is an error of the schema", async () => {
  const schema = { properties: { a: { $ref: "https://example.com/elsewhere" } } };
  await expect(validator.validate(schema, {}, from)).rejects.toThrow(SchemaError);
});

test("a caller that leaves gets no answer", async () => {
  const caller = new AbortController();
  const answer = validator.validate(ENDLESS, `${"a".repeat(60)}!`, { ...from, signal: caller.signal });
  caller.abort(new Error("gone"));
  await expect(answer).rejects.toThrow("gone");
});

test("the thread gives the same result as the event loop", async () => {
  const schemas = fc.constantFrom<object>(
    { type: "string" },
    { type: ["number", "null"] },
    { type: "array", items: { type: "integer" }, minItems: 1 },
    { type: "object", required: ["a"], additionalProperties: { type: "boolean" } },
    { anyOf: [{ const: 1 }, { type: "object", properties: { a: { maxLength: 2 } } }] },
  );
  const checked = fc.asyncProperty(schemas, fc.jsonValue({ maxDepth: 2 }), async (schema, value) => {
    const here = validateNow({ schema: schema as never, value });
    expect({ complaints: await validator.validate(schema as never, value, from) }).toEqual(here as never);
  });
  await fc.assert(checked, { numRuns: 60 });
});

test("schemas of one account that take long do not hold up another account's by more than one", async () => {
  const shared = createExtractThreads({ timeoutMs: 3000 });
  const stop = new AbortController();
  try {
    let ended = 0;
    const hostile = Array.from({ length: 20 }, () =>
      shared
        .validate(ENDLESS, `${"a".repeat(60)}!`, { ...from, signal: stop.signal })
        .catch(() => stop.signal.aborted || ended++),
    );
    expect(await shared.validate({ type: "string" }, "a", { accountId: "two", signal })).toEqual([]);
    // There are two threads, and each had one of them.
    expect(ended).toBeLessThanOrEqual(2);
    stop.abort();
    await Promise.all(hostile);
  } finally {
    shared.close();
  }
}, 30_000);

const URL_OF_PAGE = "https://example.com/";
const lines = (line: string) => line.repeat(Math.ceil(180_000 / line.length));
const LONG_LIST = Array.from({ length: 3000 }, (_, at) => ({ name: `entry ${at}` }));

/** Pages and answers whose check takes long. */
const HEAVY: readonly (readonly [string, () => Promise<unknown>])[] = [
  ...["ai must ", "ignore all ", "a ", "的"].map(
    (word) =>
      [
        `a page of "${word}"`,
        () =>
          validator.check(
            {
              part: { url: URL_OF_PAGE, text: lines(word), evidence: "", part: 1, parts: 1 },
              reply: { value: { a: "b" }, quotes: { a: ["b"] }, entryQuotes: [], surplus: [] },
              warnings: [],
            },
            from,
          ),
      ] as const,
  ),
  [
    "a long list of quotes that do not stand",
    () =>
      validator.check(
        {
          part: { url: URL_OF_PAGE, text: lines("entry x "), evidence: "", part: 1, parts: 1 },
          reply: { value: LONG_LIST, quotes: {}, entryQuotes: LONG_LIST.map(({ name }) => name), surplus: [] },
          warnings: [],
        },
        from,
      ),
  ],
  [
    "a page of headings",
    () => validator.split({ markdown: "# a\n".repeat(250_000), structured: undefined, room: 60_000 }, from),
  ],
  [
    "long lists that are merged",
    () => {
      const answer = (at: number) => ({ url: `${URL_OF_PAGE}${at}`, value: { a: LONG_LIST }, sources: {} });
      return validator.merge(null, [answer(1), answer(2), { ...answer(3), value: { a: [...LONG_LIST, {}] } }], from);
    },
  ],
];

test.each(HEAVY)("the event loop is not held up by %s", async (_name, work) => {
  const steps = [await longestStep(work), await longestStep(work)];
  expect(Math.min(...steps.map(({ longestMs }) => longestMs))).toBeLessThan(50);
});
