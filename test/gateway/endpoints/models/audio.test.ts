// Uploads to the audio endpoints, and answers that are not JSON: what is sent to the provider while the upload arrives, what is
// relayed, and how a failure at each point is handled.

import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { OpenAI } from "openai";
import { openStore } from "../../../../src/store/engine/open.ts";
import { usageStore } from "../../../../src/store/usage/usage.ts";
import { startTestApp } from "../../../support/app.ts";
import { CUT, framesOf, HANG, sse, startUpstream } from "../../../support/upstream.ts";

const SECRET = "sk-of-the-provider-0123456789";
const KIB = 1024;
const MAX_UPLOAD = 40 * KIB * KIB;

const first = startUpstream();
const second = startUpstream();
const provider = (base_url: string) => ({
  ...{ kind: "openai", base_url, api_key: SECRET, discover: false, breaker: { failures: 1000 } },
  retry: { attempts: 1, base: "1ms", max: "1ms" },
});
const app = await startTestApp({
  key: { rpm: 1_000_000 },
  config: {
    server: { max_upload: "40MiB" },
    usage: { flush: "1ms" },
    providers: { first: provider(first.baseUrl), second: provider(second.baseUrl) },
    models: [
      {
        ...{ id: "one", kind: "transcription", prices: { input: 1, output: 2 } },
        routes: [{ provider: "first", model: "theirs" }],
      },
      {
        ...{ id: "two", kind: "transcription" },
        routes: ["first", "second"].map((name, at) => ({ provider: name, model: `of-${name}`, priority: at + 1 })),
      },
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

const PATH = "/v1/audio/transcriptions";
const formOf = (fields: Record<string, string | Blob>) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, "a.wav");
  }
  return form;
};
const AUDIO = new Blob(["RIFF".repeat(1000)]);
const ask = (fields: Record<string, string | Blob>) => app.call(PATH, { method: "POST", body: formOf(fields) });
const codeOf = async (response: Response) => ((await response.json()) as { error: { code: string } }).error.code;
const latestRow = async () => {
  await app.restart();
  const store = openStore({ dataDir: app.dataDir });
  const [row] = (await usageStore(store).listLog({ accountId: app.accountId }, { limit: 1 })).rows;
  store.close();
  return row;
};
const delta = (text: string) => `data: ${JSON.stringify({ type: "transcript.text.delta", delta: text })}\n\n`;
const DONE = `data: ${JSON.stringify({ type: "transcript.text.done", text: "We are", usage: { input_tokens: 5, output_tokens: 2 } })}\n\n`;

describe("answers", () => {
  test("events are relayed as they arrive, and their usage is recorded", async () => {
    first.answer(() => sse([delta("We"), delta(" are"), DONE]));
    const response = await ask({ model: "one", stream: "true", file: AUDIO });
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    expect(response.headers.get("x-sallyport-route")).toBe("first/theirs");
    expect(await response.text()).toBe(delta("We") + delta(" are") + DONE);
    const row = await latestRow();
    expect(row).toMatchObject({ status: 200, inputTokens: 5, outputTokens: 2, costMicros: 9, stream: true });
  });

  test("text is relayed with its content type", async () => {
    const type = "text/vtt; charset=utf-8";
    first.answer(() => new Response("WEBVTT\n", { headers: { "content-type": type } }));
    const response = await ask({ model: "one", response_format: "vtt", file: AUDIO });
    expect([response.headers.get("content-type"), await response.text()]).toEqual([type, "WEBVTT\n"]);
    expect(await latestRow()).toMatchObject({ status: 200, estimated: true });
  });

  test("seconds are charged if the model is priced by time", async () => {
    await app.reconfigure({
      server: { max_upload: "40MiB" },
      usage: { flush: "1ms" },
      providers: { first: provider(first.baseUrl), second: provider(second.baseUrl) },
      models: [
        {
          ...{ id: "timed", kind: "transcription", prices: { input: 0, output: 0, per_minute: 0.006 } },
          routes: [{ provider: "first", model: "theirs" }],
        },
      ],
    });
    first.answer(() => Response.json({ text: "We", usage: { type: "duration", seconds: 90 } }));
    expect((await ask({ model: "timed", file: AUDIO })).status).toBe(200);
    expect(await latestRow()).toMatchObject({ costMicros: 9000, estimated: false });
  });

  test.each([
    ["an error event", () => sse([`data: ${JSON.stringify({ error: { message: `no, ${SECRET}` } })}\n\n`])],
    ["no event", () => sse([])],
    ["a cut", () => sse([CUT])],
    ["a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["a refusal", () => Response.json({ error: { message: SECRET } }, { status: 503 })],
  ])("%s before anything else: the next route answers", async (_name, script) => {
    first.answer(script);
    second.answer(() => Response.json({ text: "from the second" }));
    const response = await ask({ model: "two", file: AUDIO });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ text: "from the second", usage: expect.any(Object) });
    // The whole form was sent again, with the second provider's own name for the model.
    expect(second.received[0]?.text).toBe(first.received[0]?.text.replace("of-first", "of-second") as string);
    first.answer(script);
    const alone = await ask({ model: "one", file: AUDIO });
    const text = await alone.text();
    expect([alone.status, text.includes(SECRET)]).toEqual([502, false]);
  });

  test.each([
    ["an error event", `data: ${JSON.stringify({ error: { message: `no, ${SECRET}`, code: "invalid_api_key" } })}\n\n`],
    ["a cut", CUT],
  ] as const)("%s after the first: the client is told by an event", async (_name, piece) => {
    const heard = Promise.withResolvers<void>();
    first.answer(() => sse([delta("We"), heard.promise, piece]));
    const response = await ask({ model: "one", stream: "true", file: AUDIO });
    heard.resolve();
    const frames = await framesOf(response);
    expect(frames[0]).toMatchObject({ delta: "We" });
    expect(frames.at(-1)).toMatchObject({ error: { code: "provider_stream_interrupted" } });
    expect(JSON.stringify(frames)).not.toContain(SECRET);
    expect(await latestRow()).toMatchObject({ errorCode: "provider_stream_interrupted" });
  });
});

