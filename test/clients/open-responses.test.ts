// The cases of the Open Responses compliance suite in our own words, over every upstream protocol, with the specification's
// requirements for each object and event.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DIALECTS } from "../support/fake-model.ts";
import { framesOf } from "../support/upstream.ts";
import { type Clients, FORECAST, GREETING, startClients, stopClients, WEATHER } from "./fixture.ts";
import { eventProblems, problemsOf, responseResource } from "./open-responses-schema.ts";

type Json = Record<string, unknown>;

let clients: Clients;
beforeAll(async () => {
  clients = await startClients();
});
afterAll(() => stopClients(clients));

const user = (content: unknown) => ({ type: "message", role: "user", content });
const tool = {
  type: "function",
  name: "weather",
  description: "The weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const ask = "How warm is it in Oslo?";
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PDF = Buffer.from("%PDF-1.1\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF").toString(
  "base64",
);
const schema = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
  additionalProperties: false,
};

async function create(model: string, body: Json): Promise<Json> {
  const response = await post({ model, ...body });
  const answer = (await response.json()) as Json;
  expect([response.status, response.status === 200 ? undefined : answer]).toEqual([200, undefined]);
  expect(problemsOf(responseResource, answer)).toEqual([]);
  return answer;
}

/** The events of a stream, after checking each of them and the final answer against the specification. */
async function stream(model: string, body: Json): Promise<{ events: Json[]; answer: Json }> {
  const response = await post({ model, ...body, stream: true });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  const events = (await framesOf(response)).filter((frame) => frame !== "[DONE]") as Json[];
  expect(events.flatMap(eventProblems)).toEqual([]);
  expect(events.map((event) => event["sequence_number"])).toEqual(events.map((_, i) => i));
  return { events, answer: events.at(-1)?.["response"] as Json };
}

