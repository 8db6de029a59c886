// Damaged streams: every reader and relay handles recorded answers with damage, and so does the writer of the client's format.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError, ERRORS } from "../../src/base/errors.ts";
import { parseFrames } from "../../src/base/sse.ts";
import type { ChatEvent } from "../../src/chat/event.ts";
import { fold } from "../../src/chat/fold.ts";
import { grammarFaults } from "../../src/chat/grammar.ts";
import { ToolGuard } from "../../src/chat/tool-guard.ts";
import { DIALECTS } from "../../src/upstream/dialects/index.ts";
import { WIRE_FORMATS } from "../../src/wire/index.ts";
import { garbledStream } from "../support/garbled.ts";
import { readStream, relayStream, transcripts } from "../support/transcripts.ts";
import { exchangeFor } from "../wire/support.ts";
import { identity } from "./support.ts";

const REASONS = new Set(
  "stop length tool_calls content_filter refusal stop_sequence pause context_window unknown".split(" "),
);

const encode = (text: string) => new TextEncoder().encode(text);

/** Whether JSON can express the value. */
function isPlain(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object") return ["string", "boolean"].includes(typeof value);
  return value === null || Object.values(value).every(isPlain);
}

/** Checks that the events are in legal order and consist of plain data with known values. */
function expectSound(events: readonly ChatEvent[]): void {
  expect(grammarFaults(events)).toEqual([]);
  expect(events.every(isPlain)).toBe(true);
  for (const event of events) {
    if (event.type === "finish") expect(REASONS).toContain(event.reason);
    if (event.type === "error") expect(Object.keys(ERRORS)).toContain(event.code);
  }
}

/** The result, or the public error. */
function folded(events: readonly ChatEvent[]): ReturnType<typeof fold> | ApiError {
  try {
    return fold(events);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

const EXCHANGES = WIRE_FORMATS.map((format) => {
  const asked =
    format.name === "openai-completions"
      ? { prompt: "hi" }
      : format.name === "openai-responses"
        ? { input: "hi" }
        : format.name === "gemini"
          ? { contents: [{ role: "user", parts: [{ text: "hi" }] }] }
          : { max_tokens: 9, messages: [{ role: "user", content: "hi" }] };
  return { format, exchange: exchangeFor(format, { model: "m", ...asked }) };
});

/** The error at the end of a relayed stream, in the shape of its protocol. */
function errorOf(name: string, code: keyof typeof ERRORS): object {
  const { requestId: request_id } = identity;
  if (name !== "gemini") return { error: { code, request_id } };
  return { error: { code: ERRORS[code].status, details: [{ reason: code, metadata: { request_id } }] } };
}

describe.each(DIALECTS.map((dialect) => [dialect.name, dialect] as const))("%s", (name, dialect) => {
  const stream = garbledStream(name, transcripts(name));

  test("is read, and written in every format", () => {
    fc.assert(
      fc.property(stream, (text) => {
        const events = readStream(dialect.reader(), encode(text));
        expectSound(events);
        const guarded: ChatEvent[] = [];
        const guard = new ToolGuard();
        for (const event of events) if (guarded.at(-1)?.type !== "error") guard.push(event, guarded);
        const ended = guarded.at(-1)?.type === "finish";
        const result = folded(events);
        for (const { format, exchange } of EXCHANGES) {
          const writer = format.writer(exchange);
          const out = guarded.map((event) => writer.push(event)).join("") + (ended ? writer.end() : "");
          for (const { data } of parseFrames(out)) if (data !== "[DONE]") JSON.parse(data);
          if (!(result instanceof ApiError)) JSON.stringify(format.encode(result, exchange));
        }
      }),
      { numRuns: 150 },
    );
  });

  test("is relayed, correctly or with an error at its end", () => {
    fc.assert(
      fc.property(stream, fc.boolean(), (text, includeUsage) => {
        const relay = dialect.lossless.relay({ ...identity, includeUsage });
        const frames = parseFrames(relayStream(relay, encode(text))).filter(({ data }) => data !== "[DONE]");
        const sent = frames.map(({ data }) => JSON.parse(data));
        expect(relay.finished).toBe(relay.fault === undefined);
        if (relay.fault !== undefined) {
          expect(Object.keys(ERRORS)).toContain(relay.fault.code);
          expect(sent.at(-1)).toMatchObject(errorOf(name, relay.fault.code));
        }
        expect(typeof relay.output.toString()).toBe("string");
        expect(isPlain(relay.usage ?? {})).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});
