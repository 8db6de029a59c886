// The type of data decides what a part is, whatever the member is called in which a client sends it: documents, texts and audio in
// the place of an image, and images in the place of a file, from every format over every protocol.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { DIALECTS, type DialectName, KINDS, say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream((received) => say(received, { text: "ok" }));
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      DIALECTS.map((name) => [
        name,
        { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      ]),
    ),
    models: DIALECTS.map((id) => ({ id, routes: [{ provider: id, model: "up-model" }] })),
    tiers: { premium: { rpm: 100_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const TEXT = "One line.";
const DATA = Buffer.from(TEXT).toString("base64");
const urlOf = (type: string) => `data:${type};base64,${DATA}`;

/** What each protocol gets for data of a type; undefined if it refuses them. */
const EXPECTED: Readonly<Record<string, Readonly<Record<DialectName, Json | undefined>>>> = {
  "application/pdf": {
    "openai-chat": { type: "file", file: { filename: "document.pdf", file_data: urlOf("application/pdf") } },
    "openai-responses": { type: "input_file", filename: "document.pdf", file_data: urlOf("application/pdf") },
    "anthropic-messages": {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: DATA },
    },
    gemini: { inlineData: { mimeType: "application/pdf", data: DATA } },
  },
  "image/png": {
    "openai-chat": { type: "image_url", image_url: { url: urlOf("image/png") } },
    "openai-responses": { type: "input_image", image_url: urlOf("image/png"), detail: "auto" },
    "anthropic-messages": { type: "image", source: { type: "base64", media_type: "image/png", data: DATA } },
    gemini: { inlineData: { mimeType: "image/png", data: DATA } },
  },
  "audio/mpeg": {
    "openai-chat": { type: "input_audio", input_audio: { data: DATA, format: "mp3" } },
    "openai-responses": undefined,
    "anthropic-messages": undefined,
    gemini: { inlineData: { mimeType: "audio/mp3", data: DATA } },
  },
};
/** A text in the place of an image; a file stays a file. */
const TEXT_EXPECTED: Readonly<Record<DialectName, Json>> = {
  "openai-chat": { type: "text", text: TEXT },
  "openai-responses": { type: "input_text", text: TEXT },
  "anthropic-messages": { type: "document", source: { type: "text", media_type: "text/plain", data: TEXT } },
  gemini: { text: TEXT },
};

const chat = (part: Json) => ({ messages: [{ role: "user", content: [{ type: "text", text: "hi" }, part] }] });
const responses = (part: Json) => ({
  input: [{ role: "user", content: [{ type: "input_text", text: "hi" }, part] }],
});
const messages = (part: Json) => ({ max_tokens: 50, ...chat(part) });

/** The places for images and files in each format. */
const PLACES: [string, DialectName, string, (type: string) => Json][] = [
  [
    "an image_url",
    "openai-chat",
    "/v1/chat/completions",
    (type) => chat({ type: "image_url", image_url: { url: urlOf(type) } }),
  ],
  ["a file", "openai-chat", "/v1/chat/completions", (type) => chat({ type: "file", file: { file_data: urlOf(type) } })],
  [
    "an input_image",
    "openai-responses",
    "/v1/responses",
    (type) => responses({ type: "input_image", image_url: urlOf(type) }),
  ],
  [
    "an input_file",
    "openai-responses",
    "/v1/responses",
    (type) => responses({ type: "input_file", file_data: urlOf(type) }),
  ],
  [
    "an image",
    "anthropic-messages",
    "/v1/messages",
    (type) => messages({ type: "image", source: { type: "base64", media_type: type, data: DATA } }),
  ],
  [
    "a document",
    "anthropic-messages",
    "/v1/messages",
    (type) => messages({ type: "document", source: { type: "base64", media_type: type, data: DATA } }),
  ],
];

/** The second part of the only message. */
function partOf(model: DialectName, body: Json): unknown {
  const lists: Record<DialectName, string> = {
    "openai-chat": "messages",
    "openai-responses": "input",
    "anthropic-messages": "messages",
    gemini: "contents",
  };
  const { content, parts } = (body[lists[model]] as Json[])[0] as Json;
  return ((content ?? parts) as unknown[])[1];
}

describe.each(PLACES)("in %s", (place, own, path, build) => {
  const types = { ...EXPECTED, ...(place.includes("image") ? { "text/plain": TEXT_EXPECTED } : {}) };
  describe.each(Object.entries(types))("%s", (type, expected) => {
    test.each(DIALECTS.filter((name) => name !== own))("over %s", async (model) => {
      const response = await app.post(path, { ...build(type), model });
      const part = expected[model];
      if (part === undefined) {
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ error: { code: "unsupported_parameter" } });
        return;
      }
      expect(response.status).toBe(200);
      expect(partOf(model, upstream.received[0]?.json as Json)).toEqual(part);
    });

    test("is unchanged over its own protocol", async () => {
      expect((await app.post(path, { ...build(type), model: own })).status).toBe(200);
      expect(upstream.received[0]?.json).toMatchObject(build(type));
    });
  });
});

test.each(["openai-responses", "anthropic-messages", "gemini"] as const)(
  "a document in a tool's result is one over %s",
  async (model) => {
    const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
    const image = { type: "image_url", image_url: { url: urlOf("application/pdf") } };
    const body = {
      model,
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", tool_calls: [call] },
        { role: "tool", tool_call_id: "c1", content: [image] },
      ],
    };
    expect((await app.post("/v1/chat/completions", body)).status).toBe(200);
    expect(upstream.received[0]?.text).toContain(JSON.stringify(EXPECTED["application/pdf"]?.[model]).slice(1, -1));
  },
);
