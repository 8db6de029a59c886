import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openStore } from "../../src/store/engine/open.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { countTokens } from "../../src/tokens/count.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { begun, EARLY, LATE, well } from "../support/failures.ts";
import { closedPort, type RawUpstream, startBlackhole, startPlain, startRaw } from "../support/raw-upstream.ts";
import { type FakeUpstream, type Script, startUpstream } from "../support/upstream.ts";

const PROMPT = "tell me all";
const MESSAGES = [{ role: "user", content: PROMPT }];
/** The tokens that providers have reported so far, and those that the gateway had to count itself. */
const reported = { input: 0, output: 0 };

/** What the client of the current stream has received. */
let content = Promise.withResolvers<void>();
let finish = Promise.withResolvers<void>();

let app: TestApp;
let bad: FakeUpstream;
let good: FakeUpstream;
let raw: RawUpstream[];
let blackhole: { port: number; stop(): void };
/** The names of the providers that fail below HTTP. */
const LOW = ["refused", "reset", "no TLS", "connecting", "cut in the head"] as const;
const slug = (name: string) => name.replaceAll(/\W+/g, "-");
/** The timeouts are short only for failures in which nothing ever arrives, because a busy machine may be slow in all others. */
const waitOf = (name: string): Record<string, string> => {
  if (name === "no-headers" || name === "silence-after-the-headers") return { first_byte: "150ms" };
  // A client of the messages format only receives the end after the provider's stream has ended.
  return name.includes("silence") || name === "finish-then-cut" ? { idle: "150ms" } : {};
};

beforeAll(async () => {
  bad = startUpstream();
  good = startUpstream(well);
  const resets = startRaw((connection) => connection.reset());
  const plain = startPlain();
  const cutHead = startRaw((connection) => {
    connection.send("HTTP/1.1 200 OK\r\nContent-Le");
    connection.end();
  });
  raw = [resets, plain, cutHead];
  blackhole = await startBlackhole();
  const urls: Record<(typeof LOW)[number], string> = {
    refused: `http://127.0.0.1:${closedPort()}/v1`,
    reset: `http://127.0.0.1:${resets.port}/v1`,
    "no TLS": `https://127.0.0.1:${plain.port}/v1`,
    connecting: `http://127.0.0.1:${blackhole.port}/v1`,
    "cut in the head": `http://127.0.0.1:${cutHead.port}/v1`,
  };
  const entry = (base_url: string, timeout: Record<string, string> = {}) => ({
    kind: "openai",
    base_url,
    api_key: "up-secret",
    discover: false,
    retry: { attempts: 2, base: "1ms", max: "2ms" },
    breaker: { failures: 1000, window: "1h", cooldown: "1h" },
    timeout: { connect: "5s", first_byte: "60s", idle: "60s", ...timeout },
  });
  const failing = [...EARLY, ...LATE].map(({ name }) => slug(name));
  app = await startTestApp({
    config: {
      usage: { flush: "1ms" },
      providers: {
        good: entry(good.baseUrl),
        ...Object.fromEntries(failing.map((name) => [name, entry(`${bad.baseUrl}/${name}`, waitOf(name))])),
        ...Object.fromEntries(LOW.map((name) => [slug(name), entry(urls[name], { connect: "100ms" })])),
      },
      models: [...failing, ...LOW.map(slug)].flatMap((name) => [
        { id: `${name}.one`, routes: [{ provider: name, model: "bad-model" }] },
        {
          id: `${name}.two`,
          routes: [
            { provider: name, model: "bad-model", priority: 1 },
            { provider: "good", model: "good-model", priority: 2 },
          ],
        },
      ]),
    },
  });
  const scripts = new Map<string, { whole: Script; stream?: Script }>([
    ...EARLY.map((one) => [slug(one.name), one] as const),
    ...LATE.map(
      (one) =>
        [slug(one.name), { whole: () => begun(one, { content: content.promise, finish: finish.promise }) }] as const,
    ),
  ]);
  bad.answer((received) => {
    const script = scripts.get(received.path.split("/")[2]!)!;
    return (received.json?.["stream"] === true ? (script.stream ?? script.whole) : script.whole)(received);
  });
});
afterAll(async () => {
  await app.stop();
  await Promise.all([bad.stop(), good.stop()]);
  for (const one of raw) one.stop();
  blackhole.stop();
});

