// Conversations with tools in each client format, and a summariser that knows only its input.

import { type Flights, ownFlights } from "../../../../src/base/flights.ts";
import type { Element, EntryFormat } from "../../../../src/chat/entries.ts";
import { Compactor, type Conversation } from "../../../../src/gateway/stages/compaction/compactor.ts";
import { TokenMemory } from "../../../../src/gateway/stages/compaction/measure.ts";
import { CompactionMemory, type CompactionStore } from "../../../../src/gateway/stages/compaction/memory.ts";
import { spaceOf } from "../../../../src/gateway/stages/compaction/space.ts";
import type { AskSummary } from "../../../../src/gateway/stages/compaction/summarise.ts";
import { chatEntries } from "../../../../src/wire/chat-completions/entries.ts";
import { messagesEntries } from "../../../../src/wire/messages/entries.ts";
import { responsesEntries } from "../../../../src/wire/responses/entries.ts";

/** A step of a conversation. */
export type Step =
  | { kind: "user"; text: string }
  | { kind: "assistant"; text: string }
  | { kind: "tools"; calls: { id: string; name: string; args: string; result: string }[] };

/** The formats whose requests have a list of messages. */
export const FORMATS = {
  "openai-chat": chatEntries,
  "openai-responses": responsesEntries,
  "anthropic-messages": messagesEntries,
} as const satisfies Record<string, EntryFormat>;
export type FormatName = keyof typeof FORMATS;
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

/** The steps as elements of a format's list. */
export function elementsOf(format: FormatName, steps: readonly Step[]): Element[] {
  return steps.flatMap((step) => WRITERS[format](step));
}

const WRITERS: Record<FormatName, (step: Step) => Element[]> = {
  "openai-chat": (step) => {
    if (step.kind !== "tools") return [{ role: step.kind, content: step.text }];
    const tool_calls = step.calls.map(({ id, name, args }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify({ args }) },
    }));
    return [
      { role: "assistant", content: null, tool_calls },
      ...step.calls.map(({ id, result }) => ({ role: "tool", tool_call_id: id, content: result })),
    ];
  },
  "openai-responses": (step) => {
    if (step.kind !== "tools") {
      const type = step.kind === "user" ? "input_text" : "output_text";
      return [{ type: "message", role: step.kind, content: [{ type, text: step.text }] }];
    }
    return [
      ...step.calls.map(({ id, name, args }) => ({
        type: "function_call",
        call_id: id,
        name,
        arguments: JSON.stringify({ args }),
      })),
      ...step.calls.map(({ id, result }) => ({ type: "function_call_output", call_id: id, output: result })),
    ];
  },
  "anthropic-messages": (step) => {
    if (step.kind !== "tools") return [{ role: step.kind, content: [{ type: "text", text: step.text }] }];
    return [
      {
        role: "assistant",
        content: step.calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: { args } })),
      },
      {
        role: "user",
        content: step.calls.map(({ id, result }) => ({ type: "tool_result", tool_use_id: id, content: result })),
      },
    ];
  },
};

/** The ids of the calls and of the results in a list, in order. */
export function idsOf(list: readonly Element[], format: EntryFormat): { calls: string[]; results: string[] } {
  const pieces = list.flatMap((element) => format.entry(element).pieces);
  return {
    calls: pieces.flatMap((piece) => (piece.type === "call" ? [piece.id] : [])),
    results: pieces.flatMap((piece) => (piece.type === "result" ? [piece.id] : [])),
  };
}

/** The form of a fact. Summarisers in these tests keep every fact. */
const FACT = /fact-\d+ is [a-z0-9]+/g;

/** A summariser that repeats the facts in its input and nothing else. */
export function factKeeper(): { ask: AskSummary; prompts: string[] } {
  const prompts: string[] = [];
  return {
    prompts,
    ask: async ({ user }) => {
      prompts.push(user);
      return { text: `## Task\n${[...new Set(user.match(FACT))].join(". ") || "none"}`, whole: true };
    },
  };
}

/** A store that keeps nothing. */
export const noStore: CompactionStore = { load: async () => [], save: async () => {} };

/** A compactor with its own memory. */
export function newCompactor(
  store: CompactionStore = noStore,
  flights: Flights = ownFlights,
): Compactor & { failures: unknown[]; tokens: TokenMemory } {
  const failures: unknown[] = [];
  const tokens = new TokenMemory();
  const nowMs = () => 1;
  const memory = new CompactionMemory(store, nowMs);
  const compactor = new Compactor({ tokens, memory, flights, nowMs, failed: (error) => failures.push(error) });
  return Object.assign(compactor, { failures, tokens });
}

/** A request's conversation, with a small window for tests. */
export function conversation(
  format: FormatName,
  list: readonly Element[],
  more: Partial<Conversation> & { window?: number } = {},
): Conversation {
  const { window = 4000, ...rest } = more;
  return {
    accountId: "acc",
    threadId: undefined,
    model: "m",
    list,
    format: FORMATS[format],
    fixed: "",
    space: spaceOf(window, 0.85),
    keepLast: 2,
    work: { ask: factKeeper().ask, window },
    ...rest,
  };
}
