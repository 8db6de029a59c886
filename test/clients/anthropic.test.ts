// Anthropic's own client library against the running program, over every upstream protocol.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { DIALECTS } from "../support/fake-model.ts";
import { type Clients, GREETING, startClients, stopClients, THOUGHT, WEATHER } from "./fixture.ts";

let clients: Clients;
let anthropic: Anthropic;
beforeAll(async () => {
  clients = await startClients();
  anthropic = new Anthropic({ baseURL: clients.app.url, apiKey: clients.app.key, maxRetries: 0 });
});
afterAll(() => stopClients(clients));

const hello = [{ role: "user" as const, content: "Hi" }];
const ask = [{ role: "user" as const, content: "How warm is it in Oslo?" }];
const input_schema = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"] as const,
};
const weather = {
  name: "weather",
  description: "The weather of a city",
  input_schema: { ...input_schema, required: ["city"] },
};

describe.each([...DIALECTS])("over %s", (model) => {
  test("messages: whole", async () => {
    const answer = await anthropic.messages.create({ model, max_tokens: 100, messages: hello, system: "Be brief." });
    expect(answer.content).toMatchObject([{ type: "text", text: GREETING }]);
    expect(answer).toMatchObject({ stop_reason: "end_turn", model, usage: { input_tokens: 20, output_tokens: 9 } });
  });

  test("messages: the streaming helper", async () => {
    const stream = anthropic.messages.stream({ model, max_tokens: 100, messages: hello });
    let heard = "";
    stream.on("text", (delta) => {
      heard += delta;
    });
    expect(await stream.finalText()).toBe(GREETING);
    expect(heard).toBe(GREETING);
    expect((await stream.finalMessage()).usage.output_tokens).toBe(9);
  });

  test.each([false, true])("messages: a tool loop by hand, thinking handed back (stream: %p)", async (stream) => {
    const body = {
      model,
      max_tokens: 4000,
      tools: [weather],
      thinking: { type: "enabled" as const, budget_tokens: 2000 },
    };
    const get = (messages: Anthropic.MessageParam[]) =>
      stream
        ? anthropic.messages.stream({ ...body, messages }).finalMessage()
        : anthropic.messages.create({ ...body, messages });
    const first = await get(ask);
    expect(first.stop_reason).toBe("tool_use");
    expect(first.content.find((block) => block.type === "thinking")?.thinking).toBe(THOUGHT.text);
    const call = first.content.find((block) => block.type === "tool_use");
    expect(call).toMatchObject({ name: "weather", input: { city: "Oslo" } });
    clients.sent();
    const result = { type: "tool_result" as const, tool_use_id: call?.id ?? "", content: WEATHER };
    const second = await get([
      ...ask,
      { role: "assistant", content: first.content },
      { role: "user", content: [result] },
    ]);
    expect(second.content).toMatchObject([{ type: "text", text: `It is ${WEATHER} in Oslo.` }]);
    // The provider that issued the signature receives it unchanged; other providers receive none.
    const [sent] = clients.sent();
    if (model === "openai-chat") expect(sent?.text).not.toContain(THOUGHT.signature);
    else expect(sent?.text).toContain(`"${THOUGHT.signature}"`);
  });

  test.each([false, true])("messages: the tool runner (stream: %p)", async (stream) => {
    const asked: unknown[] = [];
    const tool = betaTool({
      name: "weather",
      description: "The weather of a city",
      inputSchema: input_schema,
      run: (args) => {
        asked.push(args);
        return WEATHER;
      },
    });
    clients.sent();
    const runner = anthropic.beta.messages.toolRunner({
      model,
      max_tokens: 1000,
      messages: ask,
      tools: [tool],
      stream,
    });
    const last = await runner.runUntilDone();
    expect(last.content).toMatchObject([{ type: "text", text: `It is ${WEATHER} in Oslo.` }]);
    expect(asked).toEqual([{ city: "Oslo" }]);
    // The tool runner requests that the conversation be stored. If that is refused, it sends the whole conversation.
    const sent = clients.sent().at(-1)?.text;
    expect(sent).toContain(WEATHER);
    if (model !== "anthropic-messages") expect(sent).toContain("How warm is it in Oslo?");
  });

  test("messages: a thread, which goes on unthreaded where nobody holds it", async () => {
    const thread = anthropic.beta.messages.thread({
      model,
      max_tokens: 100,
      unsupportedRequestBehavior: "continue_unthreaded",
    });
    const first = await thread.send(hello);
    expect(first.content).toMatchObject([{ type: "text", text: GREETING }]);
    clients.sent();
    await thread.send([{ role: "user", content: "And again" }]);
    const sent = clients.sent().at(-1);
    if (model === "anthropic-messages") {
      expect(sent?.json?.["thread"]).toEqual({ type: "continue", previous_message_id: first.id });
    } else expect(sent?.text).toContain("東京");
  });

  test("messages: counting tokens", async () => {
    const { input_tokens } = await anthropic.messages.countTokens({ model, messages: hello, tools: [weather] });
    if (model === "anthropic-messages") expect(input_tokens).toBe(321);
    else expect(input_tokens).toBeGreaterThan(20);
  });
});

test("errors are the library's own classes", async () => {
  const failure = (error: unknown) => error;
  const body = { max_tokens: 9, messages: hello };
  const missing = await anthropic.messages.create({ ...body, model: "none" }).catch(failure);
  expect(missing).toBeInstanceOf(Anthropic.NotFoundError);
  const stranger = new Anthropic({ baseURL: clients.app.url, apiKey: "sk-wrong", maxRetries: 0 });
  const refused = await stranger.messages.create({ ...body, model: "gemini" }).catch(failure);
  expect(refused).toBeInstanceOf(Anthropic.AuthenticationError);
});

test("models and files", async () => {
  const bearer = new Anthropic({ baseURL: clients.app.url, authToken: clients.app.key, apiKey: null, maxRetries: 0 });
  const names: string[] = [];
  for await (const model of bearer.models.list({ limit: 1000 })) names.push(model.id);
  expect(names).toEqual(expect.arrayContaining([...DIALECTS]));
  // With the library's own header as well.
  expect((await anthropic.models.list()).data.map(({ id }) => id)).toEqual(names);
  expect(await anthropic.models.retrieve("gemini")).toMatchObject({
    id: "gemini",
    type: "model",
    display_name: "gemini",
    // The time since which the gateway knows the model, whose release date nobody states.
    created_at: expect.stringMatching(/^20\d\d-/),
    lifecycle: "active",
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: null,
    max_tokens: null,
    capabilities: { image_input: { supported: true }, thinking: { supported: expect.any(Boolean) } },
  });
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const file = await anthropic.beta.files.upload({ file: new File([png], "dot.png", { type: "image/png" }) });
  expect(file).toMatchObject({ type: "file", mime_type: "image/png", size_bytes: png.byteLength });
  const bytes = await (await anthropic.beta.files.download(file.id)).arrayBuffer();
  expect(Buffer.from(bytes)).toEqual(png);
  clients.sent();
  await anthropic.beta.messages.create({
    model: "gemini",
    max_tokens: 100,
    messages: [{ role: "user", content: [{ type: "image", source: { type: "file", file_id: file.id } }] }],
  });
  expect(clients.sent()[0]?.text).toContain(png.toString("base64"));
  expect(await anthropic.beta.files.delete(file.id)).toMatchObject({ id: file.id });
});
