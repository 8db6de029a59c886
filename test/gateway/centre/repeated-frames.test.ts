// Frames that repeat the last one with another text are not parsed, and what the client gets is the same as if they were.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FrameCutter } from "../../../src/base/sse.ts";
import { Translation } from "../../../src/gateway/centre/translation.ts";
import type { EventReader, RelayIdentity } from "../../../src/upstream/dialect.ts";
import { DIALECTS } from "../../../src/upstream/dialects/index.ts";
import { WIRE_FORMATS } from "../../../src/wire/index.ts";
import { garbledStream } from "../../support/garbled.ts";
import { readStream, transcripts } from "../../support/transcripts.ts";
import { exchangeFor, requestOf } from "../../wire/support.ts";

const json = JSON.stringify;
const named = (data: { type: string; [name: string]: unknown }) => `event: ${data.type}\ndata: ${json(data)}\n\n`;
const chunk = (data: object) => `data: ${json(data)}\n\n`;
const choice = (delta: object, more: object = {}) => ({ id: "c", choices: [{ index: 0, delta, ...more }] });
const delta = (kind: string, member: string, index: number) => (text: string) =>
  named({ type: "content_block_delta", index, delta: { type: kind, [member]: text } });
const part = (more: object, counts: (text: string) => object) => (text: string) =>
  chunk({
    candidates: [{ content: { role: "model", parts: [{ text, ...more }] }, index: 0 }],
    usageMetadata: counts(text),
    responseId: "r",
  });
const output = (at: number, more: object) => (text: string) =>
  named({
    type: "response.output_text.delta",
    sequence_number: text.length * 7,
    item_id: `m${at}`,
    output_index: at,
    content_index: 0,
    delta: text,
    obfuscation: "x".repeat(text.length % 5),
    ...more,
  });

interface Sample {
  readonly open: string;
  readonly close: string;
  /** Frames with a text, of kinds that come in any order. */
  readonly frames: readonly ((text: string) => string)[];
}

