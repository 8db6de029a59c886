// Responses over a WebSocket, with OpenAI's own client: over an upstream of another protocol and over one of the same.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { HANG, type Received, sse, startUpstream } from "../../../support/upstream.ts";
import { chatStream, connect } from "./fixture.ts";

type Json = Record<string, unknown>;

const chat = startUpstream();
const native = startUpstream();
const app: TestApp = await startTestApp({
  key: { rpm: 1000 },
  config: {
    providers: {
      chat: { kind: "openai", base_url: chat.baseUrl, api_key: "sk-up", discover: false },
      native: { kind: "openai-responses", base_url: native.baseUrl, api_key: "sk-up", discover: false },
    },
    models: [
      { id: "translated", routes: [{ provider: "chat", model: "up-model" }] },
      { id: "lossless", routes: [{ provider: "native", model: "up-model" }] },
    ],
  },
});

afterAll(async () => {
  await app.stop();
  chat.stop();
  native.stop();
});

beforeEach(() => {
  chat.received.length = 0;
  native.received.length = 0;
  chat.answer(() => chatStream("Hi Ada"));
  native.answer(nativeStream);
});

function nativeStream(): Response {
  const message = { type: "message", id: "msg_up", role: "assistant", status: "completed" };
  const content = [{ type: "output_text", text: "Hi Ada", annotations: [], logprobs: [] }];
  const response = { id: "resp_up", object: "response", created_at: 1, model: "up-model", previous_response_id: null };
  const events: Json[] = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...message, status: "in_progress", content: [] } },
    { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "msg_up", delta: "Hi Ada" },
    { type: "response.output_item.done", output_index: 0, item: { ...message, content } },
    {
      type: "response.completed",
      response: {
        ...response,
        status: "completed",
        output: [{ ...message, content }],
        usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
      },
    },
  ];
  return sse(
    events.map((event, i) => `event: ${event["type"]}\ndata: ${JSON.stringify({ ...event, sequence_number: i })}\n\n`),
  );
}

/** The first frames of an answer, whose end does not come. */
async function unfinished(whole: Response): Promise<Response> {
  const frames = (await whole.text()).split(/(?<=\n\n)/);
  return sse([...frames.slice(0, frames.findIndex((frame) => frame.includes("Hi Ada")) + 1), HANG]);
}

const responseOf = (event: Json) => event["response"] as Json & { id: string; output: Json[] };
const inputOf = (received: Received | undefined) =>
  (received?.json?.["input"] ?? received?.json?.["messages"]) as Json[];

