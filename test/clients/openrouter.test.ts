// OpenRouter's own client against the running program, over every upstream protocol: it validates each answer by a schema, so
// a missing member fails the call.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { OpenRouter } from "@openrouter/sdk";
import { stepCountIs } from "@openrouter/sdk/lib/stop-conditions.js";
import { tool } from "@openrouter/sdk/lib/tool.js";
import { z } from "zod";
import { DIALECTS } from "../support/fake-model.ts";
import { type Clients, GREETING, startClients, stopClients, WEATHER } from "./fixture.ts";

let clients: Clients;
let client: OpenRouter;
beforeAll(async () => {
  clients = await startClients();
  client = new OpenRouter({
    apiKey: clients.app.key,
    serverURL: `${clients.app.url}/v1`,
    retryConfig: { strategy: "none" },
  });
});
afterAll(() => stopClients(clients));

/** One method returns both kinds of answer; the test states which one it expects. */
function whole<T extends object>(answer: T): Exclude<T, AsyncIterable<unknown>> {
  if (Symbol.asyncIterator in answer) throw new Error("a stream came");
  return answer as Exclude<T, AsyncIterable<unknown>>;
}
function streamed<T extends object>(answer: T): Extract<T, AsyncIterable<unknown>> {
  if (!(Symbol.asyncIterator in answer)) throw new Error("no stream came");
  return answer as Extract<T, AsyncIterable<unknown>>;
}

const messages = [{ role: "user" as const, content: "Hi" }];
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const ask = "How warm is it in Oslo?";

describe.each([...DIALECTS])("over %s", (model) => {
  test("chat.send: whole", async () => {
    const answer = whole(await client.chat.send({ chatRequest: { model, messages } }));
    expect(answer.choices[0]?.message.content).toBe(GREETING);
    const systemFingerprint = model === "openai-chat" ? "fp_up" : null;
    expect(answer).toMatchObject({ systemFingerprint, usage: { promptTokens: 20, completionTokens: 9 } });
  });

  test("chat.send: streamed", async () => {
    let heard = "";
    const stream = streamed(await client.chat.send({ chatRequest: { model, messages, stream: true } }));
    for await (const chunk of stream) heard += chunk.choices[0]?.delta.content ?? "";
    expect(heard).toBe(GREETING);
  });

  test("responses.send: whole", async () => {
    const answer = whole(await client.responses.send({ responsesRequest: { model, input: "Hi", stream: false } }));
    expect(answer).toMatchObject({ status: "completed", usage: { inputTokens: 20, outputTokens: 9 } });
  });

  test("responses.send: streamed, with a tool", async () => {
    const types: string[] = [];
    const tools = [{ type: "function" as const, name: "weather", parameters }];
    const stream = streamed(
      await client.responses.send({ responsesRequest: { model, input: ask, tools, stream: true } }),
    );
    for await (const event of stream) types.push(event.type);
    expect(types).toContain("response.function_call_arguments.done");
    expect(types.at(-1)).toBe("response.completed");
  });

  test("callModel: a tool loop", async () => {
    const asked: unknown[] = [];
    const weather = tool({
      name: "weather",
      description: "The weather of a city",
      inputSchema: z.object({ city: z.string() }),
      execute: async (input) => {
        asked.push(input);
        return { weather: WEATHER };
      },
    });
    const result = client.callModel({ model, input: ask, tools: [weather], stopWhen: stepCountIs(3) });
    expect(await result.getText()).toBe(`It is ${WEATHER} in Oslo.`);
    expect(asked).toEqual([{ city: "Oslo" }]);
  });

  test("callModel: a stream of text", async () => {
    let heard = "";
    for await (const delta of client.callModel({ model, input: "Hi" }).getTextStream()) heard += delta;
    expect(heard).toBe(GREETING);
  });
});

test("models.list", async () => {
  const { data } = (await client.models.list()).result;
  expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining([...DIALECTS]));
  expect(data.find(({ id }) => id === "gemini")).toMatchObject({
    pricing: { prompt: "0", completion: "0" },
    architecture: { inputModalities: ["text", "image"] },
    supportedParameters: expect.arrayContaining(["tools", "reasoning"]),
  });
});

test("apiKeys: a management key lists, creates, changes and deletes keys", async () => {
  const apiKey = await clients.app.manager();
  const serverURL = `${clients.app.url}/api/v1`;
  const { apiKeys, credits } = new OpenRouter({ apiKey, serverURL });
  expect((await apiKeys.getCurrentKeyMetadata()).data).toMatchObject({ isManagementKey: true });
  const body = { name: "ci", limit: 5, limitReset: "monthly" as const };
  const { data: made, key } = await apiKeys.create({ requestBody: body });
  expect(made).toMatchObject({ ...body, limitRemaining: 5, usage: 0, disabled: false });
  const { hash } = made;
  const current = await new OpenRouter({ apiKey: key, serverURL }).apiKeys.getCurrentKeyMetadata();
  expect(current.data).toMatchObject({ limit: 5, isManagementKey: false });
  expect((await apiKeys.get({ hash })).data).toEqual(made);
  const { data: changed } = await apiKeys.update({ hash, requestBody: { disabled: true, limit: null } });
  expect(changed).toMatchObject({ name: "ci", disabled: true, limit: null, limitReset: null });
  const hashes = async (includeDisabled: boolean) =>
    (await apiKeys.list({ includeDisabled })).data.map((one) => one.hash);
  expect(await hashes(true)).toContain(hash);
  expect(await hashes(false)).not.toContain(hash);
  expect(await apiKeys.delete({ hash })).toEqual({ deleted: true });
  await expect(apiKeys.get({ hash })).rejects.toMatchObject({ statusCode: 404 });
  expect((await credits.getCredits()).data).toMatchObject({ totalUsage: 0 });
});

test("apiKeys.getCurrentKeyMetadata", async () => {
  const key = new OpenRouter({ apiKey: clients.app.key, serverURL: `${clients.app.url}/api/v1` });
  const { data } = await key.apiKeys.getCurrentKeyMetadata();
  expect(data).toMatchObject({ limit: null, limitReset: null, isManagementKey: false });
});