describe("uploads", () => {
  /** A form that is sent in the way that the test defines. */
  function streamed(fields: string, more: () => Promise<Uint8Array | undefined>) {
    const B = "streamed";
    const head = `${fields}--${B}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`;
    let isFirst = true;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (isFirst) {
            isFirst = false;
            return controller.enqueue(Buffer.from(head));
          }
          const bytes = await more();
          if (bytes === undefined) {
            controller.enqueue(Buffer.from(`\r\n--${B}--\r\n`));
            controller.close();
          } else controller.enqueue(bytes);
        },
      },
      { highWaterMark: 0 },
    );
    return { body, type: `multipart/form-data; boundary=${B}` };
  }
  const modelField = '--streamed\r\nContent-Disposition: form-data; name="model"\r\n\r\none\r\n';

  test("a client that disconnects during its upload ends the call", async () => {
    const gone = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const stalled = Bun.serve({
      ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 0 },
      async fetch(request) {
        request.signal.addEventListener("abort", () => gone.resolve(), { once: true });
        const reader = request.body?.getReader();
        begun.resolve();
        try {
          while ((await reader?.read())?.done === false);
        } catch {
          gone.resolve();
        }
        return Response.json({ text: "" });
      },
    });
    await app.reconfigure({
      providers: { first: provider(`http://127.0.0.1:${stalled.port}/v1`) },
      models: [{ id: "one", kind: "transcription", routes: [{ provider: "first", model: "theirs" }] }],
    });
    const { body, type } = streamed(modelField, async () => {
      await begun.promise;
      return new Promise(() => {});
    });
    const leave = new AbortController();
    const asked = app.call(PATH, { method: "POST", body, headers: { "content-type": type }, signal: leave.signal });
    await begun.promise;
    leave.abort();
    expect(await asked.catch(() => "left")).toBe("left");
    await gone.promise;
    await stalled.stop(true);
    await app.restart();
  });

  test("an upstream that answers before it has read everything", async () => {
    let left = 30;
    const early = Bun.serve({
      ...{ port: 0, hostname: "127.0.0.1" },
      fetch: () => Response.json({ error: { message: "too long", code: "invalid_audio" } }, { status: 400 }),
    });
    await app.restart({
      providers: { first: provider(`http://127.0.0.1:${early.port}/v1`) },
      models: [{ id: "one", kind: "transcription", routes: [{ provider: "first", model: "theirs" }] }],
    });
    const { body, type } = streamed(modelField, async () => (left-- > 0 ? Buffer.alloc(64 * KIB) : undefined));
    const response = await app.call(PATH, { method: "POST", body, headers: { "content-type": type } });
    expect([response.status, await codeOf(response)]).toEqual([400, "invalid_audio"]);
    await early.stop(true);
    await app.restart();
  });

  test.each([
    ["below what is kept: the next route has all of it", 20 * KIB * KIB, 200],
    ["above it: there is no other route", 30 * KIB * KIB, 502],
  ])("a provider that fails after it has read everything, %s", async (_name, bytes, status) => {
    first.answer(() => new Response(null, { status: 503 }));
    second.answer(({ text }) => Response.json({ text: String(text.length) }));
    const response = await ask({ model: "two", file: new Blob([new Uint8Array(bytes).fill(65)]) });
    expect(response.status).toBe(status);
    expect(first.received.length).toBe(1);
    expect(second.received.length).toBe(status === 200 ? 1 : 0);
    if (status === 200) expect(second.received[0]?.text.length).toBeGreaterThan(bytes);
    await response.text();
  });

  test("the limit, and one byte more", async () => {
    first.answer(() => Response.json({ text: "" }));
    const overhead = (await new Response(formOf({ model: "one", file: new Blob([]) })).arrayBuffer()).byteLength;
    for (const [more, status] of [
      [0, 200],
      [1, 413],
    ] as const) {
      const response = await ask({ model: "one", file: new Blob([new Uint8Array(MAX_UPLOAD - overhead + more)]) });
      expect([more, response.status]).toEqual([more, status]);
      await response.text();
    }
  });

  test.each([
    ["no form", { body: "{}", headers: { "content-type": "application/json" } }, null],
    ["no file", { body: formOf({ model: "one" }) }, "file"],
    ["a file that is a text", { body: formOf({ model: "one", file: "RIFF" }) }, "file"],
    ["no model", { body: formOf({ file: AUDIO }) }, "model"],
  ])("%s: 400", async (_name, init, param) => {
    const response = await app.call(PATH, { method: "POST", ...init });
    const { error } = (await response.json()) as { error: { code: string; param: string | null } };
    expect([response.status, error.code, error.param]).toEqual([400, "invalid_request", param]);
    expect(first.received).toEqual([]);
  });
});