const SAMPLES: Readonly<Record<string, Sample>> = {
  "openai-chat": {
    open: chunk(choice({ role: "assistant", content: "" })),
    frames: [
      (content) => chunk(choice({ content })),
      (content) => chunk(choice({ content }, { logprobs: null, finish_reason: null })),
      (content) => chunk(choice({ role: "assistant", content })),
      (reasoning_content) => chunk(choice({ content: null, reasoning_content })),
      (content) =>
        chunk({ ...choice({ content }), usage: { prompt_tokens: 3, completion_tokens: content.length + 1 } }),
      (content) => chunk(choice({ content }, { logprobs: { content: [{ token: content, logprob: -1 }] } })),
      (content) => chunk({ ...choice({ content }), citations: ["https://example.com"] }),
      (content) => chunk({ choices: [{ index: 1, delta: { content } }] }),
      (refusal) => chunk(choice({ refusal })),
      (text) => chunk(choice({ content: "same", other: text })),
      // No valid JSON if the text is a tab.
      (content) => chunk(choice({ content })).replaceAll("\\t", "\t"),
      () => ": ping\n\n",
    ],
    close: `${chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}${chunk({ choices: [{ index: 1, delta: { content: "" }, finish_reason: "stop" }] })}data: [DONE]\n\n`,
  },
  "anthropic-messages": {
    open:
      named({ type: "message_start", message: { id: "m", model: "c", usage: { input_tokens: 2, output_tokens: 1 } } }) +
      named({ type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } }) +
      named({ type: "content_block_start", index: 1, content_block: { type: "text", text: "" } }),
    frames: [
      delta("text_delta", "text", 1),
      delta("thinking_delta", "thinking", 0),
      delta("text_delta", "text", 2),
      delta("signature_delta", "signature", 0),
      () => named({ type: "content_block_stop", index: 1 }),
      () => named({ type: "ping" }),
      () => ": comment\n\n",
    ],
    close: `${named({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } })}${named({ type: "message_stop" })}`,
  },
  gemini: {
    open: "",
    frames: [
      part({}, (text) => ({
        promptTokenCount: 4,
        candidatesTokenCount: text.length,
        totalTokenCount: text.length + 4,
      })),
      part({}, (text) => ({ promptTokenCount: 4, totalTokenCount: text.length })),
      part({ thought: true }, (text) => ({ promptTokenCount: 4, thoughtsTokenCount: text.length })),
      part({ thoughtSignature: "c2ln" }, () => ({})),
      (text) =>
        chunk({ candidates: [{ content: { parts: [{ text }] }, groundingMetadata: { webSearchQueries: [text] } }] }),
    ],
    close: chunk({ candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP", index: 0 }] }),
  },
  "openai-responses": {
    open:
      named({ type: "response.created", response: { id: "r", model: "c" } }) +
      named({ type: "response.output_item.added", output_index: 0, item: { id: "m0", type: "message" } }),
    frames: [
      output(0, { logprobs: [] }),
      output(0, {}),
      output(1, {}),
      output(0, { logprobs: [{ token: "a", logprob: -1 }] }),
      (text) => named({ type: "response.reasoning_summary_text.delta", item_id: "s", summary_index: 0, delta: text }),
      (text) => named({ type: "response.output_text.done", item_id: "m0", content_index: 0, text: `${text}${text}` }),
    ],
    close: named({ type: "response.completed", response: { id: "r", model: "c", status: "completed", output: [] } }),
  },
};

const TEXTS = [
  "a",
  " word",
  "é",
  "字😀",
  'say "this"',
  "line\n",
  "back\\slash",
  "\u0000",
  "\t",
  "\u2028",
  "",
  "}}]}",
  "\ud800",
];

const PLAIN_TEXTS = ["a", " word", "}}]}", "\u007f", "z".repeat(256), "z".repeat(257)];
const MOSTLY_PLAIN = [...TEXTS, ...Array.from({ length: 8 }, () => PLAIN_TEXTS).flat()];

/** Runs of frames of one kind, as they come in streams, with any others between them. */
const runs = ({ open, frames, close }: Sample, texts: readonly string[] = TEXTS, maxLength = 6) =>
  fc
    .array(fc.tuple(fc.nat(frames.length - 1), fc.array(fc.constantFrom(...texts), { minLength: 1, maxLength })), {
      maxLength: 6,
    })
    .map(
      (all) =>
        `${open}${all.map(([kind, texts]) => texts.map((text) => frames[kind]?.(text)).join("")).join("")}${close}`,
    );

/** The same reader, which is given every frame. */
function parsing(reader: EventReader): EventReader {
  return { push: (frame, out) => reader.push(frame, out), end: (out) => reader.end(out) };
}

const identity: Pick<RelayIdentity, "settle" | "tell" | "requestId"> = {
  requestId: "r",
  settle: (told, written) => ({ ...(told ?? { inputTokens: 1, outputTokens: 1 }), reasoningTokens: written.chars }),
  tell: ({ code, message }) => ({ code, message, type: "provider_error", param: null }),
};

const EXCHANGES = WIRE_FORMATS.map((format) => ({ format, exchange: exchangeFor(format, requestOf(format)) }));

/** The formats whose writers say what stands around a text. */
const REPEATING = EXCHANGES.flatMap(({ format, exchange }, at) =>
  format.writer(exchange).around === undefined ? [] : [at],
);

/** How many frames that arrived alone were rewritten as bytes. */
let rewrites = 0;

/** Where the frames of a stream end. */
function frameEnds(stream: string): number[] {
  const bytes = Buffer.from(stream);
  const ends: number[] = [];
  for (let at = bytes.indexOf("\n\n"); at >= 0; at = bytes.indexOf("\n\n", at + 2)) ends.push(at + 2);
  return ends;
}

function translated(
  reader: EventReader,
  stream: string,
  at: number,
  cuts: readonly number[],
  cutAt?: readonly string[],
) {
  const { format, exchange } = EXCHANGES[at] as (typeof EXCHANGES)[number];
  const { request } = exchange;
  const writer = format.writer(exchange);
  const translation = new Translation({ ...identity, reader, writer, request: { ...request, tools: [] }, cutAt });
  const cutter = new FrameCutter();
  const bytes = Buffer.from(stream);
  let out = "";
  let from = 0;
  let rewritten = 0;
  for (const to of [...[...cuts].sort((a, b) => a - b).filter((cut) => cut < bytes.length), bytes.length]) {
    const frame = cutter.isBetweenFrames ? translation.rewritten(bytes, from, to) : undefined;
    if (frame !== undefined) rewritten++;
    out += frame === undefined ? translation.push(cutter.push(bytes, from, to)) : Buffer.from(frame).toString();
    from = to;
  }
  out += translation.push(cutter.end()) + translation.end();
  const { fault, usage, finished, output: written } = translation;
  rewrites += rewritten;
  return { out, fault, usage, finished, text: written.toString() };
}

const cuts = fc.array(fc.nat(3000), { maxLength: 8 });

describe.each(DIALECTS.map((dialect) => [dialect.name, dialect] as const))("%s", (name, dialect) => {
  const sample = SAMPLES[name] as Sample;

  test("what clients of every format get is the same", () => {
    const format = fc.nat(EXCHANGES.length - 1);
    const stops = fc.constantFrom(undefined, ["wor", "te"]);
    fc.assert(
      fc.property(runs(sample), format, cuts, stops, (stream, at, cut, stop) => {
        const expected = translated(parsing(dialect.reader()), stream, at, [], stop);
        expect(translated(dialect.reader(), stream, at, cut, stop)).toEqual(expected);
      }),
      { numRuns: 400 },
    );
  });

  test("so is what they get of frames that arrive alone", () => {
    const format = fc.constantFrom(...REPEATING);
    const stops = fc.constantFrom(undefined, undefined, undefined, ["wor", "te"]);
    rewrites = 0;
    fc.assert(
      fc.property(runs(sample, MOSTLY_PLAIN, 16), format, cuts, stops, (stream, at, cut, stop) => {
        const expected = translated(parsing(dialect.reader()), stream, at, [], stop);
        const alone = [...frameEnds(stream), ...cut];
        expect(translated(dialect.reader(), stream, at, alone, stop)).toEqual(expected);
      }),
      { numRuns: 400 },
    );
    // Where more than the text varies, or a reader needs each frame, none is.
    if (name === "openai-chat" || name === "anthropic-messages") expect(rewrites).toBeGreaterThan(100);
    else expect(rewrites).toBe(0);
  });

  test("so are the events of streams with errors in them", () => {
    fc.assert(
      fc.property(garbledStream(name, transcripts(name)), cuts, (stream, cut) => {
        const bytes = new TextEncoder().encode(stream);
        const events = (reader: EventReader) =>
          json(readStream(reader, bytes, cut)).replace(/call_[0-9a-f]{32}/g, "call");
        expect(events(dialect.reader())).toBe(events(parsing(dialect.reader())));
      }),
      { numRuns: 150 },
    );
  });

  /** How many frames of a stream the reader is given, and the text that was read. */
  function given(stream: string) {
    let read = 0;
    const reader = dialect.reader();
    const counting: EventReader = {
      plain: reader.plain as NonNullable<EventReader["plain"]>,
      push: (frame, out) => {
        read++;
        reader.push(frame, out);
      },
      end: (out) => reader.end(out),
    };
    const { text, finished } = translated(counting, stream, 0, []);
    expect(finished).toBe(true);
    return { read, text };
  }

  test("the reader gets the first of them alone", () => {
    const texts = Array.from({ length: 100 }, (_, at) => ` "word"\n${at}`);
    const stream = sample.open + texts.map((text) => sample.frames[0]?.(text)).join("") + sample.close;
    const { read, text } = given(stream);
    expect(text).toStartWith(texts.join(""));
    // What opens and closes the stream, and the frames that are learned.
    expect(read).toBeLessThan(10);
  });

  test("the reader gets all of them if they are large, since what is learned of them is kept", () => {
    const large = (text: string) => sample.frames[0]?.(text).replace(/}\n\n$/, `,"more":"${"x".repeat(70_000)}"}\n\n`);
    const texts = Array.from({ length: 20 }, (_, at) => `a${at}`);
    const { read, text } = given(sample.open + texts.map(large).join("") + sample.close);
    expect(text).toStartWith(texts.join(""));
    expect(read).toBeGreaterThan(texts.length);
  });
});
