// The endpoints that generate speech and images: bytes are passed on as they arrive, and how a failure at each point is handled.
// It also covers the built-in models, as their clients see them.

import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { inflateSync } from "node:zlib";
import { OpenAI } from "openai";
import { openStore } from "../../../../src/store/engine/open.ts";
import { usageStore } from "../../../../src/store/usage/usage.ts";
import { startTestApp } from "../../../support/app.ts";
import { CUT, HANG, sse, startUpstream } from "../../../support/upstream.ts";

const SECRET = "sk-of-the-provider-0123456789";
const first = startUpstream();
const second = startUpstream();
const provider = (base_url: string) => ({
  ...{ kind: "openai", base_url, api_key: SECRET, discover: false, breaker: { failures: 1000 } },
  retry: { attempts: 1, base: "1ms", max: "1ms" },
});
const model = (id: string, kind: string, names: string[], prices?: object) => ({
  ...{ id, kind, ...(prices === undefined ? {} : { prices }) },
  routes: names.map((name, at) => ({ provider: name, model: `of-${name}`, priority: at + 1 })),
});
const app = await startTestApp({
  key: { rpm: 1_000_000 },
  config: {
    usage: { flush: "1ms" },
    providers: { first: provider(first.baseUrl), second: provider(second.baseUrl) },
    models: [
      model("voice", "speech", ["first"], { input: 0, output: 0, per_million_characters: 15 }),
      model("voices", "speech", ["first", "second"]),
      model("painter", "image", ["first"], { input: 0, output: 0, per_image: 0.04 }),
    ],
  },
});
afterAll(() => Promise.all([app.stop(), first.stop(), second.stop()]));
beforeEach(() => {
  first.received.length = 0;
  second.received.length = 0;
});
afterEach(() => {
  first.answer(() => new Response("no script", { status: 500 }));
  second.answer(() => new Response("no script", { status: 500 }));
});

const latestRow = async () => {
  await app.restart();
  const store = openStore({ dataDir: app.dataDir });
  const [row] = (await usageStore(store).listLog({ accountId: app.accountId }, { limit: 1 })).rows;
  store.close();
  return row;
};
const speak = (more: object = {}) => app.post("/v1/audio/speech", { model: "voice", input: "We are here.", ...more });
const SOUND = Uint8Array.from({ length: 100_000 }, (_, at) => (at * 31) % 256);
const sound = (pieces: Parameters<typeof sse>[0], type = "audio/mpeg") =>
  new Response(sse(pieces).body, { headers: { "content-type": type } });

describe("speech", () => {
  test("is relayed byte for byte, with its type, and is charged by the character", async () => {
    first.answer(() => sound([SOUND.subarray(0, 7), SOUND.subarray(7)]));
    const response = await speak();
    expect(response.headers.get("content-type")).toBe("audio/mpeg");
    expect(response.headers.get("x-sallyport-route")).toBe("first/of-first");
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(SOUND))).toBe(true);
    expect(first.received[0]?.json).toEqual({ model: "of-first", input: "We are here." });
    expect(await latestRow()).toMatchObject({ status: 200, costMicros: 12 * 15, estimated: true, stream: true });
  });

  test("events report the usage", async () => {
    const delta = 'event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"UklGRg=="}\n\n';
    const done =
      'data: {"type":"speech.audio.done","usage":{"input_tokens":4,"output_tokens":30,"total_tokens":34}}\n\n';
    first.answer(() => sse([delta, done]));
    expect(await (await speak({ stream_format: "sse" })).text()).toBe(delta + done);
    expect(await latestRow()).toMatchObject({ inputTokens: 4, outputTokens: 30, estimated: false });
  });

  test.each([
    ["nothing", () => sound([])],
    ["a cut", () => sound([CUT])],
    ["a page", () => sound(["<html>"], "text/html")],
    ["a refusal", () => Response.json({ error: { message: SECRET } }, { status: 401 })],
  ])("%s before the first byte: the next route answers", async (_name, script) => {
    first.answer(script);
    second.answer(() => sound([SOUND]));
    const response = await speak({ model: "voices" });
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, SOUND.byteLength]);
    expect(response.headers.get("x-sallyport-route")).toBe("second/of-second");
    first.answer(script);
    const alone = await speak();
    const text = await alone.text();
    expect([alone.status, text.includes(SECRET)]).toEqual([502, false]);
  });

  test("a break after the first byte is visible to the client, and recorded", async () => {
    const heard = Promise.withResolvers<void>();
    first.answer(() => sound([SOUND, heard.promise, CUT]));
    const response = await speak();
    heard.resolve();
    expect(
      await response.arrayBuffer().then(
        () => "whole",
        () => "cut",
      ),
    ).toBe("cut");
    expect(await latestRow()).toMatchObject({ errorCode: "provider_stream_interrupted" });
  });

  test("a client that leaves ends the call", async () => {
    first.answer(() => sound([SOUND, HANG]));
    const next = first.next();
    const leave = new AbortController();
    const body = JSON.stringify({ model: "voice", input: "We are here." });
    const response = await app.call("/v1/audio/speech", { method: "POST", body, signal: leave.signal });
    await response.body?.getReader().read();
    const { aborted } = await next;
    leave.abort();
    await aborted;
    expect(await latestRow()).toMatchObject({ errorCode: "client_gone" });
  });
});

