// Reserves the most that a request may cost in its caller's budgets.

import type { Budgets } from "../../admission/budgets.ts";
import type { ChatTurn, Stage, StageRun } from "../../centre/stage.ts";
import { defaultsFor } from "../../rules/policy.ts";
import { worstCaseMicros } from "../../usage/worst-case.ts";

/**
 * Creates the stage. A request that is one of several has the reservation of all of them already. A further round of an answer is
 * reserved anew: what the rounds before it cost is recorded.
 */
export function createBudgetsStage(budgets: Pick<Budgets, "reserve">): Stage {
  const reserve = ({ caller, exchange, chat, model, format, options: { betas }, reservation }: ChatTurn) => {
    const worst = worstCaseMicros(chat, model, { ...defaultsFor(chat, model, format), betas });
    return budgets.reserve(caller.budgets ?? [], exchange, worst, reservation);
  };
  const single: StageRun = {
    prepare: async (turn) => ({ why: "budgets", reservation: await reserve(turn) }),
    async round(turn) {
      const reservation = await reserve(turn);
      turn.reservation?.release();
      return { why: "budgets", reservation };
    },
  };
  const oneOfSeveral: StageRun = { round: async (turn) => ({ why: "budgets", reservation: await reserve(turn) }) };
  return {
    name: "budgets",
    open({ caller, reservation, origin }) {
      if (caller.budgets === undefined) return undefined;
      // A request of the gateway's own is paid beside the one for which it is made.
      return reservation === undefined || origin === "inner" ? single : oneOfSeveral;
    },
  };
}
