// Stages that the recipe of a stage adds to a copy of the repository, with their tests. They are real ones in small: the mask holds
// over chunks, the cache sees masked requests only, the check works beside the call, and the tools ask for further rounds.

const MASK = `// Hides the name that a client states of itself from providers, and restores it in the answer.

import { type Hearing, reread, type Stage, type StageRun } from "../../centre/stage.ts";

const NAME = /my name is (\\w+)/i;
const MASK = "[NAME]";

/** The stage. */
export const maskStage: Stage = {
  name: "mask",
  open({ text }) {
    const name = NAME.exec(text)?.[1];
    return name === undefined ? undefined : runOf(name);
  },
};

function runOf(name: string): StageRun {
  return {
    prepare(turn) {
      const content = JSON.parse(JSON.stringify(turn.content).replaceAll(name, MASK)) as Record<string, unknown>;
      const members = turn.members && { ...turn.members, messages: content["messages"] };
      return { why: "mask", content, chat: reread(turn, content), members };
    },
    hears: () => unmasking(name),
    round({ chat, members }) {
      return { why: "mask", chat: JSON.parse(JSON.stringify(chat).replaceAll(name, MASK)), members };
    },
  };
}

/** Holds back the end of a text while it may be the beginning of a mask. */
function unmasking(name: string): Hearing {
  let held = "";
  return {
    hear(event) {
      if (event.type === "tool-delta") return [{ ...event, text: event.text.replaceAll(MASK, name) }];
      if (event.type === "text-end") return [{ type: "text-delta", choice: event.choice, id: event.id, text: held }, event];
      if (event.type !== "text-delta") return [event];
      const text = (held + event.text).replaceAll(MASK, name);
      let kept = Math.min(MASK.length - 1, text.length);
      while (!text.endsWith(MASK.slice(0, kept))) kept--;
      held = text.slice(text.length - kept);
      return [{ ...event, text: text.slice(0, text.length - kept) }];
    },
  };
}
`;

const CACHE = `// Answers an equal request with the answer that was given before, if its temperature is 0.

import type { ChatEvent } from "../../../chat/event.ts";
import type { ChatTurn, Stage, StageRun } from "../../centre/stage.ts";

const ANSWERS_MAX = 100;

const answers = new Map<string, readonly ChatEvent[]>();

/** The stage. */
export const repeatsStage: Stage = { name: "repeats", open: ({ chat }) => (chat.temperature === 0 ? runOf() : undefined) };

function runOf(): StageRun {
  let key = "";
  const find = ({ chat, model }: ChatTurn) => {
    key = JSON.stringify([model.id, chat.messages]);
    const events = answers.get(key);
    return events && { why: "cache", answer: async () => ({ events }) };
  };
  return {
    prepare: find,
    round: find,
    hears() {
      const heard: ChatEvent[] = [];
      return {
        hear(event) {
          heard.push(event);
          if (event.type === "finish" && answers.size < ANSWERS_MAX) answers.set(key, heard);
          return [event];
        },
      };
    },
  };
}
`;

const CHECK = `// Refuses a forbidden prompt beside the call, and ends an answer that says what it must not: after its whole text was
// checked, or at once.

import { ApiError } from "../../../base/errors.ts";
import type { ChatEvent } from "../../../chat/event.ts";
import type { Stage, TurnEnd } from "../../centre/stage.ts";

/** What settle was told, and which answers were kept. */
export const told: { ends: TurnEnd[]; kept: string[] } = { ends: [], kept: [] };
/** Lets the checks of prompts go on. */
export const doors: { open?: Promise<void> } = {};

/** The stage. */
export const checkStage: Stage = {
  name: "check",
  open({ text }) {
    if (!text.includes("check")) return undefined;
    return {
      async gate() {
        await doors.open;
        if (text.includes("forbidden")) throw new ApiError("content_policy_violation", "The prompt is forbidden.");
      },
      ...(text.includes("check only") ? {} : { hears: checking }),
      complete({ text }) {
        told.kept.push(text());
        return undefined;
      },
      readsText: true,
      settle: (end) => void told.ends.push(end),
    };
  },
};

function checking() {
  const held: ChatEvent[] = [];
  return {
    hear(event: ChatEvent) {
      if (event.type === "text-delta" && event.text.includes("stop now")) return { finish: "content_filter" } as const;
      if (!event.type.startsWith("text-")) return [event];
      held.push(event);
      return [];
    },
    async release() {
      const text = held.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
      return text.includes("bad") ? ({ finish: "content_filter", rawReason: "content_filter" } as const) : held;
    },
  };
}
`;

const TOOLS = `// Offers a tool that the gateway runs itself, and asks again with its results.

import type { ChatEvent } from "../../../chat/event.ts";
import type { Hearing, Stage, StageRun } from "../../centre/stage.ts";

const TOOL = { type: "function" as const, name: "look_up", parameters: { type: "object" } };

/** The stage. */
export const toolsStage: Stage = {
  name: "tools",
  open: ({ text }) => (text.includes("with tools") ? RUN : undefined),
};

const RUN: StageRun = {
  prepare: ({ chat }) => ({ why: "tools", chat: { ...chat, tools: [...chat.tools, TOOL] }, members: undefined }),
  hears: hiding,
  async next({ chat }, { calls, index, usage }, { emit }) {
    if (calls.length === 0) return undefined;
    emit({ type: "text-start", choice: 0, id: "tools" + index });
    emit({ type: "text-delta", choice: 0, id: "tools" + index, text: "(looked up, " + usage?.outputTokens + ") " });
    emit({ type: "text-end", choice: 0, id: "tools" + index });
    const results = calls.map(({ callId, arguments: given }) => ({
      type: "tool-result" as const,
      callId,
      content: [{ type: "text" as const, text: "result for " + given }],
    }));
    const messages = [{ role: "assistant" as const, content: [...calls] }, { role: "tool" as const, content: results }];
    return { why: "tools", chat: { ...chat, messages: [...chat.messages, ...messages] }, members: undefined };
  },
};

function hiding(): Hearing {
  return { hear: (event: ChatEvent) => (event.type.startsWith("tool-") ? [] : [event]) };
}
`;

/** The stages by name, in the order of the list. */
export const TOYS: Readonly<Record<string, string>> = { tools: TOOLS, check: CHECK, mask: MASK, repeats: CACHE };
