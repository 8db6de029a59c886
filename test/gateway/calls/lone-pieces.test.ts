// The pieces of a stream that arrive one by one: what each of them costs, and that they come out as if they had been polled for.

import { expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { LATER, type Polled } from "../../../src/base/later.ts";
import { type LiveAnswer, openLive } from "../../../src/gateway/calls/open-stream.ts";
import type { RouteAttempt } from "../../../src/gateway/calls/route-call.ts";
import { configureProvider } from "../../../src/upstream/configure.ts";
import type { WireClient } from "../../../src/upstream/connection/client.ts";
import { CallExchange } from "../../../src/upstream/connection/exchange.ts";
import type { WireAnswer } from "../../../src/upstream/connection/wire-answer.ts";
import type { RelayIdentity } from "../../../src/upstream/dialect.ts";
import { OpenaiChatRelay } from "../../../src/upstream/dialects/openai-chat/relay.ts";
import type { Provider } from "../../../src/upstream/provider.ts";
import { anyText } from "../../support/any-text.ts";

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

const identity = {
  id: "chatcmpl-ours",
  model: "ours",
  requestId: "r",
  includeUsage: true,
  createdSeconds: 1,
  settle: (told: unknown) => told ?? { inputTokens: 1, outputTokens: 1 },
  tell: ({ code, message }: { code: string; message: string }) => ({ code, message }),
} as unknown as RelayIdentity;

function frame(content: unknown, more: object = {}): string {
  const delta = content === undefined ? {} : { content };
  const choices = [{ index: 0, delta, finish_reason: null, ...more }];
  return `data: ${JSON.stringify({ id: "chatcmpl-theirs", object: "chat.completion.chunk", created: 1, model: "up", choices })}\n\n`;
}

const chunked = (bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);

/** A stream that has begun with a role and a text, with what counts its polls and gives it bytes. */
async function opened(idle = 60_000) {
  const answered = Promise.withResolvers<WireAnswer>();
  const exchange = new CallExchange(
    {
      ...{ method: "POST", head: "", isAscii: true, body: "", bodyBytes: 0, upload: undefined },
      firstByteMs: 60_000,
      late: () => new Error("late"),
    },
    { answered: answered.resolve, refused: answered.reject, again: () => {} },
  );
  exchange.ready({
    ...{ mayBeStale: false, send() {}, write() {}, pause() {}, resume() {}, release() {}, close() {} },
    whenTaken: () => Promise.resolve(),
  });
  const client = { call: () => ({ answer: answered.promise, stop() {} }) } as unknown as WireClient;
  const configured = configureProvider({
    ...{ name: "up", kind: "openai", baseUrl: "http://127.0.0.1:1/v1", apiKeys: ["k"], headers: {}, quirks: {} },
    timeoutMs: { connect: 60_000, firstByte: 60_000, idle },
    retry: { attempts: 1, baseMs: 1, maxMs: 1 },
  } as unknown as Parameters<typeof configureProvider>[0]) as Provider;
  const relay = new OpenaiChatRelay(identity);
  const opening = openLive(
    { provider: { ...configured, client } } as RouteAttempt,
    { path: "/chat/completions", headers: {}, body: "{}", dropped: [] },
    relay,
    { signal: new AbortController().signal, secret: "k", begun: () => {}, whole: () => relay },
  );
  const first = frame("", { delta: { role: "assistant", content: "" } }) + frame("Hello");
  exchange.received(Buffer.concat([Buffer.from(HEAD), chunked(Buffer.from(first))]));
  return { exchange, relay, live: await opening };
}

/** Reads a stream as a response does. `takes`: whether the client takes a text at this moment. */
class Reader {
  readonly texts: string[] = [];
  isOver = false;
  pushed = 0;
  readonly #live: LiveAnswer;
  readonly #takes: () => boolean;
  #isSlow = false;

  constructor(live: LiveAnswer, isPushed: boolean, takes: () => boolean) {
    this.#live = live;
    this.#takes = takes;
    if (isPushed) live.pushTo(this);
    this.run();
  }

  took(text: string | Uint8Array): boolean {
    if (this.#isSlow) return false;
    this.pushed++;
    this.#write(typeof text === "string" ? text : Buffer.from(text).toString());
    return true;
  }

  #write(text: string): void {
    this.texts.push(text);
    this.#isSlow = !this.#takes();
  }

  /** The client has read. */
  resume(): void {
    this.#isSlow = false;
    this.run();
  }

  readonly run = (): void => {
    while (!this.isOver && !this.#isSlow) {
      const text: Polled<string | undefined> = this.#live.poll(this.run);
      if (text === LATER) return;
      if (text === undefined) this.isOver = true;
      else if (text !== "") this.#write(text);
    }
  };
}

test("a piece that arrives alone is written once, without polls, timers and promises", async () => {
  const { exchange, live } = await opened();
  const poll = spyOn(exchange, "poll");
  const timers = spyOn(globalThis, "setTimeout");
  const promises = spyOn(Promise, "withResolvers");
  const reader = new Reader(live, true, () => true);
  const before = reader.texts.length;
  for (let i = 0; i < 100; i++) exchange.received(chunked(Buffer.from(frame(`word ${i}`))));
  const counts = [poll.mock.calls.length, reader.pushed, reader.texts.length - before];
  // The only poll is the one that began to wait.
  expect(counts).toEqual([1, 100, 100]);
  expect([timers.mock.calls.length, promises.mock.calls.length]).toEqual([0, 0]);
  expect(reader.texts.at(-1)).toBe(
    frame("word 99").replace("chatcmpl-theirs", "chatcmpl-ours").replace('"up"', '"ours"'),
  );
  for (const spy of [poll, timers, promises]) spy.mockRestore();
  live.cancel();
});

test("a client that does not read is given nothing more", async () => {
  const { exchange, live } = await opened();
  let takes = true;
  const reader = new Reader(live, true, () => takes);
  takes = false;
  for (const text of ["a", "b", "c", "d"]) exchange.received(chunked(Buffer.from(frame(text))));
  expect(reader.texts.join("")).toContain('"a"');
  expect(reader.texts.join("")).not.toContain('"b"');
  takes = true;
  reader.resume();
  expect([...reader.texts.join("").matchAll(/"content":"(.)"/g)].map(([, text]) => text)).toEqual(["a", "b", "c", "d"]);
  live.cancel();
});

test("a provider is not taken for silent while the client does not read", async () => {
  const slow = await opened(20);
  let takes = true;
  const reader = new Reader(slow.live, true, () => takes);
  takes = false;
  for (const text of ["a", "b", "c"]) slow.exchange.received(chunked(Buffer.from(frame(text))));
  // Its provider is silent, and for less long.
  const { live } = await opened(20);
  const other = new Reader(live, true, () => true);
  while (!other.isOver) await new Promise(setImmediate);
  expect(other.texts.join("")).toContain('"error"');
  takes = true;
  reader.resume();
  slow.exchange.received(chunked(Buffer.from(`${frame("d", { finish_reason: "stop" })}data: [DONE]\n\n`)));
  expect(reader.isOver).toBe(true);
  expect(reader.texts.join("")).not.toContain('"error"');
  expect(reader.texts.join("")).toEndWith("data: [DONE]\n\n");
});

/** Texts and frames that must not be taken for a frame like the last one. */
const pieces = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.string({ maxLength: 12 }).map((text) => frame(text)) },
    anyText({ maxLength: 12 }).map((text) => frame(text)),
    fc.constantFrom("a".repeat(300), "ü", "\u007f", "\\", '"', "\n", "\u0000", "").map((text) => frame(text)),
    fc.constantFrom(
      ": keepalive\n\n",
      frame("x").replaceAll("\n", "\r\n"),
      `${frame("x").slice(0, -2)}\r`,
      "\n\n",
      frame("x").replace('"x"', '"x\ry"'),
      frame("x").replace("theirs", "other"),
      frame(undefined, { delta: { reasoning: "hm" } }),
      frame(undefined, { finish_reason: "stop" }),
      "data: [DONE]\n\n",
      "data: {not JSON}\n\n",
    ),
  ),
  { maxLength: 20 },
);

