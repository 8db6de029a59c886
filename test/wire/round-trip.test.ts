// A format and the dialect of the same protocol are inverse: each reads what the other writes.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseFrames } from "../../src/base/sse.ts";
import type { ChatEvent } from "../../src/chat/event.ts";
import { fold } from "../../src/chat/fold.ts";
import type { Dialect, RequestContext } from "../../src/upstream/dialect.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { openaiResponses } from "../../src/upstream/dialects/responses/dialect.ts";
import type { WireFormat } from "../../src/wire/format.ts";
import { messagesFormat } from "../../src/wire/messages/format.ts";
import { responsesFormat } from "../../src/wire/responses/format.ts";
import { MESSAGES_BODY, RESPONSES_BODY } from "./bodies.ts";
import { orderlyAnswer } from "./events.ts";
import { exchangeFor, type Json, streamOf } from "./support.ts";

const PAIRS: [string, WireFormat, Dialect, Json][] = [
  [
    "messages",
    messagesFormat,
    anthropicMessages,
    { model: "m", max_tokens: 10, messages: [{ role: "user", content: "hi" }] },
  ],
  ["responses", responsesFormat, openaiResponses, { model: "m", input: "hi" }],
];

const context: RequestContext = {
  model: "m",
  stream: false,
  quirks: {},
  supportsReasoning: true,
  maxOutputTokens: 4096,
  clientHeaders: {},
};

describe.each(PAIRS)("%s", (_name, format, dialect, body) => {
  const exchange = exchangeFor(format, body);
  const once = (events: readonly ChatEvent[]) => format.encode(fold(events), exchange);

  test("a stream that is read back has the same content", () => {
    fc.assert(
      fc.property(orderlyAnswer, (events) => {
        const answer = withoutEmptyText(events);
        const reader = dialect.reader();
        const read: ChatEvent[] = [];
        for (const frame of parseFrames(streamOf(format.writer(exchange), answer))) reader.push(frame, read);
        reader.end(read);
        expect(once(read)).toEqual(once(answer));
      }),
      { numRuns: 200 },
    );
  });

  test("a whole answer that is read back has the same content", () => {
    fc.assert(
      fc.property(orderlyAnswer, (events) => {
        const whole = once(withoutEmptyText(events));
        expect(once(dialect.events(JSON.parse(JSON.stringify(whole))))).toEqual(whole);
      }),
      { numRuns: 200 },
    );
  });
});

/** Removes empty texts, because readers leave them out. */
function withoutEmptyText(events: readonly ChatEvent[]): ChatEvent[] {
  const said = new Set(events.flatMap((event) => (event.type === "text-delta" && event.text !== "" ? [event.id] : [])));
  return events.filter((event) => !event.type.startsWith("text-") || ("id" in event && said.has(String(event.id))));
}

const REQUESTS: [string, WireFormat, Dialect, Json][] = [
  ["messages", messagesFormat, anthropicMessages, MESSAGES_BODY],
  ["responses", responsesFormat, openaiResponses, RESPONSES_BODY],
];

test.each(REQUESTS)("a request of %s that is written and read again is the same", (_name, format, dialect, body) => {
  const chat = format.decode(body, {});
  const written = dialect.request(chat, { ...context, model: chat.model });
  expect(written.dropped).toEqual([]);
  const again = format.decode(JSON.parse(written.body), {});
  // The dialect itself adds values to `include`, such as the sealed form of reasoning.
  const { include: _include, ...extra } = again.extra;
  expect({ ...again, extra }).toEqual(chat);
});
