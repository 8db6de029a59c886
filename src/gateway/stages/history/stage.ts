// Inserts the stored history of a request, and stores its answer. Only clients of formats that store answers have a history here.

import { isRecord } from "../../../base/json-object.ts";
import type { Usage } from "../../../chat/event.ts";
import { addedUsage } from "../../../chat/usage.ts";
import { storedAnswer } from "../../../wire/responses/stored.ts";
import type { BodyMembers, Change, ChatTurn, CompleteAnswer, Stage, StageRun } from "../../centre/stage.ts";
import { expandHistory, type HistoryDeps, type Keep } from "./history.ts";

export interface HistoryStageDeps extends HistoryDeps {
  /** Called when an answer could not be stored; the client gets it anyway. */
  keepFailed(error: unknown, requestId: string): void;
}

/** The members that an inserted history changes. */
const MEMBERS = ["input", "previous_response_id", "conversation", "store"] as const;
const STORED_NOWHERE = { store: false };

/** For providers that store by default, it states that they should not. */
const WITHOUT_STORE: StageRun = {
  prepare(turn) {
    const content = { ...turn.content, store: false };
    const members = turn.members && { ...turn.members, store: false };
    return { why: "history", content, members, chat: turn.format.decode(content, turn.options) };
  },
};

/** Creates the stage. */
export function createHistoryStage(deps: HistoryStageDeps): Stage {
  return {
    name: "history",
    open({ format, caller, body }) {
      if (format.storesAnswers === true) return runOf(deps);
      return caller.noStore && body["store"] === true ? WITHOUT_STORE : undefined;
    },
  };
}

function runOf(deps: HistoryStageDeps): StageRun {
  let keep: Keep | undefined;
  return {
    async prepare(turn) {
      const found = await inserted(deps, turn);
      keep = found.keep;
      return found.change;
    },
    complete: (answer) => (keep === undefined ? undefined : stored(deps, keep, answer)),
    settle({ turn: { connection }, rounds }) {
      if (connection === undefined) return;
      const usage = rounds.reduce<Usage | undefined>((sum, round) => addedUsage(sum, round.usage), undefined);
      if (usage !== undefined) connection.spent(usage);
    },
  };
}

async function inserted(deps: HistoryDeps, turn: ChatTurn): Promise<{ keep: Keep | undefined; change: Change }> {
  const { caller, body: sent, chat } = turn;
  const body = caller.noStore ? { ...sent, store: false } : sent;
  const expanded = await expandHistory(deps, caller, body, turn.connection);
  const { body: content, portableInput, keep, conversationId } = expanded;
  const read = content === sent ? chat : turn.format.decode({ ...content }, turn.options);
  const members: Record<string, unknown> = { ...turn.members };
  for (const name of MEMBERS) if (content[name] !== sent[name]) members[name] = content[name];
  if (portableInput !== undefined) members["input"] = portableInput;
  const dropped: string[] = [];
  if (body["background"] === true) {
    // The client cannot poll for a background response here, so it waits and gets the complete answer.
    members["background"] = undefined;
    dropped.push("background");
  }
  return {
    keep,
    change: {
      why: "history",
      content,
      members,
      dropped,
      chat: { ...read, store: expanded.stores },
      ...(keep === undefined ? {} : { storesAnswer: true }),
      ...(conversationId === undefined ? {} : { keptConversation: { id: conversationId, keeps: "conversation" } }),
    },
  };
}

/**
 * Stores the answer. The client has paid for it, so it gets the answer even if storing fails, and is told that it is not stored:
 * it would continue from an answer that nobody has.
 */
async function stored(deps: HistoryStageDeps, keep: Keep, answer: CompleteAnswer): Promise<BodyMembers | undefined> {
  const body = answer.body();
  if (!isRecord(body)) return undefined;
  const { turn, target, hidesEncrypted: hidden } = answer;
  try {
    const isOwn = target !== undefined && target.provider.dialect.name === turn.format.dialect;
    await keep(isOwn ? storedAnswer(body, { minter: target.provider.minter, hidden }) : body);
    return undefined;
  } catch (error) {
    deps.keepFailed(error, turn.exchange.requestId);
    return STORED_NOWHERE;
  }
}
