// A search that a provider runs itself for each of several answers: each answer tells its own queries and pages.

import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { sse, startUpstream } from "../../../support/upstream.ts";

type Json = Record<string, unknown>;
const TOPICS = ["rye", "oats"];
const upstream = startUpstream();
const config = {
  providers: {
    google: { kind: "gemini", base_url: upstream.baseUrl, api_key: "k", discover: false, quirks: { web_search: true } },
  },
  models: [{ id: "several", routes: [{ provider: "google", model: "up" }] }],
  // With a guardrail, a provider of the client's own protocol is read too.
  guardrails: [{ name: "w", on: ["output"], check: { kind: "words", words: ["kryptonite"] } }],
};
const app = await startTestApp({ config });
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };
const textOf = (topic: string) => `Well: ${topic} survives.`;

/** The text of each candidate, or its end, or both. */
function candidates(hasText: boolean, isLast: boolean): Json[] {
  return TOPICS.map((topic, index) => {
    const segment = { startIndex: 6, endIndex: textOf(topic).length, text: textOf(topic).slice(6) };
    const groundingMetadata = {
      webSearchQueries: [topic],
      groundingChunks: [{ web: { uri: `https://${topic}.example/`, title: topic } }],
      groundingSupports: [{ segment, groundingChunkIndices: [0] }],
    };
    const content = { role: "model", parts: [{ text: hasText ? textOf(topic) : "" }] };
    return { index, content, ...(isLast ? { finishReason: "STOP", groundingMetadata } : {}) };
  });
}

const said = (stream: boolean) =>
  stream
    ? sse(
        [{ candidates: candidates(true, false) }, { candidates: candidates(false, true), usageMetadata }].map(
          (one) => `data: ${JSON.stringify(one)}\n\n`,
        ),
      )
    : Response.json({ candidates: candidates(true, true), usageMetadata });

const ask = "What is rye?";
const messages = [{ role: "user", content: ask }];
const CLIENTS = {
  choices: (stream: boolean) => ({
    path: "/v1/chat/completions",
    body: { model: "several", n: 2, stream, web_search_options: {}, messages },
  }),
  candidates: (stream: boolean) => ({
    path: `/v1beta/models/several:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: {
      tools: [{ googleSearch: {} }],
      contents: [{ role: "user", parts: [{ text: ask }] }],
      generationConfig: { candidateCount: 2 },
    },
  }),
};

test.each(
  (["choices", "candidates"] as const).flatMap((list) => [false, true].map((stream) => [list, stream] as const)),
)("%s, stream %p", async (list, stream) => {
  upstream.answer(() => said(stream));
  const { path, body } = CLIENTS[list](stream);
  const response = await app.post(path, body);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const frames = stream ? [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => data ?? "") : [text];
  const parts = frames.flatMap((frame) => (JSON.parse(frame) as Record<string, Json[]>)[list] ?? []);
  for (const [index, topic] of TOPICS.entries()) {
    const own = JSON.stringify(parts.filter((part) => part["index"] === index));
    expect(own).toContain(`https://${topic}.example/`);
    expect(own).not.toContain(`https://${TOPICS[1 - index]}.example/`);
    // Each counts from the beginning of its own text.
    expect(own).toContain(list === "choices" ? '"start_index":6,' : `"webSearchQueries":["${topic}"]`);
  }
});

test.each([false, true])(
  "an answer whose text a picture ended names the places of that text, stream %p",
  async (stream) => {
    const [first] = candidates(false, true) as [Json];
    const parts = [{ text: textOf("rye") }, { inlineData: { mimeType: "image/png", data: "AA==" } }];
    const chunks = [
      { candidates: [{ index: 0, content: { role: "model", parts } }] },
      { candidates: [first], usageMetadata },
    ];
    upstream.answer(() =>
      stream
        ? sse(chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`))
        : Response.json({ candidates: [{ ...first, content: { role: "model", parts } }], usageMetadata }),
    );
    const { path, body } = CLIENTS.choices(stream);
    const text = await (await app.post(path, { ...body, n: 1 })).text();
    expect(text).toContain("https://rye.example/");
    expect(text).toContain('"start_index":6,');
  },
);
