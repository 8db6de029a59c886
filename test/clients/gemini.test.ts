// Google's client against the running gateway, over every upstream protocol.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  ApiError,
  type Content,
  FunctionCallingConfigMode,
  type GenerateContentConfig,
  GoogleGenAI,
} from "@google/genai";
import { startTestApp } from "../support/app.ts";
import { DIALECTS, KINDS, type Said, say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";
import { notedRuns } from "./runs.ts";

type Json = Record<string, unknown>;

let said: Said = {};
const upstream = startUpstream((received) => say(received, said));
const app = await startTestApp({
  config: {
    providers: Object.fromEntries([
      ["demo", { preset: "demo" }],
      ...DIALECTS.map((name) => [
        name,
        { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      ]),
    ]),
    models: [
      ...DIALECTS.map((id) => ({ id, supports_reasoning: true, routes: [{ provider: id, model: id }] })),
      { id: "house/with-slash", routes: [{ provider: "openai-chat", model: "slash" }] },
      { id: "vectors", kind: "embedding", routes: [{ provider: "gemini", model: "theirs" }] },
      { id: "blind", supports_vision: false, routes: [{ provider: "openai-chat", model: "blind" }] },
      { id: "short", max_output_tokens: 100, routes: [{ provider: "gemini", model: "short" }] },
    ],
  },
});
const client = new GoogleGenAI({ apiKey: app.key, httpOptions: { baseUrl: app.url } });
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer((received) => say(received, said));
});

const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const TOOLS: GenerateContentConfig = {
  tools: [{ functionDeclarations: [{ name: "weather", description: "d", parametersJsonSchema: PARAMETERS }] }],
  thinkingConfig: { includeThoughts: true },
};
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const sentJson = (at = 0) => JSON.stringify(upstream.received[at]?.json);

const post = (path: string, body: unknown, headers: Record<string, string> = { "x-goog-api-key": app.key }) =>
  fetch(app.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const ASKED = { contents: [{ parts: [{ text: "Hello?" }] }] };

const runs = notedRuns("Google's SDK (@google/genai)");

describe.each(DIALECTS)("over %s", (model) => {
  test("a whole answer, with its usage", async () => {
    said = { text: "Good day.", usage: { input: 11, output: 3, cached: 4 } };
    const answer = await client.models.generateContent({
      model,
      contents: "Hello?",
      config: { systemInstruction: "Be brief.", maxOutputTokens: 50, temperature: 0.5 },
    });
    expect(answer.text).toBe("Good day.");
    expect(answer.modelVersion).toBe(model);
    expect(answer.candidates?.[0]?.finishReason as string).toBe("STOP");
    expect(answer.usageMetadata).toEqual({
      ...{ promptTokenCount: 11, candidatesTokenCount: 3, totalTokenCount: 14, cachedContentTokenCount: 4 },
    });
    for (const part of ["Hello?", "Be brief.", "50"]) expect(sentJson()).toContain(part);
    runs.did("gets a whole answer with its usage", model);
  });

  test("a chat that streams thoughts, text and calls, and goes on with the result", async () => {
    said = {
      reasoning: { text: "The city is known.", signature: "c2lnbmVk" },
      text: "One moment.",
      calls: [
        { id: "call_1", name: "weather", args: { city: "Oslo" } },
        { id: "call_2", name: "weather", args: { city: "Rome" } },
      ],
      usage: { input: 20, output: 9 },
      split: 7,
    };
    const chat = client.chats.create({ model, config: TOOLS });
    let text = "";
    let usage: unknown;
    const calls: unknown[] = [];
    for await (const chunk of await chat.sendMessageStream({ message: "How is it?" })) {
      text += chunk.text ?? "";
      calls.push(...(chunk.functionCalls ?? []));
      usage = chunk.usageMetadata ?? usage;
    }
    expect(text).toBe("One moment.");
    expect(calls).toMatchObject([{ args: { city: "Oslo" } }, { args: { city: "Rome" } }]);
    expect(usage).toMatchObject({ promptTokenCount: 20, totalTokenCount: 29 });
    said = { text: "Rain." };
    const response = (id: string, output: string) => ({
      functionResponse: { id, name: "weather", response: { output } },
    });
    const next = await chat.sendMessage({ message: [response("call_1", "rain"), response("call_2", "sun")] });
    expect(next.text).toBe("Rain.");
    // A relayed history keeps the pieces of its stream.
    for (const part of ["Oslo", "Rome", "rain", "sun", model === "gemini" ? "mome" : "One moment."])
      expect(sentJson(1)).toContain(part);
    // Seals go back to the provider that wrote them, as it wrote them.
    if (model !== "openai-chat") expect(sentJson(1)).toContain("c2lnbmVk");
    runs.did("chats in a stream with thoughts and two calls, and goes on with the results", model);
  });

  test("structured output, an image, and a forced call", async () => {
    said = { text: '{"a":1}' };
    const config: GenerateContentConfig = {
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
    };
    const contents = [{ text: "What is it?" }, { inlineData: { mimeType: "image/png", data: PNG } }];
    expect((await client.models.generateContent({ model, contents, config })).text).toBe('{"a":1}');
    for (const part of [PNG, "What is it?", "integer"]) expect(sentJson()).toContain(part);
    said = { calls: [{ id: "c", name: "weather", args: { city: "Oslo" } }] };
    const forced = {
      functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ["weather"] },
    };
    const called = await client.models.generateContent({
      model,
      contents: "?",
      config: { ...TOOLS, toolConfig: forced },
    });
    expect(called.functionCalls).toMatchObject([{ id: "c", name: "weather", args: { city: "Oslo" } }]);
    runs.did("gets structured output, sends a picture, and forces a call", model);
  });

  test("an upstream's error within a stream", async () => {
    said = { text: "Half of it", breaks: { after: 3, with: "error" } };
    const read = async () => {
      for await (const _chunk of await client.models.generateContentStream({ model, contents: "?" }));
    };
    const error = await read().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect((error as Error).message).toMatch(/"reason":"provider_(?:stream_interrupted|unavailable)"/);
    runs.did("throws a provider's error within a stream", model);
  });

  test("a stream as a list", async () => {
    said = { text: "Good day." };
    const response = await post(`/v1beta/models/${model}:streamGenerateContent`, ASKED);
    expect(response.headers.get("content-type")).toBe("application/json");
    const chunks = (await response.json()) as { candidates: { content: Content }[] }[];
    const texts = chunks.map(({ candidates }) => candidates[0]?.content.parts?.[0]?.text ?? "");
    expect([texts.length > 2, texts.join("")]).toEqual([true, "Good day."]);
    runs.did("reads a stream as a list", model);
  });
});