interface AskedFormat {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly streamType: string;
  /** The error of a request that was refused, and its other members. */
  error(body: Record<string, unknown>): Record<string, unknown>;
}
const error = (body: Record<string, unknown>) => body["error"] as Record<string, unknown>;
const FORMATS: Readonly<Record<"chat" | "messages" | "ollama", AskedFormat>> = {
  chat: { path: "/v1/chat/completions", body: {}, streamType: "text/event-stream; charset=utf-8", error },
  messages: { path: "/v1/messages", body: { max_tokens: 100 }, streamType: "text/event-stream; charset=utf-8", error },
  ollama: {
    path: "/api/chat",
    body: {},
    streamType: "application/x-ndjson",
    error: ({ error: message, ...rest }) => ({ ...rest, message }),
  },
};
type FormatName = keyof typeof FORMATS;
const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

const ask = (format: FormatName, model: string, stream: boolean) =>
  app.post(FORMATS[format].path, { ...FORMATS[format].body, model, messages: MESSAGES, stream });
const callsOf = (name: string) => bad.received.filter((one) => one.path.split("/")[2] === name).length;
async function failuresOf(name: string): Promise<number> {
  const { breakers } = (await (await fetch(`${app.url}/health`)).json()) as {
    breakers: Record<string, { failures: number }>;
  };
  return breakers[name]!.failures;
}

/** The events of a streamed answer, or its lines, each with its name, if any, and its parsed data. */
async function eventsOf(response: Response): Promise<{ event: string; data: Record<string, unknown> | "[DONE]" }[]> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("words")) content.resolve();
    if (/"(?:stop|end_turn)"/.test(text)) finish.resolve();
  }
  if (response.headers.get("content-type")?.includes("ndjson") === true) {
    const lines = text.split("\n").filter((line) => line !== "");
    return lines.map((line) => ({ event: "", data: JSON.parse(line) as Record<string, unknown> }));
  }
  return text
    .split("\n\n")
    .filter((frame) => frame.includes("data: "))
    .map((frame) => {
      const data = frame.slice(frame.indexOf("data: ") + 6);
      return {
        event: /^event: (.*)$/m.exec(frame)?.[1] ?? "",
        data: data === "[DONE]" ? "[DONE]" : (JSON.parse(data) as Record<string, unknown>),
      };
    });
}

/** The text of a whole or streamed answer. */
async function textOf(response: Response, format: FormatName, stream: boolean): Promise<string> {
  if (!stream) {
    const body = (await response.json()) as Record<string, never>;
    if (format === "ollama") return body["message"]!["content"]!;
    return format === "chat" ? body["choices"]![0]!["message"]!["content"]! : body["content"]![0]!["text"]!;
  }
  let out = "";
  for (const { data } of await eventsOf(response)) {
    if (data === "[DONE]") continue;
    expect(data["error"]).toBeUndefined();
    const chat = (data["choices"] as { delta: { content?: string } }[] | undefined)?.[0]?.delta.content;
    const line = (data["message"] as { content?: string } | undefined)?.content;
    out += chat ?? (data["delta"] as { text?: string } | undefined)?.text ?? line ?? "";
  }
  return out;
}

const CASES = FORMAT_NAMES.flatMap((format) => [false, true].map((stream) => [format, stream] as const));

describe.each(CASES)("before the first content, %s, stream %p", (format, stream) => {
  test.each(EARLY.map((failure) => [failure.name, failure] as const))("failing: %s", async (_name, failure) => {
    const name = slug(failure.name);
    const [callsBefore, failuresBefore] = [callsOf(name), await failuresOf(name)];
    const alone = await ask(format, `${name}.one`, stream);
    expect(alone.status).toBe(failure.told.status);
    expect(alone.headers.get("content-type")).toContain("application/json");
    expect(alone.headers.get("x-request-id")).not.toBeNull();
    expect(alone.headers.get("x-ratelimit-remaining")).not.toBeNull();
    const body = (await alone.json()) as Record<string, unknown>;
    const told = FORMATS[format].error(body);
    expect(told["code"]).toBe(failure.told.code);
    expect(body["type"]).toBe(format === "messages" ? "error" : undefined);
    if (failure.told.code === "invalid_request") {
      expect(told).toMatchObject({ message: "upstream words", param: "messages" });
    }
    expect(alone.headers.get("retry-after")).toBe(failure.name.includes("an hour") ? "3600" : null);
    expect(callsOf(name) - callsBefore).toBe(failure.calls);
    expect((await failuresOf(name)) - failuresBefore).toBe(failure.counts ? failure.calls : 0);

    const goodBefore = good.received.length;
    const both = await ask(format, `${name}.two`, stream);
    if (!failure.elsewhere) {
      expect(both.status).toBe(failure.told.status);
      expect(good.received.length).toBe(goodBefore);
      return;
    }
    expect(both.status).toBe(200);
    expect(both.headers.get("x-sallyport-route")).toBe("good/good-model");
    expect(await textOf(both, format, stream)).toBe("all is well");
    expect(good.received.length).toBe(goodBefore + 1);
    expect(good.received.at(-1)!.json).toMatchObject({ model: "good-model", stream });
    expect(good.received.at(-1)!.text).toContain(PROMPT);
    // Each route is tried once before any route is tried again.
    expect(callsOf(name) - callsBefore).toBe(failure.calls + 1);
    reported.input += 7;
    reported.output += 5;
  });

  test.each(LOW.map((name) => [name]))("%s", async (lowName) => {
    const name = slug(lowName);
    const before = await failuresOf(name);
    const alone = await ask(format, `${name}.one`, stream);
    const late = lowName === "connecting";
    expect(alone.status).toBe(late ? 504 : 502);
    const code = late ? "provider_timeout" : "provider_unavailable";
    expect(FORMATS[format].error((await alone.json()) as Record<string, unknown>)).toMatchObject({ code });
    expect((await failuresOf(name)) - before).toBe(2);
    const both = await ask(format, `${name}.two`, stream);
    expect(both.status).toBe(200);
    expect(await textOf(both, format, stream)).toBe("all is well");
    reported.input += 7;
    reported.output += 5;
  });
});