function post(body: Json): Promise<Response> {
  return fetch(`${clients.app.url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${clients.app.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

const itemOf = (answer: Json, type: string) => (answer["output"] as Json[]).find((item) => item["type"] === type);
const textOf = (answer: Json) => ((itemOf(answer, "message")?.["content"] as Json[]) ?? [])[0]?.["text"];

describe.each([...DIALECTS])("over %s", (model) => {
  const says = async (body: Json, expected = GREETING) => {
    const answer = await create(model, body);
    expect([answer["status"], textOf(answer)]).toEqual(["completed", expected]);
    return answer;
  };

  test("basic text", () => says({ input: [user("Say hello.")] }));
  test("text as the input itself", () => says({ input: "Say hello." }));
  test("a system prompt", () =>
    says({ input: [{ type: "message", role: "system", content: "You are a pirate." }, user("Say hello.")] }));
  test("a developer prompt", () =>
    says({ input: [{ type: "message", role: "developer", content: "You are a pirate." }, user("Say hello.")] }));
  test("instructions", async () => {
    const answer = await says({ instructions: "You are a pirate.", input: "Say hello." });
    if (model !== "openai-responses") expect(answer["instructions"]).toBe("You are a pirate.");
  });
  test("several turns", () =>
    says({
      input: [
        user("My name is Alice."),
        { type: "message", role: "assistant", content: "Hello Alice!" },
        user("What is my name?"),
      ],
    }));
  test("an image", () =>
    says({
      input: [
        user([
          { type: "input_text", text: "What is this?" },
          { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
        ]),
      ],
    }));
  test("a file", () =>
    says({
      input: [
        user([
          { type: "input_text", text: "Which title?" },
          { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` },
        ]),
      ],
    }));
  test("a schema", async () => {
    const format = { type: "json_schema", name: "forecast", schema, strict: true };
    const answer = await create(model, { input: "Answer about Oslo", text: { format } });
    expect(JSON.parse(String(textOf(answer)))).toEqual(FORECAST);
  });

  test("parameters of every sort", async () => {
    const sent = { temperature: 0.2, top_p: 0.9, max_output_tokens: 500, metadata: { a: "b" }, store: false };
    const answer = await says({ input: "Hi", ...sent });
    // Upstreams with the same protocol report the usage themselves.
    if (model !== "openai-responses") expect(answer).toMatchObject(sent);
  });

  test("a stream of text", async () => {
    const { events, answer } = await stream(model, { input: [user("Count to five.")] });
    expect([answer["status"], textOf(answer)]).toEqual(["completed", GREETING]);
    const deltas = events.filter(({ type }) => type === "response.output_text.delta").map(({ delta }) => delta);
    expect(deltas.join("")).toBe(GREETING);
    expect(events[0]).toMatchObject({ type: "response.created", response: { status: "in_progress", output: [] } });
    expect(events.at(-1)?.["type"]).toBe("response.completed");
  });

  test("a tool call", async () => {
    const answer = await create(model, { input: [user(ask)], tools: [tool] });
    expect(itemOf(answer, "function_call")).toMatchObject({ name: "weather", arguments: '{"city":"Oslo"}' });
  });

  test("a stream of a tool call", async () => {
    const { events } = await stream(model, { input: [user(ask)], tools: [tool] });
    const of = (type: string) => events.filter((event) => event["type"] === `response.${type}`);
    const isCall = ({ item }: Json) => (item as Json)["type"] === "function_call";
    expect(of("output_item.added").filter(isCall)).toHaveLength(1);
    const deltas = of("function_call_arguments.delta").map(({ delta }) => delta);
    expect(deltas.join("")).toBe('{"city":"Oslo"}');
    expect(of("function_call_arguments.done")).toHaveLength(1);
    expect(of("output_item.done").filter(isCall)).toHaveLength(1);
  });

  test("a tool call and its result", async () => {
    const choice = { type: "function", name: "weather" };
    const first = await create(model, { input: ask, tools: [tool], tool_choice: choice });
    const call = itemOf(first, "function_call") as Json;
    const result = { type: "function_call_output", call_id: call["call_id"], output: WEATHER };
    const input = [user(ask), ...(first["output"] as Json[]), result];
    await says({ input, tools: [tool] }, `It is ${WEATHER} in Oslo.`);
  });

  test("on from the previous response", async () => {
    const first = await says({ input: "The word is papaya." });
    clients.sent();
    const second = await says({ previous_response_id: first["id"], input: "Which word?" });
    expect(second["previous_response_id"]).toBe(first["id"]);
    expect(clients.sent()[0]?.text).toContain("papaya");
  });

  test("on from a previous response with a tool call, in a stream", async () => {
    const first = await stream(model, { input: ask, tools: [tool] });
    const call = itemOf(first.answer, "function_call") as Json;
    const { answer } = await stream(model, {
      previous_response_id: first.answer["id"],
      input: [{ type: "function_call_output", call_id: call["call_id"], output: WEATHER }],
      tools: [tool],
    });
    expect(textOf(answer)).toBe(`It is ${WEATHER} in Oslo.`);
  });

  test("an answer that is cut is incomplete and says why", async () => {
    const answer = await create(model, { input: "cut", max_output_tokens: 16 });
    expect(answer).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    expect(answer["completed_at"]).toBeNull();
  });
});

test("functions in the form of chat completions come back in the specification's", async () => {
  const { type, ...inner } = tool;
  const answer = await create("openai-chat", {
    input: ask,
    tools: [{ type, function: inner }],
    tool_choice: { type, function: { name: "weather" } },
  });
  expect(answer).toMatchObject({ tools: [{ ...tool, strict: null }], tool_choice: { type, name: "weather" } });
});

test("a stream that fails ends with a failed response", async () => {
  const { events, answer } = await stream("openai-chat", { input: "break" });
  expect(events.at(-1)?.["type"]).toBe("response.failed");
  expect(answer).toMatchObject({
    status: "failed",
    completed_at: null,
    error: { code: "provider_stream_interrupted" },
  });
});
