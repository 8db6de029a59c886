// Embeddings, rerank, speech and transcriptions at vendors whose endpoints differ from OpenAI's: what arrives there, and what the
// client gets.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { OpenAI } from "openai";
import { startTestApp } from "../../../support/app.ts";

interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

let received: Received | undefined;
let answer: () => Response = () => Response.json({});
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (request.method === "GET") return Response.json([]);
    const { pathname, search } = new URL(request.url);
    received = { path: pathname + search, headers: request.headers, bytes: await request.bytes() };
    return answer();
  },
});
const entry = (preset: string) => ({
  preset,
  base_url: `${upstream.url.origin}/v1`,
  api_key: `key-of-${preset}`,
  discover: false,
  retry: { attempts: 1 },
  breaker: { failures: 1000 },
});
const model = (id: string, kind: string, provider: string) => ({ id, kind, routes: [{ provider, model: "theirs" }] });
const app = await startTestApp({
  key: { rpm: 10_000 },
  config: {
    providers: Object.fromEntries(
      ["voyage", "jina", "cohere", "elevenlabs", "deepgram"].map((name) => [name, entry(name)]),
    ),
    models: [
      model("embed-voyage", "embedding", "voyage"),
      model("embed-jina", "embedding", "jina"),
      model("rank-voyage", "rerank", "voyage"),
      model("rank-jina", "rerank", "jina"),
      model("say-elevenlabs", "speech", "elevenlabs"),
      model("say-deepgram", "speech", "deepgram"),
      model("hear-elevenlabs", "transcription", "elevenlabs"),
      model("hear-deepgram", "transcription", "deepgram"),
    ],
  },
});
const client = new OpenAI({ apiKey: app.key, baseURL: `${app.url}/v1`, maxRetries: 0 });
afterAll(async () => {
  await app.stop();
  await upstream.stop(true);
});
beforeEach(() => {
  received = undefined;
});
const sent = () => JSON.parse(new TextDecoder().decode(received!.bytes)) as Record<string, unknown>;

describe("embeddings", () => {
  const VECTORS = {
    object: "list",
    data: [{ object: "embedding", index: 0, embedding: [0.25, -1] }],
    model: "theirs",
    usage: { total_tokens: 3 },
  };

  test.each([
    ["embed-voyage", { input: ["a"], output_dimension: 256, model: "theirs" }],
    ["embed-jina", { input: ["a"], dimensions: 256, embedding_type: "float", model: "theirs" }],
  ])("%s, asked by the SDK, which wants base64", async (id, expected) => {
    answer = () => Response.json(VECTORS);
    const { data, usage } = await client.embeddings.create({ model: id, input: ["a"], dimensions: 256 });
    expect(sent()).toEqual(expected);
    expect(received!.path).toBe("/v1/embeddings");
    expect(data[0]?.embedding).toEqual([0.25, -1]);
    expect(usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
  });
});

describe("rerank", () => {
  const ranked = [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.2 },
  ];

  test.each([
    ["rank-voyage", { object: "list", data: ranked, usage: { total_tokens: 9 } }, "top_k"],
    ["rank-jina", { results: ranked, usage: { total_tokens: 9 } }, "top_n"],
  ])("%s", async (id, answered, limit) => {
    answer = () => Response.json(answered);
    const response = await app.post("/v1/rerank", { model: id, query: "q", documents: ["a", "b"], top_n: 1 });
    expect(await response.json()).toMatchObject({ model: id, results: [ranked[0]], usage: { total_tokens: 9 } });
    expect(sent()).toEqual({ query: "q", documents: ["a", "b"], [limit]: 1, model: "theirs" });
  });
});