describe("the built-in model", () => {
  const client = () => new OpenAI({ apiKey: app.key, baseURL: `${app.url}/v1`, maxRetries: 0 });
  /** Half a second of silence. */
  const wav = () => {
    const head = Buffer.alloc(44);
    head.write("RIFF", 0);
    head.writeUInt32LE(36 + 16_000, 4);
    head.write("WAVEfmt ", 8);
    for (const [at, value] of [
      [16, 16],
      [24, 16_000],
      [28, 32_000],
    ] as const)
      head.writeUInt32LE(value, at);
    head.writeUInt16LE(1, 20);
    head.writeUInt16LE(1, 22);
    head.writeUInt16LE(2, 32);
    head.writeUInt16LE(16, 34);
    head.write("data", 36);
    head.writeUInt32LE(16_000, 40);
    return new File([head, new Uint8Array(16_000)], "half.wav");
  };
  const SAID = "Demo transcription: WAV audio, of 0.5 seconds, 16044 bytes.";

  test("OpenAI's client gets the text in every format", async () => {
    const { audio } = client();
    const common = () => ({ file: wav(), model: "demo-transcribe" });
    expect((await audio.transcriptions.create(common())).text).toBe(SAID);
    expect((await audio.translations.create(common())).text).toBe(SAID);
    const verbose = await audio.transcriptions.create({ ...common(), response_format: "verbose_json" });
    expect([verbose.duration, verbose.segments?.[0]?.text]).toEqual([0.5, SAID]);
    expect(await audio.transcriptions.create({ ...common(), response_format: "text" })).toBe(`${SAID}\n`);
    expect(await audio.transcriptions.create({ ...common(), response_format: "srt" })).toContain(
      "00:00:00,000 --> 00:00:00,500",
    );
    let heard = "";
    const stream = await audio.transcriptions.create({ ...common(), stream: true });
    for await (const event of stream) if (event.type === "transcript.text.delta") heard += event.delta;
    expect(heard).toBe(SAID);
  });
});

test("a client that disconnects during the events ends the call", async () => {
  first.answer(() => sse([delta("We"), HANG]));
  const next = first.next();
  const leave = new AbortController();
  const body = formOf({ model: "one", stream: "true", file: AUDIO });
  const response = await app.call(PATH, { method: "POST", body, signal: leave.signal });
  await response.body?.getReader().read();
  const { aborted } = await next;
  leave.abort();
  await aborted;
});
