// JSON Schema for vendors that support only a part of it: nothing unsupported is sent, nothing is lost silently, and a structure
// that cannot be expressed is not changed into another one.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatRequest } from "../../src/chat/request.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { gemini } from "../../src/upstream/dialects/gemini/dialect.ts";
import { openaiChat } from "../../src/upstream/dialects/openai-chat/dialect.ts";
import { openaiResponses } from "../../src/upstream/dialects/responses/dialect.ts";
import { fitSchema, toolSchema } from "../../src/upstream/schema-fit.ts";
import { CLAUDE_SCHEMA } from "../../src/vendors/anthropic.ts";
import { GEMINI_SCHEMA } from "../../src/vendors/google.ts";
import { OPENAI_STRICT_SCHEMA } from "../../src/vendors/openai.ts";
import type { SchemaRules } from "../../src/vendors/schema-rules.ts";
import { chat, context } from "./support.ts";

type Json = Record<string, unknown>;
const object = (properties: Json, more: Json = {}) => ({ type: "object", properties, ...more });
const closed = (properties: Json, more: Json = {}) =>
  object(properties, { required: Object.keys(properties), additionalProperties: false, ...more });
const age = { type: "integer", minimum: 0, description: "In years" };

describe("fitting", () => {
  test.each<[string, SchemaRules, Json, Json | undefined, boolean]>([
    [
      "bounds become description, objects are closed",
      CLAUDE_SCHEMA,
      object({ age, tags: { type: "array", items: { type: "string", maxLength: 9 }, minItems: 2 } }),
      object(
        {
          age: { type: "integer", description: "In years\n(minimum: 0)" },
          tags: {
            type: "array",
            items: { type: "string", description: "(maxLength: 9)" },
            description: "(minItems: 2)",
          },
        },
        { additionalProperties: false },
      ),
      true,
    ],
    [
      "what is taken stays as it is",
      CLAUDE_SCHEMA,
      closed({ a: { type: "array", minItems: 1 }, b: { $ref: "#/$defs/b" } }, { $defs: { b: { enum: ["x"] } } }),
      closed({ a: { type: "array", minItems: 1 }, b: { $ref: "#/$defs/b" } }, { $defs: { b: { enum: ["x"] } } }),
      false,
    ],
    ["notes go", CLAUDE_SCHEMA, closed({}, { $schema: "x", $comment: "y" }), closed({}), false],
    [
      "one of several is any of them",
      CLAUDE_SCHEMA,
      closed({ a: { oneOf: [{ type: "string" }, { type: "null" }] } }),
      closed({ a: { anyOf: [{ type: "string" }, { type: "null" }] } }),
      false,
    ],
    [
      "unknown formats become description",
      CLAUDE_SCHEMA,
      closed({ a: { type: "string", format: "iban" }, b: { type: "string", format: "uuid" } }),
      closed({ a: { type: "string", description: '(format: "iban")' }, b: { type: "string", format: "uuid" } }),
      true,
    ],
    [
      "properties that are called like keywords",
      CLAUDE_SCHEMA,
      closed({ minimum: { type: "string" }, properties: { type: "string" }, $schema: { type: "string" } }),
      closed({ minimum: { type: "string" }, properties: { type: "string" }, $schema: { type: "string" } }),
      false,
    ],
    ["a map", CLAUDE_SCHEMA, object({ a: object({}, { additionalProperties: { type: "string" } }) }), undefined, false],
    ["an object of anything", CLAUDE_SCHEMA, object({ a: { type: "object" } }), undefined, false],
    [
      "a schema of another place",
      CLAUDE_SCHEMA,
      object({ a: { $ref: "https://example.com/a.json" } }),
      undefined,
      false,
    ],
    [
      "definitions by an old name",
      GEMINI_SCHEMA,
      object({}, { definitions: { a: { type: "string" } } }),
      undefined,
      false,
    ],
    ["a tree", CLAUDE_SCHEMA, object({ next: { $ref: "#" } }), undefined, false],
    [
      "a tree by two names",
      CLAUDE_SCHEMA,
      object(
        { a: { $ref: "#/$defs/a" } },
        { $defs: { a: object({ b: { $ref: "#/$defs/b" } }), b: object({ a: { $ref: "#/$defs/a" } }) } },
      ),
      undefined,
      false,
    ],
    [
      "a tree where trees are taken",
      OPENAI_STRICT_SCHEMA,
      closed({ next: { $ref: "#" } }),
      closed({ next: { $ref: "#" } }),
      false,
    ],
    ["a property that may be left out", OPENAI_STRICT_SCHEMA, object({ a: { type: "string" } }), undefined, false],
    ["a schema without a type", OPENAI_STRICT_SCHEMA, closed({ a: {} }), undefined, false],
    ["a list at the top", OPENAI_STRICT_SCHEMA, { type: "array", items: { type: "string" } }, undefined, false],
    [
      "one value",
      GEMINI_SCHEMA,
      object({ a: { const: "x" }, b: { type: "string", pattern: "^x" } }),
      object({ a: { enum: ["x"] }, b: { type: "string", description: '(pattern: "^x")' } }),
      true,
    ],
  ])("%s", (_name, rules, schema, expected, told) => {
    const before = JSON.stringify(schema);
    const fitted = fitSchema(schema, rules);
    expect(fitted?.schema as Json | undefined).toEqual(expected);
    expect(fitted?.told ?? false).toBe(told);
    expect(JSON.stringify(schema)).toBe(before);
  });

  test("a fitted schema contains nothing that the vendor refuses, and fitting it again changes nothing", () => {
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.record({ type: fc.constant("string"), maxLength: fc.nat(), format: fc.constantFrom("date", "iban") }),
        fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(3), uniqueItems: fc.boolean() }),
        fc.record({ oneOf: fc.array(tie("schema"), { maxLength: 2 }), description: fc.string() }),
        fc
          .dictionary(fc.constantFrom("a", "minimum", "const", "$ref"), tie("schema"))
          .map((properties) => ({ type: "object", properties, minProperties: 1 })),
      ),
    }));
    fc.assert(
      fc.property(schema, (given) => {
        for (const rules of [CLAUDE_SCHEMA, GEMINI_SCHEMA, OPENAI_STRICT_SCHEMA]) {
          const fitted = fitSchema(given as Json, rules);
          if (fitted === undefined) continue;
          for (const key of keywordsOf(fitted.schema)) expect(rules.keywords.has(key)).toBe(true);
          expect(fitSchema(fitted.schema, rules)).toEqual({ schema: fitted.schema, told: false });
        }
      }),
    );
  });
});

