// Pictures that models draw: what each upstream protocol answers with reaches each client format in its own shape, whole and
// streaming, and the next turn brings it back to the model.

import { afterAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type Received, sse, startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const DATA = "iVBORw0KGgo=";
const URL_TEXT = `data:image/png;base64,${DATA}`;
const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };

/** What an upstream of each protocol answers with, and how it is asked for pictures. */
const UPSTREAMS: Readonly<Record<string, { kind: string; asked: Json; answer(received: Received): Response }>> = {
  chat: {
    kind: "openai",
    asked: { modalities: ["text", "image"] },
    answer({ json }) {
      const message = {
        role: "assistant",
        content: "Here.",
        images: [{ type: "image_url", image_url: { url: URL_TEXT } }],
      };
      const head = { id: "c1", created: 1, model: "up" };
      if (json?.["stream"] !== true)
        return Response.json({ ...head, choices: [{ index: 0, message, finish_reason: "stop" }], usage });
      const chunk = (more: Json) =>
        `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...more })}\n\n`;
      return sse([
        chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] }),
        chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage }),
        "data: [DONE]\n\n",
      ]);
    },
  },
  gemini: {
    kind: "gemini",
    asked: { generationConfig: { responseModalities: ["TEXT", "IMAGE"] } },
    answer({ path }) {
      const parts = [{ text: "Here." }, { inlineData: { mimeType: "image/png", data: DATA } }];
      const body = {
        candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 },
      };
      return path.includes("stream") ? sse([`data: ${JSON.stringify(body)}\n\n`]) : Response.json(body);
    },
  },
  responses: {
    kind: "openai-responses",
    asked: { tools: [{ type: "image_generation" }] },
    answer({ json }) {
      const text = { type: "output_text", text: "Here.", annotations: [], logprobs: [] };
      const output = [
        { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [text] },
        { id: "ig_1", type: "image_generation_call", status: "completed", result: DATA, output_format: "png" },
      ];
      const response = { id: "resp_1", object: "response", created_at: 1, model: "up", status: "completed", output };
      const whole = { ...response, usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 } };
      if (json?.["stream"] !== true) return Response.json(whole);
      const events: Json[] = [
        { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
        ...output.flatMap((item, output_index) => [
          {
            type: "response.output_item.added",
            output_index,
            item: { ...item, ...(item.type === "message" ? { content: [] } : { result: null }) },
          },
          ...(item.type === "message"
            ? [{ type: "response.output_text.delta", output_index, content_index: 0, item_id: item.id, delta: "Here." }]
            : []),
          { type: "response.output_item.done", output_index, item },
        ]),
        { type: "response.completed", response: whole },
      ];
      return sse(events.map((event, sequence_number) => `data: ${JSON.stringify({ ...event, sequence_number })}\n\n`));
    },
  },
};

/** How a client of each format asks, where it finds the picture, and how it sends the answer back. */
const CLIENTS: Readonly<
  Record<
    string,
    {
      path(model: string, stream: boolean): string;
      body: Json;
      /** How it asks for pictures, if its format can. */
      wish?: Json;
      again(answer: Json): Json;
      picture: Json;
    }
  >