for (const model of ["translated", "lossless"]) {
  const upstream = model === "translated" ? chat : native;

  test(`${model}: an answer comes as events, and the next request continues from it although it is not stored`, async () => {
    const socket = connect(app);
    const first = await socket.ask({ model, store: false, input: "I am Ada" });
    expect(socket.events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["response.created", "response.output_text.delta", "response.completed"]),
    );
    expect(responseOf(first).output).toMatchObject([{ type: "message", content: [{ text: "Hi Ada" }] }]);
    expect(first["stream_id"]).toBeUndefined();

    const again = { model, store: false, previous_response_id: responseOf(first).id, input: "Who am I?" };
    const second = await socket.ask(again);
    expect(second).toMatchObject({ type: "response.completed" });
    const texts = JSON.stringify(inputOf(upstream.received.at(-1)));
    expect(["I am Ada", "Hi Ada", "Who am I?"].map((text) => texts.includes(text))).toEqual([true, true, true]);
    expect(upstream.received.at(-1)?.json?.["previous_response_id"]).toBeUndefined();
    expect(upstream.received.at(-1)?.json?.["stream"]).toBe(true);

    // Neither another connection nor a POST knows it.
    const other = connect(app);
    expect(await other.ask(again)).toMatchObject({
      type: "error",
      status: 400,
      error: { code: "previous_response_not_found", type: "invalid_request_error" },
    });
    expect((await app.post("/v1/responses", again)).status).toBe(400);
    other.close();
    socket.close();
  });

  test(`${model}: a warm-up asks no model, and is continued from`, async () => {
    const socket = connect(app);
    const warm = await socket.ask({
      model,
      store: false,
      generate: false,
      input: "I am Ada",
      instructions: "Be brief.",
    });
    expect(warm).toMatchObject({ type: "response.completed", response: { output: [] } });
    expect(upstream.received).toHaveLength(0);
    const { id } = responseOf(warm);
    await socket.ask({ model, store: false, previous_response_id: id, input: "Who am I?" });
    expect(JSON.stringify(inputOf(upstream.received.at(-1)))).toContain("I am Ada");
    expect(upstream.received.at(-1)?.json).not.toHaveProperty("generate");
    socket.close();
  });

  test(`${model}: an answer that new input stops tells what it has used, as its row does`, async () => {
    const begin = (text: string) => (model === "translated" ? chatStream(text) : nativeStream());
    upstream.answer(() => unfinished(begin("Hi Ada")));
    const socket = connect(app);
    const begun = socket.when(({ type }) => type === "response.output_text.delta");
    socket.send({ type: "response.create", model, input: "Count." });
    await begun;
    const { id } = responseOf(socket.events.find(({ type }) => type === "response.created") as Json);
    upstream.answer(() => begin("Done"));
    const stopped = socket.when(({ type }) => type === "response.incomplete");
    const end = socket.when(({ type }) => type === "response.completed");
    socket.send({ type: "response.steer", previous_response_id: id, input: "Faster" });
    const { usage } = responseOf(await stopped);
    await end;
    await app.flushLogs();
    const line = app.logs.findLast((one) => one["client_gone"] === true);
    expect(usage).toMatchObject({ input_tokens: line?.["input_tokens"], output_tokens: line?.["output_tokens"] });
    expect(line).toMatchObject({ output_tokens: 2 });
    socket.close();
  });
}

test("a request is counted, recorded and logged as a POST is", async () => {
  const socket = connect(app);
  const { id } = responseOf(await socket.ask({ model: "translated", input: "hello" }));
  expect((await app.call(`/v1/responses/${id}`)).status).toBe(200);
  socket.close();
  await app.flushLogs();
  const line = app.logs.findLast(({ via }) => via === "websocket");
  expect(line).toMatchObject({ method: "POST", path: "/v1/responses", status: 200, model: "translated" });
  expect(line).toHaveProperty("key_id");
});

test("what is wrong with a message is said in an error event of its lane, and the connection goes on", async () => {
  const socket = connect(app);
  const model = "translated";
  const wrong: [body: Json, error: Json][] = [
    [{ type: "response.cancel" }, { code: "invalid_request", param: "type" }],
    [{ type: "response.create", model, background: true, input: "x" }, { param: "background" }],
    [{ type: "response.create", model, generate: 1, input: "x" }, { param: "generate" }],
    [{ type: "response.create", model: "none", input: "x" }, { code: "model_not_found" }],
    [{ type: "response.create", model, input: "x", temperature: "hot" }, { param: "temperature" }],
    [
      { type: "response.create", model, input: "x", previous_response_id: "resp_none" },
      { code: "previous_response_not_found" },
    ],
  ];
  for (const [body, error] of wrong) {
    const answer = socket.when(({ type }) => type === "error");
    socket.send({ ...body, stream_id: "lane" });
    expect(await answer).toMatchObject({ type: "error", stream_id: "lane", error });
  }
  const answer = socket.when(({ type }) => type === "error");
  socket.sendRaw("hello");
  expect(await answer).toMatchObject({ status: 400, error: { code: "invalid_json" } });
  expect(await socket.ask({ model, input: "still here" })).toMatchObject({ type: "response.completed" });
  socket.close();
});
