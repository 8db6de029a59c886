// OpenAI's own client library against the running program, over every upstream protocol.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { DIALECTS } from "../support/fake-model.ts";
import { type Clients, FORECAST, GREETING, startClients, stopClients, WEATHER } from "./fixture.ts";

let clients: Clients;
let openai: OpenAI;
beforeAll(async () => {
  clients = await startClients();
  openai = new OpenAI({ baseURL: `${clients.app.url}/v1`, apiKey: clients.app.key, maxRetries: 0 });
});
afterAll(() => stopClients(clients));

const Forecast = z.object({ city: z.string(), degrees: z.number() });
const ask = "How warm is it in Oslo?";
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

describe.each([...DIALECTS])("over %s", (model) => {
  test("chat: whole", async () => {
    const answer = await openai.chat.completions.create({ model, messages: [{ role: "user", content: "Hi" }] });
    expect(answer.choices[0]?.message.content).toBe(GREETING);
    expect(answer.model).toBe(model);
    expect(answer.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 });
  });

  test("chat: the streaming helper", async () => {
    const stream = openai.chat.completions.stream({
      model,
      messages: [{ role: "user", content: "Hi" }],
      stream_options: { include_usage: true },
    });
    let heard = "";
    stream.on("content", (delta) => {
      heard += delta;
    });
    const answer = await stream.finalChatCompletion();
    expect(heard).toBe(GREETING);
    expect(answer.choices[0]?.message.content).toBe(GREETING);
    expect(answer.choices[0]?.finish_reason).toBe("stop");
    expect(answer.usage?.completion_tokens).toBe(9);
  });

  test.each([false, true])("chat: the tool runner (stream: %p)", async (stream) => {
    const asked: unknown[] = [];
    const tools = [
      {
        type: "function" as const,
        function: {
          name: "weather",
          description: "The weather of a city",
          parameters,
          parse: JSON.parse as (text: string) => { city: string },
          function: (args: { city: string }) => {
            asked.push(args);
            return WEATHER;
          },
        },
      },
    ];
    const body = { model, messages: [{ role: "user" as const, content: ask }], tools };
    const runner = stream
      ? openai.chat.completions.runTools({ ...body, stream: true })
      : openai.chat.completions.runTools(body);
    expect(await runner.finalContent()).toBe(`It is ${WEATHER} in Oslo.`);
    expect(asked).toEqual([{ city: "Oslo" }]);
  });

  test("chat: an answer in a schema", async () => {
    const answer = await openai.chat.completions.parse({
      model,
      messages: [{ role: "user", content: "Answer about Oslo" }],
      response_format: zodResponseFormat(Forecast, "forecast"),
    });
    expect(answer.choices[0]?.message.parsed).toEqual(FORECAST);
  });

  test("responses: whole", async () => {
    const answer = await openai.responses.create({ model, input: "Hi", store: false });
    expect(answer.output_text).toBe(GREETING);
    expect(answer.status).toBe("completed");
    expect(answer.usage).toMatchObject({ input_tokens: 20, output_tokens: 9, total_tokens: 29 });
  });

  test("responses: the streaming helper", async () => {
    const stream = openai.responses.stream({ model, input: "Hi", store: false });
    let heard = "";
    let last = -1;
    for await (const event of stream) {
      expect(event.sequence_number).toBeGreaterThan(last);
      last = event.sequence_number;
      if (event.type === "response.output_text.delta") heard += event.delta;
    }
    expect(heard).toBe(GREETING);
    expect((await stream.finalResponse()).output_text).toBe(GREETING);
  });

  test("responses: a tool, and on from the stored answer", async () => {
    const tools: OpenAI.Responses.Tool[] = [{ type: "function", name: "weather", parameters, strict: false }];
    const first = await openai.responses.create({ model, input: ask, tools });
    const call = first.output.find((item) => item.type === "function_call");
    expect(call).toMatchObject({ name: "weather", arguments: '{"city":"Oslo"}' });
    const second = await openai.responses.create({
      model,
      tools,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: WEATHER }],
    });
    expect(second.output_text).toBe(`It is ${WEATHER} in Oslo.`);
    expect(second.previous_response_id).toBe(first.id);
    expect((await openai.responses.retrieve(second.id)).output_text).toBe(second.output_text);
    const again = await openai.responses.retrieve(second.id, { stream: true });
    let last: unknown;
    for await (const event of again) last = event.type === "response.completed" ? event.response : undefined;
    expect(last).toMatchObject({ id: second.id, output: second.output });
    await openai.responses.delete(second.id);
    const gone = await openai.responses.retrieve(second.id).catch((error: unknown) => error);
    expect(gone).toMatchObject({ status: 404, code: "response_not_found" });
  });

  test("responses: an answer in a schema", async () => {
    const answer = await openai.responses.parse({
      model,
      input: "Answer about Oslo",
      store: false,
      text: { format: zodTextFormat(Forecast, "forecast") },
    });
    expect(answer.output_parsed).toEqual(FORECAST);
  });

  test("completions", async () => {
    const answer = await openai.completions.create({ model, prompt: "Hi", max_tokens: 50 });
    expect(answer.choices[0]?.text).toBe(GREETING);
    let heard = "";
    for await (const chunk of await openai.completions.create({ model, prompt: "Hi", stream: true })) {
      heard += chunk.choices[0]?.text ?? "";
    }
    expect(heard).toBe(GREETING);
  });
});

test("errors are the library's own classes", async () => {
  const messages = [{ role: "user" as const, content: "Hi" }];
  const failure = (error: unknown) => error;
  const missing = await openai.chat.completions.create({ model: "none", messages }).catch(failure);
  expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
  const stranger = new OpenAI({ baseURL: `${clients.app.url}/v1`, apiKey: "sk-wrong", maxRetries: 0 });
  expect(await stranger.models.list().catch(failure)).toBeInstanceOf(OpenAI.AuthenticationError);
});

test("models and files", async () => {
  const models = await openai.models.list();
  expect(models.data.map(({ id }) => id)).toEqual(expect.arrayContaining([...DIALECTS]));
  expect((await openai.models.retrieve("gemini")).id).toBe("gemini");
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const file = await openai.files.create({ file: new File([png], "dot.png"), purpose: "vision" });
  expect(file).toMatchObject({ object: "file", filename: "dot.png", bytes: png.byteLength });
  clients.sent();
  await openai.responses.create({
    model: "openai-chat",
    store: false,
    input: [{ role: "user", content: [{ type: "input_image", file_id: file.id, detail: "auto" }] }],
  });
  expect(clients.sent()[0]?.text).toContain(png.toString("base64"));
  expect(Buffer.from(await (await openai.files.content(file.id)).arrayBuffer())).toEqual(png);
  const ids: string[] = [];
  for await (const one of openai.files.list({ limit: 1 })) ids.push(one.id);
  expect(ids).toEqual([file.id]);
  expect(await openai.files.delete(file.id)).toMatchObject({ deleted: true });
});