test.each(DIALECTS)("tokens of a request are counted over %s", async (model) => {
  const counts = () => Response.json({ totalTokens: 31, promptTokensDetails: [{ modality: "TEXT", tokenCount: 31 }] });
  upstream.answer((received) => (received.path.endsWith("countTokens") ? counts() : say(received, said)));
  const { totalTokens } = await client.models.countTokens({ model, contents: "How is it in Oslo?" });
  runs.did("counts tokens", model);
  if (model !== "gemini") {
    expect(totalTokens).toBeGreaterThan(3);
    return;
  }
  expect(totalTokens).toBe(31);
  expect(upstream.received.at(-1)).toMatchObject({
    path: expect.stringContaining("/models/gemini:countTokens"),
    json: { contents: [{ parts: [{ text: "How is it in Oslo?" }] }] },
  });
  await post("/v1beta/models/gemini:countTokens", {
    generateContentRequest: { model: "models/mine", ...ASKED, system_instruction: { parts: [{ text: "Be brief." }] } },
  });
  expect(upstream.received.at(-1)?.json).toMatchObject({
    generateContentRequest: { model: "models/gemini", systemInstruction: { parts: [{ text: "Be brief." }] } },
  });
});

test("embeddings, over the demo and over a provider of the same protocol", async () => {
  const one = await client.models.embedContent({ model: "demo-embed", contents: ["one", "two"] });
  expect(one.embeddings?.map(({ values }) => values?.length)).toEqual([256, 256]);
  upstream.answer(() => Response.json({ embeddings: [{ values: [1, 0.5] }], usageMetadata: { promptTokenCount: 2 } }));
  const config = { taskType: "CLUSTERING", outputDimensionality: 2 };
  const own = await client.models.embedContent({ model: "vectors", contents: "one", config });
  expect(own.embeddings).toMatchObject([{ values: [1, 0.5] }]);
  expect(upstream.received[0]).toMatchObject({
    path: expect.stringContaining("/models/theirs:batchEmbedContents"),
    json: { requests: [{ model: "models/theirs", content: { parts: [{ text: "one" }] }, ...config }] },
  });
  const single = await post("/v1beta/models/vectors:embedContent", { content: { parts: [{ text: "one" }] } });
  expect(await single.json()).toMatchObject({ embedding: { values: [1, 0.5] } });
});

test.each(["files", "cachedContents", "interactions", "fileSearchStores/x"])("%s are not offered", async (name) => {
  const response = await post(`/v1beta/${name}`, {});
  expect([response.status, await response.json()]).toMatchObject([
    404,
    { error: { code: 404, status: "NOT_FOUND", details: [{ reason: "not_offered" }] } },
  ]);
});

