// Sends each provider the reasoning that it can read, and remembers the reasoning of answers for clients that do not return it.

import type { Clock } from "../../../base/clock.ts";
import type { ModelRoute } from "../../../catalog/models.ts";
import { HISTORY_BINDER, type HistoryReader, withoutForeignSeals, withThoughts } from "../../../chat/seals.ts";
import { isLossless } from "../../centre/build.ts";
import {
  beforeShortening,
  type Change,
  type ChatTurn,
  type Stage,
  type StageRun,
  type Target,
} from "../../centre/stage.ts";
import { AnswerNotes } from "./answer-notes.ts";
import { CallNames } from "./call-names.ts";
import { historyReader, openHistory } from "./open-history.ts";
import type { ReasoningMemory } from "./reasoning-memory.ts";
import { learnsRefusal } from "./refused-reasoning.ts";

export interface ReasoningDeps {
  reasoning: ReasoningMemory;
  clock: Clock;
}

/** Creates the stage. */
export function createReasoningStage(deps: ReasoningDeps): Stage {
  return {
    name: "reasoning",
    // The history may contain reasoning, or the answer may contain some that is kept here.
    open({ storesAnswer, chat, format }) {
      if (storesAnswer === true || (format.losesReasoning === true && chat.tools.length > 0)) return runOf(deps);
      for (const { role } of chat.messages) if (role === "assistant") return runOf(deps);
      return undefined;
    },
  };
}

function runOf(deps: ReasoningDeps): StageRun {
  const refused = new Set<ModelRoute>();
  return {
    adapt: (turn, target) => adapted(deps, turn, { ...target, refused: refused.has(target.route) }),
    again: (_turn, failed) => (learnsRefusal(failed, refused, deps.reasoning) ? { why: "reasoning" } : undefined),
    listener: (turn, target) => notesOf(deps, turn, target),
  };
}

function adapted(
  deps: ReasoningDeps,
  turn: ChatTurn,
  { provider, route, refused }: Target & { refused: boolean },
): Change | undefined {
  const { format, chat, text, body, members } = turn;
  const reader = readerOf(deps, turn, { provider, route, refused });
  const storesAnswer = turn.storesAnswer === true && deps.reasoning.maySeal(provider.minter, route.model);
  const base: Change = {
    why: "reasoning",
    ...(storesAnswer === turn.storesAnswer ? {} : { storesAnswer }),
    ...(refused ? { dropped: [format.reasoning] } : {}),
  };
  if (!isLossless(turn, provider)) {
    const whole = format.losesReasoning === true ? withThoughts(chat, reader) : chat;
    const own = withoutForeignSeals(whole, reader);
    return own === chat && isEmpty(base) ? undefined : { ...base, chat: own };
  }
  const history = { text, body, members: members ?? {} };
  const opened = openHistory(history, format, reader);
  if (opened.text === text && opened.members === history.members && isEmpty(base)) return undefined;
  return {
    ...base,
    relayed: { text: opened.text, body: opened.body },
    members: opened.members,
    ...(opened.removed ? { reasoningRemoved: true } : {}),
    ...(opened.lost || refused ? { dropped: [format.reasoning] } : {}),
  };
}

/** Whether a change has nothing but its reason. */
function isEmpty(change: Change): boolean {
  return Object.keys(change).length === 1;
}

/** Creates the reader of the history. In a shortened conversation, it leaves out reasoning that is bound to earlier messages. */
function readerOf(
  deps: ReasoningDeps,
  turn: ChatTurn,
  { provider, route, refused }: Target & { refused: boolean },
): HistoryReader {
  const { messages } = beforeShortening(turn).chat;
  const { accountId } = turn.caller;
  const reader = historyReader(provider, route.model, { ...deps, accountId, messages, refused });
  const { strippedCalls } = turn;
  if (strippedCalls === undefined || strippedCalls.size === 0) return reader;
  return {
    ...reader,
    thoughtOf: (callId) => {
      const thought = reader.thoughtOf(callId);
      const isBound = strippedCalls.has(callId) && thought?.parts.some(({ origin }) => origin === HISTORY_BINDER);
      return isBound ? undefined : thought;
    },
  };
}

/**
 * Records the answer for a chat client, which may not return its reasoning. A translated answer is always recorded, a relayed one
 * only if the provider refuses the next turn without its reasoning.
 */
function notesOf({ reasoning, clock }: ReasoningDeps, turn: ChatTurn, { provider }: Target): AnswerNotes | undefined {
  if (turn.format.losesReasoning !== true) return undefined;
  if (isLossless(turn, provider) && provider.quirks.return_reasoning_content !== true) return undefined;
  const { accountId } = turn.caller;
  return new AnswerNotes(provider.minter, (callIds, thought) => {
    const names = new CallNames(beforeShortening(turn).chat.messages);
    const own = callIds.map((callId) => names.next(callId));
    reasoning.calls.keep(accountId, own, thought, clock.now());
  });
}
