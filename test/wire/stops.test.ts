// Every piece of an answer may be compared with each stop sequence, so there are not too many of them.

import { expect, test } from "bun:test";
import { chatCompletionsFormat } from "../../src/wire/chat-completions/format.ts";
import { completionsFormat } from "../../src/wire/completions/format.ts";
import { geminiFormat } from "../../src/wire/gemini/format.ts";
import { messagesFormat } from "../../src/wire/messages/format.ts";
import { ollamaChatFormat } from "../../src/wire/ollama/format.ts";
import { expectRejected } from "./support.ts";

const messages = [{ role: "user", content: "x" }];
const FORMATS = [
  { format: chatCompletionsFormat, param: "stop", body: (stop: string[]) => ({ messages, stop }) },
  { format: completionsFormat, param: "stop", body: (stop: string[]) => ({ prompt: "x", stop }) },
  {
    format: messagesFormat,
    param: "stop_sequences",
    body: (stop: string[]) => ({ max_tokens: 9, messages, stop_sequences: stop }),
  },
  {
    format: geminiFormat,
    param: "generationConfig.stopSequences",
    body: (stop: string[]) => ({
      contents: [{ parts: [{ text: "x" }] }],
      generationConfig: { stopSequences: stop },
    }),
  },
  { format: ollamaChatFormat, param: "options.stop", body: (stop: string[]) => ({ messages, options: { stop } }) },
];

test.each(FORMATS.map((one) => ({ ...one, name: one.format.name })))(
  "a thousand in $name",
  ({ format, param, body }) => {
    const stops = Array.from({ length: 1001 }, (_, at) => `s${at}`);
    const decode = (some: string[]) => format.decode({ model: "m", ...body(some) }, {});
    expect(decode(stops.slice(1)).stop).toEqual(stops.slice(1));
    expectRejected(() => decode(stops), param);
  },
);