> = {
  chat: {
    path: () => "/v1/chat/completions",
    wish: { modalities: ["text", "image"] },
    body: { messages: [{ role: "user", content: "Draw." }] },
    again: ({ choices }) => ({
      messages: [
        { role: "user", content: "Draw." },
        (choices as [{ message: Json }])[0].message,
        { role: "user", content: "Larger." },
      ],
    }),
    picture: { type: "image_url", image_url: { url: URL_TEXT } },
  },
  responses: {
    path: () => "/v1/responses",
    body: { input: "Draw.", store: false },
    again: ({ output }) => ({
      store: false,
      input: [{ role: "user", content: "Draw." }, ...(output as Json[]), { role: "user", content: "Larger." }],
    }),
    picture: { type: "image_generation_call", status: "completed", result: DATA, output_format: "png" },
  },
  messages: {
    path: () => "/v1/messages",
    body: { max_tokens: 50, messages: [{ role: "user", content: "Draw." }] },
    again: ({ content }) => ({
      max_tokens: 50,
      messages: [
        { role: "user", content: "Draw." },
        { role: "assistant", content },
        { role: "user", content: "Larger." },
      ],
    }),
    picture: { type: "image", source: { type: "base64", media_type: "image/png", data: DATA } },
  },
  gemini: {
    path: (model, stream) => `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: { contents: [{ role: "user", parts: [{ text: "Draw." }] }] },
    wish: { generationConfig: { responseModalities: ["TEXT", "IMAGE"] } },
    again: ({ candidates }) => ({
      contents: [
        { role: "user", parts: [{ text: "Draw." }] },
        (candidates as [{ content: Json }])[0].content,
        { role: "user", parts: [{ text: "Larger." }] },
      ],
    }),
    picture: { inlineData: { mimeType: "image/png", data: DATA } },
  },
  ollama: {
    path: () => "/api/chat",
    body: { messages: [{ role: "user", content: "Draw." }] },
    again: ({ message }) => ({
      messages: [{ role: "user", content: "Draw." }, message, { role: "user", content: "Larger." }],
    }),
    picture: { images: [DATA] },
  },
};

const servers = Object.entries(UPSTREAMS).map(([name, { kind }]) => ({ name, kind, server: startUpstream() }));
const app: TestApp = await startTestApp({
  key: { rpm: 1000 },
  config: {
    providers: Object.fromEntries(
      servers.map(({ name, kind, server }) => [
        name,
        { kind, base_url: server.baseUrl, api_key: "sk-up", discover: false },
      ]),
    ),
    models: servers.map(({ name }) => ({
      id: `m-${name}`,
      supports_vision: true,
      routes: [{ provider: name, model: "gemini-3-image" }],
    })),
  },
});

afterAll(async () => {
  await app.stop();
  for (const { server } of servers) server.stop();
});

/** Every object in a value. */
function objectsIn(value: unknown): Json[] {
  if (typeof value !== "object" || value === null) return [];
  return [...(Array.isArray(value) ? [] : [value as Json]), ...Object.values(value).flatMap(objectsIn)];
}

for (const { name, server } of servers) {
  server.answer((received) => (UPSTREAMS[name] as (typeof UPSTREAMS)[string]).answer(received));
  for (const [format, client] of Object.entries(CLIENTS)) {
    test(`a picture of a ${name} upstream reaches a client of ${format}, and comes back`, async () => {
      const ask = async (body: Json, stream: boolean) => {
        const response = await app.post(client.path(`m-${name}`, stream), {
          ...(format === "gemini" ? {} : { model: `m-${name}`, stream }),
          ...body,
        });
        const text = await response.text();
        expect([response.status, text.slice(0, 300)]).toEqual([200, expect.any(String)]);
        return text;
      };
      const wish = client.wish ?? {};
      const whole = JSON.parse(await ask({ ...client.body, ...wish }, false)) as Json;
      const holds = (value: unknown) =>
        objectsIn(value).some((one) => Bun.deepMatch(client.picture as never, one as never));
      expect(holds(whole)).toBe(true);
      const { asked } = UPSTREAMS[name] as (typeof UPSTREAMS)[string];
      if (client.wish !== undefined) expect(server.received.at(-1)?.json).toMatchObject(asked);
      const events = (await ask({ ...client.body, ...wish }, true))
        .split("\n")
        .map((line) => line.replace(/^data: /, ""))
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as Json);
      expect(holds(events)).toBe(true);
      if (client.wish !== undefined) expect(server.received.at(-1)?.json).toMatchObject(asked);
      await ask({ ...client.again(whole), ...wish }, false);
      const sent = JSON.stringify(server.received.at(-1)?.json);
      expect([sent.split(DATA).length - 1, sent.includes("Here."), sent.includes("Larger.")]).toEqual([1, true, true]);
    });
  }
}
