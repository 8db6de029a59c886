// An upstream with a small window that refuses longer prompts with the error of its protocol, and a client that talks to it for
// hundreds of turns in its own format. A request for a summary is answered with the facts in its input.

import type { Element } from "../../../../src/chat/entries.ts";
import { answerElements } from "../../../../src/wire/assembled.ts";
import { type DialectName, dialectOf, type Said, say } from "../../../support/fake-model.ts";
import type { Received } from "../../../support/upstream.ts";
import { elementsOf, FORMATS, type FormatName } from "./fixture.ts";

/** The text by which a request for a summary is recognised. */
const SUMMARY = "You keep the record of a conversation";
const FACT = /fact-\d+ is v\d+x/g;

/** The requests that an upstream received. */
export interface Seen {
  /** The bodies of the requests for summaries, and of all others. */
  summaries: string[];
  turns: Received[];
  refusals: number;
}

/** An upstream that answers a prompt that fits as the script says, and refuses all others. */
export function tightUpstream(options: { window: number; say(received: Received, turn: number): Said }): {
  seen: Seen;
  script(received: Received): Response;
} {
  const seen: Seen = { summaries: [], turns: [], refusals: 0 };
  return {
    seen,
    script(received) {
      const tokens = Math.ceil(received.text.length / 4);
      if (tokens > options.window) {
        seen.refusals++;
        return tooLong(dialectOf(received.path), tokens, options.window);
      }
      const usage = { input: tokens, output: 5 };
      if (received.text.includes(SUMMARY)) {
        seen.summaries.push(received.text);
        const facts = [...new Set(received.text.match(FACT))];
        return say(received, { text: `## Task\nTalk.\n## State of the work\n${facts.join(". ")}`, usage });
      }
      seen.turns.push(received);
      return say(received, { usage, ...options.say(received, seen.turns.length) });
    },
  };
}

/** A model that calls a tool in every third turn and answers with text in the others. */
export function lookingModel(): (received: Received, turn: number) => Said {
  let calls = 0;
  return (_, turn) =>
    turn % 3 === 1
      ? { calls: [{ id: `call_${calls++}`, name: "look", args: { file: `src/part-${turn}.ts` } }] }
      : { text: `answer ${turn}: ${"as was said ".repeat(6)}` };
}

/** The response of a provider that refuses a prompt that is too long. */
export function tooLong(dialect: DialectName, tokens: number, window: number): Response {
  const status = 400;
  switch (dialect) {
    case "openai-chat": {
      const message = `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`;
      return Response.json(
        { error: { message, type: "invalid_request_error", code: "context_length_exceeded" } },
        { status },
      );
    }
    case "openai-responses": {
      const message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
      return Response.json(
        { error: { message, type: "invalid_request_error", code: "context_length_exceeded" } },
        { status },
      );
    }
    case "anthropic-messages": {
      const error = {
        type: "invalid_request_error",
        message: `prompt is too long: ${tokens} tokens > ${window} maximum`,
      };
      return Response.json({ type: "error", error }, { status });
    }
    default: {
      const message = `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`;
      return Response.json({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }, { status });
    }
  }
}

/** The path of each format, and the members of a request besides its list. */
export const PATHS: Record<FormatName, string> = {
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  "anthropic-messages": "/v1/messages",
};

const parameters = { type: "object", properties: { file: { type: "string" } } };
const look = { name: "look", description: "Looks into a file." };

/** The body of a request. */
export function bodyOf(format: FormatName, model: string, list: readonly Element[], more: Element = {}): Element {
  switch (format) {
    case "openai-chat":
      return { model, messages: list, tools: [{ type: "function", function: { ...look, parameters } }], ...more };
    case "openai-responses":
      return { model, input: list, store: false, tools: [{ type: "function", ...look, parameters }], ...more };
    case "anthropic-messages":
      return { model, max_tokens: 100, messages: list, tools: [{ ...look, input_schema: parameters }], ...more };
  }
}

/** A client that keeps its whole history and sends it each time. */
export class Talker {
  readonly list: Element[] = [];
  readonly #format: FormatName;
  #lastCall: string | undefined;

  constructor(format: FormatName) {
    this.#format = format;
  }

  /** The client's next message: a tool result if a tool was called. */
  speak(text: string, result: string): void {
    if (this.#lastCall === undefined) this.list.push(...elementsOf(this.#format, [{ kind: "user", text }]));
    else {
      const call = { id: this.#lastCall, name: "look", args: "", result };
      // The call itself is already in the list, as part of the answer.
      this.list.push(...elementsOf(this.#format, [{ kind: "tools", calls: [call] }]).slice(1));
    }
    this.#lastCall = undefined;
  }

  /** Adds an answer, whole or streamed, to the history. */
  hear(text: string): void {
    const elements = answerElements(FORMATS[this.#format], text);
    if (elements.length === 0) throw new Error(`No answer: ${text.slice(0, 300)}`);
    this.list.push(...elements);
    const call = /"(?:call_id|id)":"(call_\d+)"/.exec(JSON.stringify(elements));
    this.#lastCall = call?.[1];
  }
}