function keywordsOf(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(keywordsOf);
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === "enum" || key === "const") return [key];
    return [key, ...(key === "properties" ? Object.values(value as Json).flatMap(keywordsOf) : keywordsOf(value))];
  });
}

describe("the request to the provider", () => {
  const optional = object({ a: { type: "string", minLength: 2 } });
  const strict = closed({ a: { type: "string" } });
  const format = (schema: Json, more: Json = {}) =>
    ({ responseFormat: { type: "json_schema", name: "n", schema, ...more } }) as Partial<ChatRequest>;
  const tool = (parameters: Json, more: Json = {}) =>
    ({ tools: [{ type: "function", name: "f", parameters, ...more }] }) as Partial<ChatRequest>;
  const sent = (dialect: typeof openaiChat, part: Partial<ChatRequest>, model: string) => {
    const { body, dropped } = dialect.request(chat(part), context({ model }));
    return { json: JSON.parse(body), dropped };
  };

  test("Claude: a schema that fits is sent by parameter, any other one as text", () => {
    const { json } = sent(anthropicMessages, format(optional), "claude-opus-5");
    expect(json.output_config.format.schema).toEqual(
      object({ a: { type: "string", description: "(minLength: 2)" } }, { additionalProperties: false }),
    );
    const map = object({ a: object({}, { additionalProperties: true }), b: { type: "object" } });
    const told = sent(anthropicMessages, format(map), "claude-opus-5").json;
    expect(told.output_config).toBeUndefined();
    expect(told.system[0].text).toContain(JSON.stringify(map));
  });

  test("Claude: strict tools that fit stay strict, others become plain and are named", () => {
    const fits = sent(anthropicMessages, tool(optional, { strict: true }), "claude-opus-5");
    expect(fits.json.tools[0]).toMatchObject({ strict: true, input_schema: { additionalProperties: false } });
    expect(fits.dropped).toEqual([]);
    const tree = object({ next: { $ref: "#" } });
    const plain = sent(anthropicMessages, tool(tree, { strict: true }), "claude-opus-5");
    expect(plain.json.tools[0]).toEqual({ name: "f", input_schema: tree });
    expect(plain.dropped).toEqual(["strict"]);
    // Anything that is not a parameter of its own stays complete.
    expect(sent(anthropicMessages, tool(optional), "claude-opus-5").json.tools[0].input_schema).toEqual(optional);
  });

  test.each([
    ["chat", openaiChat, (json: Json) => (json["response_format"] as Json)["json_schema"] as Json],
    ["responses", openaiResponses, (json: Json) => (json["text"] as Json)["format"] as Json],
  ] as const)("OpenAI by %s: strict only where nothing may be left out", (_name, dialect, formatOf) => {
    const kept = sent(dialect, format(strict, { strict: true }), "gpt-5.6");
    expect(formatOf(kept.json)).toMatchObject({ strict: true, schema: strict });
    expect(kept.dropped).toEqual([]);
    const relaxed = sent(dialect, format(optional, { strict: true }), "gpt-5.6");
    expect(formatOf(relaxed.json)).toMatchObject({ strict: false, schema: optional });
    expect(relaxed.dropped).toEqual(["strict"]);
    const never = sent(dialect, format(optional), "gpt-5.6");
    expect(formatOf(never.json)).not.toHaveProperty("strict");
    expect(never.dropped).toEqual([]);
    const tools = sent(dialect, tool(optional, { strict: true }), "gpt-5.6");
    expect(JSON.stringify(tools.json.tools)).toContain('"strict":false');
    expect(tools.dropped).toEqual(["strict"]);
  });

  test("Gemini: by parameter", () => {
    const { json } = sent(gemini, format(optional), "gemini-3-flash");
    expect(json.generationConfig.responseJsonSchema).toEqual(
      object({ a: { type: "string", description: "(minLength: 2)" } }),
    );
  });

  test("a property that distinguishes alternatives keeps the definition of each", () => {
    const flat = toolSchema({
      anyOf: [
        closed({ kind: { const: "a" }, x: { type: "number" } }),
        closed({ kind: { const: "b" }, x: { type: "number" } }),
        closed({ kind: { const: "b" } }),
      ],
    });
    expect(flat["properties"]).toEqual({
      kind: { anyOf: [{ const: "a" }, { const: "b" }] },
      x: { type: "number" },
    });
  });

  test("tools with alternatives at the top are objects with the properties of all", () => {
    const parameters = {
      type: "object",
      properties: { id: { type: "string" } },
      required: ["id"],
      oneOf: [closed({ a: { type: "string" }, c: {} }), closed({ b: { type: "string" }, c: {} })],
    };
    const flat = toolSchema(parameters);
    expect(flat).toMatchObject({ type: "object", required: ["id", "c"] });
    expect(Object.keys(flat["properties"] as Json).sort()).toEqual(["a", "b", "c", "id"]);
    expect(flat["description"]).toContain(JSON.stringify(parameters.oneOf));
    for (const dialect of [anthropicMessages, openaiChat, openaiResponses]) {
      const { json } = sent(dialect, tool(parameters), "up");
      const { name: _name, function: fn, ...flatTool } = json.tools[0];
      const schema = fn?.parameters ?? flatTool.input_schema ?? flatTool.parameters;
      expect(schema).toEqual(flat);
    }
  });
});