describe.each(FORMAT_NAMES)("after the first content, %s", (format) => {
  test.each(LATE.map((one) => [one.name, one] as const))("failing: %s", async (_name, late) => {
    const name = slug(late.name);
    const [callsBefore, failuresBefore, goodBefore] = [callsOf(name), await failuresOf(name), good.received.length];
    content = Promise.withResolvers<void>();
    finish = Promise.withResolvers<void>();
    const response = await ask(format, `${name}.two`, true);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(FORMATS[format].streamType);
    const events = await eventsOf(response);
    const last = events.at(-1)!;
    if (late.whole) {
      if (format === "chat") expect(last.data).toBe("[DONE]");
      else if (format === "ollama") expect(last.data).toMatchObject({ done: true, done_reason: "stop" });
      else expect(last.event).toBe("message_stop");
      expect(events.some(({ data }) => data !== "[DONE]" && data["error"] !== undefined)).toBe(false);
    } else {
      const told = { code: "provider_stream_interrupted", request_id: response.headers.get("x-request-id") };
      expect(last.data).toMatchObject({ error: format === "ollama" ? expect.any(String) : told });
      if (format === "messages") expect(last.event).toBe("error");
      const text = JSON.stringify(events);
      expect(text).not.toContain("up-secret");
      expect(text).not.toContain('"finish_reason":"');
      expect(text).not.toContain('"stop_reason":"');
      expect(text).not.toContain('"done":true');
      expect(events.filter(({ data }) => data === "[DONE]")).toEqual([]);
    }
    // There is never a fallback after the first content.
    expect(good.received.length).toBe(goodBefore);
    expect(callsOf(name) - callsBefore).toBe(1);
    expect((await failuresOf(name)) - failuresBefore).toBe(late.whole ? 0 : 1);
    reported.input += late.reported?.input ?? countTokens(PROMPT);
    reported.output += late.reported?.output ?? countTokens("partial words");
  });
});

describe("the usage rows", () => {
  test("each token is counted once, for its model and provider, also after a restart", async () => {
    await app.restart();
    const totals = (await (await fetch(`${app.url}/v1/stats/tokens`)).json()) as Record<string, number>;
    expect(totals).toMatchObject({ input_tokens: reported.input, output_tokens: reported.output });
    const store = openStore({ dataDir: app.dataDir });
    try {
      const rows = (await usageStore(store).listLog({ accountId: app.accountId }, { limit: 1000 })).rows;
      const paid = rows.filter(({ inputTokens, outputTokens }) => inputTokens + outputTokens > 0);
      // A failed call that used tokens has its own row, besides the row of the request.
      const calls = paid.filter(({ status }) => status !== 200);
      expect(rows.reduce((sum, { repeats }) => sum + repeats, 0) - calls.length).toBe(totals["requests"]!);
      for (const row of paid) {
        const late = LATE.find(({ name }) => row.model === `${slug(name)}.two`);
        expect(row.provider).toBe(late === undefined ? "good" : slug(late.name));
        expect(row.errorCode).toBe(late === undefined || late.whole ? null : "provider_stream_interrupted");
        expect(row.estimated).toBe(late !== undefined && late.reported === undefined);
      }
    } finally {
      store.close();
    }
  });

  test("no text from an upstream contained a key", () => {
    expect(JSON.stringify(app.logs)).not.toContain("up-secret");
    expect(JSON.stringify(app.logs)).not.toContain(PROMPT);
  });
});