describe("images", () => {
  test("are charged per image if the model is priced so", async () => {
    first.answer(() => Response.json({ created: 1, data: [{ url: "u" }, { url: "v" }] }));
    const response = await app.post("/v1/images/generations", { model: "painter", prompt: "a gate", n: 2 });
    expect(await response.json()).toEqual({ created: 1, data: [{ url: "u" }, { url: "v" }] });
    expect(await latestRow()).toMatchObject({ costMicros: 80_000 });
  });

  test("several images and a mask are sent unchanged", async () => {
    first.answer(() => Response.json({ created: 1, data: [] }));
    const client = new OpenAI({ apiKey: app.key, baseURL: `${app.url}/v1`, maxRetries: 0 });
    const picture = (name: string) => new File([name], `${name}.png`, { type: "image/png" });
    const image = [picture("one"), picture("two")];
    await client.images.edit({ image, mask: picture("mask"), prompt: "at night", model: "painter" });
    const { text, headers } = first.received[0]!;
    const form = await new Response(text, {
      headers: { "content-type": headers.get("content-type") ?? "" },
    }).formData();
    const names = [...form].map(([name, value]) => [name, typeof value === "string" ? value : value.name]);
    expect(Object.fromEntries(names)).toMatchObject({ model: "of-first", prompt: "at night", mask: "mask.png" });
    expect(names.filter(([name]) => name?.startsWith("image"))).toHaveLength(2);
  });
});

/** The size of a PNG with one bit per pixel, and the number of its drawn pixels. */
function pointsOf(png: Buffer): { width: number; height: number; drawn: number } {
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const size = png.readUInt32BE(at);
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") data.push(png.subarray(at + 8, at + 8 + size));
    at += size + 12;
  }
  const points = inflateSync(Buffer.concat(data));
  const drawn = points.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20), drawn };
}

describe("the built-in models, by OpenAI's client", () => {
  const client = () => new OpenAI({ apiKey: app.key, baseURL: `${app.url}/v1`, maxRetries: 0 });
  const voice = { model: "demo-speak", voice: "alloy" };
  const heard = async (more: object) =>
    Buffer.from(await (await client().audio.speech.create({ ...voice, input: "Hello.", ...more })).arrayBuffer());

  test("a WAV of the right length, twice as fast in half the time", async () => {
    const wav = await heard({});
    expect([wav.toString("latin1", 0, 4), wav.readUInt32LE(40)]).toEqual(["RIFF", wav.length - 44]);
    expect((wav.length - 44) / (2 * wav.readUInt32LE(24))).toBeCloseTo(5 * 0.08 + 0.24, 3);
    expect(await heard({ speed: 2 })).toHaveLength(44 + (wav.length - 44) / 2);
    expect(await heard({ response_format: "pcm" })).toEqual(wav.subarray(44));
    expect(Math.max(...new Int16Array(wav.buffer.slice(wav.byteOffset + 44)))).toBeGreaterThan(2000);
  });

  test("generated speech can be transcribed", async () => {
    const file = new File([new Uint8Array(await heard({}))], "said.wav");
    const { text } = await client().audio.transcriptions.create({ model: "demo-transcribe", file });
    expect(text).toContain("WAV audio, of 0.64 seconds");
  });

  test("events contain the same audio", async () => {
    const response = await app.post("/v1/audio/speech", { ...voice, input: "Hello.", stream_format: "sse" });
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
    const events = lines.map((line) => JSON.parse(line.slice(6)) as { type: string; audio?: string });
    expect(events.at(-1)).toMatchObject({ type: "speech.audio.done", usage: { total_tokens: expect.any(Number) } });
    const all = Buffer.concat(events.map(({ audio }) => Buffer.from(audio ?? "", "base64")));
    expect(all).toEqual(await heard({}));
  });

  test("a PNG that shows the prompt", async () => {
    const of = async (prompt: string, size: "256x256" | "512x512" = "256x256") => {
      const { data } = await client().images.generate({ model: "demo-image", prompt, size, n: 1 });
      return pointsOf(Buffer.from(data?.[0]?.b64_json ?? "", "base64"));
    };
    const one = await of("I");
    expect([one.width, one.height]).toEqual([256, 256]);
    expect(one.drawn).toBeGreaterThan(0);
    // The letters have the same size, so that twice as many of them have twice as many pixels.
    expect((await of("I I")).drawn).toBe(2 * one.drawn);
    expect((await of("I", "512x512")).width).toBe(512);
    expect((await of("words ".repeat(500))).drawn).toBeGreaterThan(0);
    const { data } = await client().images.generate({ model: "demo-image", prompt: "x", n: 3, response_format: "url" });
    expect(data?.map(({ url }) => url?.slice(0, 22))).toEqual(new Array(3).fill("data:image/png;base64,"));
  });

  test("edits and streams", async () => {
    const image = new File(["p"], "p.png", { type: "image/png" });
    const { data } = await client().images.edit({ model: "demo-image", prompt: "night", image, size: "256x256" });
    expect(pointsOf(Buffer.from(data?.[0]?.b64_json ?? "", "base64")).drawn).toBeGreaterThan(0);
    const types: string[] = [];
    const stream = await client().images.generate({ model: "demo-image", prompt: "x", size: "256x256", stream: true });
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(["image_generation.partial_image", "image_generation.completed"]);
  });
});