test("what the client gets does not depend on whether it is pushed or polled for, or how it is split", async () => {
  const trial = async (
    parts: readonly string[],
    cuts: readonly number[],
    refusals: readonly boolean[],
    isPushed: boolean,
  ) => {
    const { exchange, live, relay } = await opened();
    let at = 0;
    const reader = new Reader(live, isPushed, () => refusals[at++ % refusals.length] !== true);
    const sent = (bytes: Buffer) => {
      exchange.received(bytes);
      // A slow client reads on at some moment.
      if (at % 3 === 0) reader.resume();
    };
    for (const [index, part] of parts.entries()) {
      const bytes = chunked(Buffer.from(part));
      const cut = (cuts[index % cuts.length] as number) % bytes.length;
      if (cut > bytes.length / 2) sent(bytes);
      else
        for (const half of [bytes.subarray(0, cut), bytes.subarray(cut)]) if (half.length > 0) sent(Buffer.from(half));
    }
    exchange.ended(true, undefined);
    await Promise.resolve();
    for (let i = 0; i < 100 && !reader.isOver; i++) reader.resume();
    return [reader.texts.join(""), relay.output.toString(), relay.output.chars, reader.isOver, relay.fault?.code];
  };
  await fc.assert(
    fc.asyncProperty(
      pieces,
      fc.array(fc.nat(500), { minLength: 1, maxLength: 8 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
      async (parts, cuts, refusals) => {
        const pushed = await trial(parts, cuts, refusals, true);
        const polled = await trial(parts, [0], [false], false);
        expect(pushed).toEqual(polled);
      },
    ),
    { numRuns: 300 },
  );
});
