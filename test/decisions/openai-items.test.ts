// The input items of OpenAI's Decisions format, for an upstream of that format.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Fake, type Gateway, startFake, startGateway } from "./support.ts";

let upstream: Fake;
let gateway: Gateway;
let key: string;

// biome-ignore lint/suspicious/noExplicitAny: Whatever came.
function answers(body: any): Response {
  const list = body.questions.map(({ name }: { name: string }) => ({ type: "predicate", name, probability: 0.25 }));
  return Response.json({ model: "gpt-d-1", answers: list, usage: { input_tokens: 50, output_tokens: 3 } });
}

beforeAll(async () => {
  upstream = startFake(answers);
  gateway = await startGateway({
    providers: { one: { kind: "openai-decisions", base_url: upstream.url, api_key: "k", retry: { attempts: 1 } } },
    decisions: {
      models: [
        {
          id: "openai-1.0.0",
          backend: { kind: "openai-decisions", routes: [{ provider: "one", model: "gpt-d-1", priority: 1 }] },
        },
      ],
    },
  });
  key = await gateway.key();
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

beforeEach(() => {
  upstream.calls.length = 0;
  upstream.answer = answers;
});

const ask = (questions: Record<string, unknown>, state: unknown = "s") =>
  gateway.post("/v1/systemone", { model: "openai-1.0.0", state, questions }, key);

const IMAGE = { type: "input_image", image_url: "data:image/png;base64,AA==" };

test.each<[string, object, string]>([
  ["the message of a user", { input: [{ role: "user", content: [IMAGE] }] }, "input[0].content[0]"],
  [
    "a later message, beside text",
    {
      input: [
        { role: "user", content: "a" },
        { role: "assistant", content: [{ type: "output_text", text: "b" }, IMAGE] },
      ],
    },
    "input[1].content[1]",
  ],
  [
    "the output of a function",
    { input: [{ type: "function_call_output", call_id: "c", output: [IMAGE] }] },
    "input[0].output[0]",
  ],
  [
    "the output of a custom tool",
    { input: [{ type: "custom_tool_call_output", call_id: "c", output: [{ type: "input_text", text: "a" }, IMAGE] }] },
    "input[0].output[1]",
  ],
  ["an output beside content", { input: [{ role: "user", content: "a", output: [IMAGE] }] }, "input[0].output[0]"],
  [
    "instructions",
    { questions: [{ type: "predicate", instructions: [{ type: "input_text", text: "?" }, IMAGE] }] },
    "questions[0].instructions[1]",
  ],
])("an image in %s is refused by its place", async (_name, asked, param) => {
  const questions = [{ type: "predicate", instructions: "?" }];
  const body = { model: "openai-1.0.0", input: "s", questions, ...asked };
  const { status, body: answer } = await gateway.post("/v1/decisions", body, key);
  expect([status, answer.error.code, answer.error.param, upstream.calls.length]).toEqual([
    ...[400, "image_input_not_supported", param, 0],
  ]);
});

const BREAKPOINT = { prompt_cache_breakpoint: { mode: "explicit" } };

/** Input items of each kind, and what goes up where that differs. */
const ITEMS: readonly (readonly [string, object, object?])[] = [
  ["a message", { type: "message", role: "user", content: "a" }],
  [
    "parts",
    {
      role: "user",
      content: [
        { type: "input_text", text: "a", ...BREAKPOINT },
        { type: "input_json", data: [{ b: 1 }] },
      ],
    },
  ],
  ["a developer message", { role: "developer", content: [{ type: "input_text", text: "a" }] }],
  ["a system message", { role: "system", content: "a" }],
  [
    "an assistant message",
    {
      role: "assistant",
      phase: "commentary",
      content: [
        { type: "output_text", text: "a" },
        { type: "refusal", refusal: "no" },
      ],
    },
  ],
  ["a call", { type: "function_call", call_id: "c", name: "f", arguments: "{}" }],
  ["an output", { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "a" }] }],
  ["a custom call", { type: "custom_tool_call", call_id: "d", name: "g", input: "x" }],
  ["a custom output", { type: "custom_tool_call_output", call_id: "d", output: "a" }],
  ["a message without a role", { content: "a" }, { role: "user", content: "a" }],
  ["what is unknown in a message", { role: "user", content: "a", more: "b" }, { role: "user", content: "a" }],
];

test("input items go up one by one as the client wrote them", async () => {
  const questions = [{ type: "predicate", instructions: "?" }];
  const input = ITEMS.map(([, item]) => item);
  const body = { model: "openai-1.0.0", input, questions };
  expect((await gateway.post("/v1/decisions", body, key)).status).toBe(200);
  expect(upstream.calls[0]!.body.input).toEqual(ITEMS.map(([, item, sent]) => sent ?? item));
});

test.each(ITEMS)("%s alone is an item as well", async (_name, item, sent = item) => {
  const body = { model: "openai-1.0.0", input: [item], questions: [{ type: "predicate", instructions: "?" }] };
  expect((await gateway.post("/v1/decisions", body, key)).status).toBe(200);
  expect(upstream.calls[0]!.body.input).toEqual([sent]);
});

test("a state that is a list of objects goes up as JSON, and any other list as text", async () => {
  await ask({ q: { type: "noul", instructions: "?" } }, [{ a: 1 }, { b: 2 }]);
  await ask({ q: { type: "noul", instructions: "?" } }, [1, { b: 2 }]);
  const json = { type: "input_json", data: [{ a: 1 }, { b: 2 }] };
  expect(upstream.calls.map(({ body }) => body.input)).toEqual([[{ role: "user", content: [json] }], '[1,{"b":2}]']);
});

test.each([
  ["input[1].call_id", "input[1].call_id"],
  ["input.1.call_id", "input[1].call_id"],
])("an item that the vendor refuses as %s is named in the client's input", async (theirs, param) => {
  upstream.answer = () =>
    Response.json(
      { error: { message: "No call with this id.", type: "invalid_request_error", code: null, param: theirs } },
      { status: 400 },
    );
  const input = [
    { role: "user", content: "a" },
    { type: "function_call_output", call_id: "x", output: "b" },
  ];
  const body = { model: "openai-1.0.0", input, questions: [{ type: "predicate", instructions: "?" }] };
  const { status, body: answer } = await gateway.post("/v1/decisions", body, key);
  expect([status, answer.error.code, answer.error.param]).toEqual([400, "invalid_request", param]);
  expect(answer.error.message).toContain("No call with this id.");
  // The input of another format was made here, so nothing in it is the client's to mend.
  expect((await ask({ q: { type: "noul", instructions: "?" } }, { a: 1 })).status).toBe(503);
});
