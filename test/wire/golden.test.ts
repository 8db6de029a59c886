// Neutral answers and their form in each client format, streamed and whole. A missing golden file fails the test. UPDATE_GOLDEN=1
// rewrites the files.

import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EditedContext } from "../../src/chat/context-edits.ts";
import type { ChatEvent } from "../../src/chat/event.ts";
import { fold } from "../../src/chat/fold.ts";
import { chatCompletionsFormat } from "../../src/wire/chat-completions/format.ts";
import { completionsFormat } from "../../src/wire/completions/format.ts";
import { WIRE_FORMATS } from "../../src/wire/index.ts";
import { messagesFormat } from "../../src/wire/messages/format.ts";
import { responsesFormat } from "../../src/wire/responses/format.ts";
import { gatherChat } from "./chat-order.ts";
import { gatherMessage } from "./messages-order.ts";
import { gatherResponse } from "./responses-order.ts";
import { exchangeFor, type Json, readStream, requestOf, streamOf } from "./support.ts";

const GOLDEN = join(import.meta.dir, "../golden");
// Answers that were read from an upstream's golden have their own files. These were written for the client formats.
const cases = readdirSync(join(GOLDEN, "neutral")).filter((name) => /^answer-.*\.jsonl$/.test(name));

/** Answers to requests whose conversations the gateway has edited. */
const EDITED: Readonly<Record<string, EditedContext>> = {
  "answer-edited": {
    cleared: [
      { type: "clear-reasoning", count: 2, tokens: 300 },
      { type: "clear-results", count: 5, tokens: 4000 },
    ],
    record: undefined,
    usage: { inputTokens: 900, outputTokens: 120 },
  },
};

test("there are golden answers", () => expect(cases.length).toBeGreaterThan(10));

describe.each(WIRE_FORMATS.map((format) => [format.name, format] as const))("%s", (_name, format) => {
  const folder = join(GOLDEN, "wire", format.name);
  test.each(cases)("%s", (file) => {
    const name = file.replace(/\.jsonl$/, "");
    const edited = EDITED[name];
    const exchange = { ...exchangeFor(format, requestOf(format)), ...(edited === undefined ? {} : { edited }) };
    const lines = readFileSync(join(GOLDEN, "neutral", file), "utf8")
      .trim()
      .split("\n");
    const events = lines.map((line) => JSON.parse(line) as ChatEvent);
    compare(join(folder, `${name}.sse`), streamOf(format.writer(exchange), events));
    if (events.at(-1)?.type !== "error") {
      const whole = format.encode(fold(events), exchange);
      compare(join(folder, `${name}.json`), `${JSON.stringify(whole, null, 2)}\n`);
    }
  });
});

/**
 * Every neutral answer, including those that were read from a dialect's golden: the streams of all formats keep the order of
 * their protocol.
 */
describe("answers read from upstreams", () => {
  const names = readdirSync(join(GOLDEN, "neutral")).filter((name) => name.endsWith(".jsonl"));
  test.each(names)("%s", (file) => {
    const lines = readFileSync(join(GOLDEN, "neutral", file), "utf8")
      .trim()
      .split("\n");
    const events = lines.map((line) => JSON.parse(line) as ChatEvent);
    const [asMessage, asCompletion, asResponse, asChat] = [
      messagesFormat,
      completionsFormat,
      responsesFormat,
      chatCompletionsFormat,
    ].map((format) => readStream(streamOf(format.writer(exchangeFor(format, requestOf(format))), events)));
    if (events.at(-1)?.type === "error") {
      // An answer that breaks off ends with an error at the top level of its payload, and without the terminator of a complete
      // answer.
      for (const stream of [asCompletion, asMessage, asResponse, asChat]) {
        expect(stream?.frames.at(-1)?.data["error"]).toMatchObject({ request_id: "req-1" });
        expect(stream?.done).toBe(false);
      }
      return;
    }
    expect(asCompletion?.done).toBe(true);
    const chatExchange = exchangeFor(chatCompletionsFormat, {
      model: "m",
      messages: [{ role: "user", content: "hi" }],
    });
    expect(gatherChat(asChat?.frames ?? [])).toEqual(
      chatCompletionsFormat.encode(fold(events), chatExchange)["choices"] as Json[],
    );
    expect(gatherMessage(asMessage?.frames ?? [])["type"]).toBe("message");
    expect(gatherResponse(asResponse?.frames ?? [])["object"]).toBe("response");
  });
});

function compare(path: string, actual: string): void {
  if (process.env["UPDATE_GOLDEN"] === "1") {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, actual);
  }
  expect(actual).toBe(readFileSync(path, "utf8"));
}
