// Keeps a conversation on its route, and gives it the name by which it is recognised: after its first turn, from the answer as the
// client will return it; after a compaction that the client sees, from the record.

import type { ChatMessage } from "../../../chat/request.ts";
import { answerElements } from "../../../wire/assembled.ts";
import type { ChatTurn, Stage, StageRun } from "../../centre/stage.ts";
import type { Affinity, Placement } from "./affinity.ts";

/** Creates the stage. A client that orders the providers itself has no place. */
export function createAffinityStage(affinity: Affinity): Stage {
  return {
    name: "affinity",
    open(turn) {
      const { caller, chat, body, model, routes, routing } = turn;
      if (routing?.providers !== undefined && routing.providers.order.length > 0) return undefined;
      const placement = affinity.placementOf({ accountId: caller.accountId, chat, body, model, routes });
      return placement === undefined ? undefined : runOf(placement);
    },
  };
}

function runOf(placement: Placement): StageRun {
  return {
    prepare: () => ({ why: "affinity", preference: placement }),
    readsText: placement.rememberFirstAnswer !== undefined,
    complete({ turn, fault, text }) {
      if (fault === undefined) rememberBeginning(placement, turn, text);
      return undefined;
    },
    settle({ turn: { edited, chat } }) {
      if (edited?.record !== undefined) placement.rename(chat.messages);
    },
  };
}

/** Remembers the conversation once its first answer is complete. `text`: the answer as the client got it. */
function rememberBeginning(placement: Placement, { format, body, options }: ChatTurn, text: () => string): void {
  const { entries } = format;
  if (placement.rememberFirstAnswer === undefined || entries === undefined) return;
  const elements = answerElements(entries, text());
  if (elements.length === 0) return;
  let messages: readonly ChatMessage[];
  try {
    const list = [entries.userMessage("."), ...elements];
    messages = format.decode({ ...body, [entries.member]: list }, options).messages;
  } catch {
    // The client cannot return this answer, so there is no second turn to recognise.
    return;
  }
  const answer = messages.find(({ role }) => role === "assistant");
  if (answer !== undefined) placement.rememberFirstAnswer(answer);
}