test("what is relayed keeps its bytes, whatever it holds", async () => {
  said = { text: "ok" };
  const text = '{"contents":[{"parts":[{"text":"\\u0041 1"}]}],  "unknown":{"n":1.50, "big":12345678901234567890}}';
  const response = await fetch(`${app.url}/v1beta/models/gemini:generateContent`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${app.key}` },
    body: text,
  });
  expect(response.status).toBe(200);
  expect(upstream.received[0]?.text).toBe(text);
});

test("both spellings of members, single parts, and results that name their function alone", async () => {
  said = { text: "ok" };
  const response = await post("/v1/models/openai-chat:generateContent", {
    system_instruction: { parts: { text: "Be brief." } },
    generation_config: { max_output_tokens: 50, stop_sequences: ["END"], thinking_config: { thinking_budget: 0 } },
    contents: [
      { parts: { text: "Hello?" } },
      { role: "model", parts: ["b", "a", "b"].map((name) => ({ function_call: { name, args: { for_me: 1 } } })) },
      {
        role: "user",
        parts: [
          { function_response: { name: "a", response: { result: "of a" } } },
          { function_response: { name: "b", response: { output: "first b" } } },
          { function_response: { name: "b", response: { error: "second b" } } },
        ],
      },
    ],
  });
  expect(response.status).toBe(200);
  const sent = upstream.received[0]?.json as { messages: Json[] } & Json;
  expect(sent).toMatchObject({ max_tokens: 50, stop: ["END"] });
  const calls = sent.messages.find(({ role }) => role === "assistant")?.["tool_calls"] as { id: string }[];
  const results = sent.messages.filter(({ role }) => role === "tool");
  expect(results.map(({ tool_call_id: id, content }) => [calls.findIndex((one) => one.id === id), content])).toEqual([
    [1, "of a"],
    [0, "first b"],
    [2, "Error: second b"],
  ]);
  expect(JSON.stringify(calls)).toContain("for_me");
});

test("a limit above the model's own is lowered and named", async () => {
  said = { text: "ok" };
  const response = await post("/v1beta/models/short:generateContent", {
    ...ASKED,
    generationConfig: { maxOutputTokens: 999, topK: 3 },
  });
  expect(response.headers.get("x-sallyport-dropped")).toBe("generationConfig.maxOutputTokens");
  expect(upstream.received[0]?.json).toMatchObject({ generationConfig: { maxOutputTokens: 100, topK: 3 } });
});

test("lists, and one model", async () => {
  const names: (string | undefined)[] = [];
  for await (const { name } of await client.models.list({ config: { httpOptions: { apiVersion: "v1beta" } } }))
    names.push(name);
  expect(names).toEqual(expect.arrayContaining([...DIALECTS.map((id) => `models/${id}`), "models/house/with-slash"]));
  const one = await client.models.get({ model: "house/with-slash", config: { httpOptions: { apiVersion: "v1beta" } } });
  expect(one).toMatchObject({ name: "models/house/with-slash", supportedActions: ["generateContent", "countTokens"] });
  said = { text: "ok" };
  expect((await client.models.generateContent({ model: "house/with-slash", contents: "?" })).modelVersion).toBe(
    "house/with-slash",
  );
});

test.each<[string, () => Promise<unknown>, number, string]>([
  ["an unknown model", () => client.models.generateContent({ model: "nope", contents: "?" }), 404, "model_not_found"],
  [
    "no contents",
    () => client.models.generateContent({ model: "gemini", contents: [{ role: "user", parts: [{}] }] }),
    400,
    "invalid_request",
  ],
  [
    "an image for a model that sees none",
    () =>
      client.models.generateContent({
        model: "blind",
        contents: [{ inlineData: { mimeType: "image/png", data: PNG } }],
      }),
    400,
    "image_input_not_supported",
  ],
  [
    "a wrong key",
    () =>
      new GoogleGenAI({ apiKey: "sk-wrong", httpOptions: { baseUrl: app.url } }).models.generateContent({
        ...{ model: "gemini", contents: "?" },
      }),
    401,
    "invalid_api_key",
  ],
])("the error of %s", async (_name, ask, status, code) => {
  const error = (await ask().catch((thrown: unknown) => thrown)) as ApiError;
  expect(error).toBeInstanceOf(ApiError);
  expect([error.status, error.message.includes(`"reason":"${code}"`)]).toEqual([status, true]);
  expect(upstream.received).toHaveLength(0);
});

test("a key in the address is refused, and said to be", async () => {
  const response = await post(`/v1beta/models/gemini:generateContent?key=${app.key}`, ASKED, {});
  expect([response.status, await response.json()]).toEqual([
    400,
    {
      error: expect.objectContaining({
        status: "INVALID_ARGUMENT",
        message: expect.stringContaining("x-goog-api-key"),
      }),
    },
  ]);
});

test("it did what the reference says of it", () => {
  expect(runs.all()).toEqual(runs.listed);
});
