// OpenAI's client over a WebSocket, over every upstream protocol.

import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "../gateway/endpoints/socket/fixture.ts";
import { startTestApp } from "../support/app.ts";
import { DIALECTS, KINDS, type Said, say } from "../support/fake-model.ts";
import { sse, startUpstream } from "../support/upstream.ts";
import { notedRuns } from "./runs.ts";

type Json = Record<string, unknown>;

let said: Said = {};
const upstream = startUpstream((received) => say(received, said));
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      DIALECTS.map((name) => [name, { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false }]),
    ),
    models: DIALECTS.map((id) => ({ id, supports_reasoning: true, routes: [{ provider: id, model: id }] })),
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

const runs = notedRuns("OpenAI's SDK (responses/ws)");
const TOOLS = [{ type: "function", name: "weather", parameters: { type: "object", properties: {} }, strict: false }];
const responseOf = (event: Json) => event["response"] as Json & { id: string };
const sentJson = () => JSON.stringify(upstream.received.at(-1)?.json);

describe.each(DIALECTS)("over %s", (model) => {
  test("a streamed answer, with its usage", async () => {
    said = { text: "Good day.", usage: { input: 11, output: 3 } };
    const socket = connect(app);
    const end = await socket.ask({ model, input: "Hello?" });
    const deltas = socket.events.filter(({ type }) => type === "response.output_text.delta");
    expect(deltas.map(({ delta }) => delta).join("")).toBe("Good day.");
    expect(responseOf(end)).toMatchObject({ status: "completed", usage: { input_tokens: 11, output_tokens: 3 } });
    socket.close();
    runs.did("gets a streamed answer with its usage", model);
  });

  test("a call, and its result although nothing is stored", async () => {
    said = { calls: [{ id: "call_1", name: "weather", args: { city: "Oslo" } }] };
    const socket = connect(app);
    const first = responseOf(await socket.ask({ model, store: false, tools: TOOLS, input: "How is it?" }));
    const call = (first["output"] as Json[]).find(({ type }) => type === "function_call");
    expect(call).toMatchObject({ name: "weather", arguments: expect.stringContaining("Oslo") });
    said = { text: "Rain." };
    const output = { type: "function_call_output", call_id: call?.["call_id"], output: "it rains" };
    const next = { model, store: false, tools: TOOLS, previous_response_id: first.id, input: [output] };
    expect(await socket.ask(next)).toMatchObject({ type: "response.completed" });
    for (const part of ["How is it?", "Oslo", "it rains"]) expect(sentJson()).toContain(part);
    socket.close();
    runs.did("gets a call, and goes on with the result although nothing is stored", model);
  });

  test("new input for a running answer", async () => {
    const gate = Promise.withResolvers<void>();
    said = { text: "One two three" };
    upstream.answer(async (received) => {
      const whole = await say(received, said).text();
      const frames = whole.split(/(?<=\n\n)/);
      const begun = frames.findIndex((frame) => frame.includes("One"));
      const pieces = [frames.slice(0, begun + 1).join(""), gate.promise, frames.slice(begun + 1).join("")];
      return sse(pieces);
    });
    const socket = connect(app);
    const begun = socket.when(({ type }) => type === "response.output_text.delta");
    socket.send({ type: "response.create", model, input: "Count." });
    await begun;
    const created = socket.events.find(({ type }) => type === "response.created") as Json;
    upstream.answer((received) => say(received, { text: "Faster then." }));
    const end = socket.when(({ type }) => type === "response.completed");
    const stopped = socket.when(({ type }) => type === "response.incomplete");
    socket.send({ type: "response.steer", previous_response_id: responseOf(created).id, input: "Faster" });
    const usage = { input_tokens: expect.any(Number), output_tokens: expect.any(Number) };
    expect(responseOf(await stopped)).toMatchObject({ incomplete_details: { reason: "steered" }, usage });
    await end;
    for (const part of ["Count.", "One", "Faster"]) expect(sentJson()).toContain(part);
    gate.resolve();
    upstream.answer((received) => say(received, said));
    socket.close();
    runs.did("gives a running answer new input", model);
  });
});

test("it did what the reference says of it", () => {
  expect(runs.all()).toEqual(runs.listed);
});