describe("speech", () => {
  const AUDIO = new Uint8Array([1, 2, 3, 254]);
  const bytes = () => new Response(AUDIO, { headers: { "content-type": "audio/mpeg" } });
  const say = (id: string, more: object = {}) =>
    app.post("/v1/audio/speech", { model: id, input: "Hello.", voice: "my/voice", ...more });

  test.each([
    [
      "say-elevenlabs",
      {},
      "/v1/text-to-speech/my%2Fvoice?output_format=mp3_44100_128",
      { text: "Hello.", model_id: "theirs" },
    ],
    [
      "say-elevenlabs",
      { response_format: "pcm", speed: 1.1 },
      "/v1/text-to-speech/my%2Fvoice?output_format=pcm_24000",
      { text: "Hello.", model_id: "theirs", voice_settings: { speed: 1.1 } },
    ],
    ["say-deepgram", {}, "/v1/speak?model=theirs&encoding=mp3", { text: "Hello." }],
    [
      "say-deepgram",
      { voice: "aura-2-x-en", response_format: "wav" },
      "/v1/speak?model=aura-2-x-en&encoding=linear16&container=wav",
      { text: "Hello." },
    ],
  ])("%s %j", async (id, more, path, body) => {
    answer = bytes;
    const response = await say(id, more);
    expect(response.status).toBe(200);
    expect(await response.bytes()).toEqual(AUDIO);
    expect(received!.path).toBe(path);
    expect(sent()).toEqual(body);
    const [header, value] = id.endsWith("deepgram")
      ? ["authorization", "Token key-of-deepgram"]
      : ["xi-api-key", "key-of-elevenlabs"];
    expect(received!.headers.get(header!)).toBe(value!);
  });

  test.each([
    ["say-elevenlabs", { response_format: "flac" }, "response_format"],
    ["say-elevenlabs", { voice: "" }, "voice"],
    ["say-elevenlabs", { instructions: "Whisper." }, "instructions"],
    ["say-deepgram", { stream_format: "sse" }, "stream_format"],
    ["say-deepgram", { speed: 2 }, "speed"],
    ["say-deepgram", { response_format: "constructor" }, "response_format"],
  ])("%s refuses %j by name", async (id, more, param) => {
    const response = await say(id, more);
    expect([response.status, ((await response.json()) as { error: { param: string } }).error.param]).toEqual([
      400,
      param,
    ]);
    expect(received).toBeUndefined();
  });

  test("a failure of the provider is no audio", async () => {
    answer = () => Response.json({ detail: { status: "quota" } }, { status: 500 });
    expect((await say("say-elevenlabs")).status).toBe(502);
    answer = () => Response.json({ odd: true });
    expect((await say("say-deepgram")).status).toBe(502);
  });
});

describe("transcriptions", () => {
  const AUDIO = Uint8Array.from({ length: 70_000 }, (_, at) => at % 251);
  const file = () => new File([AUDIO], "speech.wav", { type: "audio/wav" });

  test("a form goes to ElevenLabs with its names, and JSON comes back", async () => {
    answer = () =>
      Response.json({ text: "Hello.", language_code: "eng", words: [{ text: "Hello.", start: 0, end: 1.5 }] });
    const said = await client.audio.transcriptions.create({ model: "hear-elevenlabs", file: file(), language: "en" });
    expect(said).toMatchObject({ text: "Hello." });
    expect(received!.path).toBe("/v1/speech-to-text");
    const form = await new Response(received!.bytes as BlobPart, {
      headers: { "content-type": received!.headers.get("content-type")! },
    }).formData();
    expect([form.get("model_id"), form.get("language_code"), form.get("model")]).toEqual(["theirs", "en", null]);
    expect(await (form.get("file") as File).bytes()).toEqual(AUDIO);
  });

  test("Deepgram gets the file alone", async () => {
    answer = () =>
      Response.json({
        metadata: { duration: 2.5 },
        results: { channels: [{ detected_language: "en", alternatives: [{ transcript: "Hello.", confidence: 1 }] }] },
      });
    const said = await client.audio.transcriptions.create({ model: "hear-deepgram", file: file() });
    expect(said).toMatchObject({ text: "Hello.", usage: { type: "duration", seconds: 2.5 } });
    expect(received!.path).toBe("/v1/listen?model=theirs&smart_format=true&detect_language=true");
    expect(received!.bytes).toEqual(AUDIO);
    expect(received!.headers.get("authorization")).toBe("Token key-of-deepgram");
  });

  test.each(["hear-elevenlabs", "hear-deepgram"])("%s refuses a prompt, which would be lost", async (id) => {
    const asked = client.audio.transcriptions.create({ model: id, file: file(), prompt: "Names: Oslo." });
    await expect(Promise.resolve(asked)).rejects.toMatchObject({ status: 400, param: "prompt" });
  });

  test.each(["hear-elevenlabs", "hear-deepgram"])("%s refuses other forms of answer", async (id) => {
    const asked = client.audio.transcriptions.create({ model: id, file: file(), response_format: "srt" });
    await expect(Promise.resolve(asked)).rejects.toMatchObject({ status: 400, param: "response_format" });
  });
});
