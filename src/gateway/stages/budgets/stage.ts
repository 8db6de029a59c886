// Reserves the most that a request may cost in its caller's budgets, and in that of its agent run.

import type { Reservation } from "../../../shared-state/reservations.ts";
import type { Budgets } from "../../admission/budgets.ts";
import type { ChatTurn, Stage, StageRun, TurnExchange } from "../../centre/stage.ts";
import { defaultsFor } from "../../rules/policy.ts";
import { worstCaseMicros } from "../../usage/worst-case.ts";

/**
 * Creates the stage. A request that is one of several has the reservation of all of them already. A further round of an answer is
 * reserved anew: what the rounds before it cost is recorded.
 */
export function createBudgetsStage(budgets: Pick<Budgets, "reserve">): Stage {
  const reserveIn = (limits: ChatTurn["caller"]["budgets"], turn: ChatTurn, within?: Reservation) => {
    const { exchange, chat, model, format, options } = turn;
    const worst = worstCaseMicros(chat, model, { ...defaultsFor(chat, model, format), betas: options.betas });
    return budgets.reserve(limits ?? [], exchange, worst, within);
  };
  const reserve = (turn: ChatTurn) => reserveIn(limitsOf(turn), turn, turn.reservation);
  /** What the request of an exchange holds in the budget of its run: it may be asked of one model after the other. */
  const heldByRun = new WeakMap<TurnExchange, Reservation>();
  const reserveOnce = async (turn: ChatTurn, limits: ChatTurn["caller"]["budgets"]) => {
    heldByRun.get(turn.exchange)?.release();
    const reservation = await reserveIn(limits, turn, turn.reservation);
    heldByRun.set(turn.exchange, reservation);
    return reservation;
  };
  const single: StageRun = {
    async prepare(turn) {
      const { runBudget } = turn;
      const reservation = await (runBudget === undefined ? reserve(turn) : reserveOnce(turn, limitsOf(turn)));
      return { why: "budgets", reservation };
    },
    async round(turn) {
      const reservation = await reserve(turn);
      turn.reservation?.release();
      return { why: "budgets", reservation };
    },
  };
  const oneOfSeveral: StageRun = { round: async (turn) => ({ why: "budgets", reservation: await reserve(turn) }) };
  const oneOfSeveralInRun: StageRun = {
    ...oneOfSeveral,
    async prepare(turn) {
      if (turn.runBudget === undefined) return undefined;
      await reserveOnce(turn, [turn.runBudget]);
      return undefined;
    },
  };
  return {
    name: "budgets",
    open({ caller, reservation, origin, runBudget }) {
      if (caller.budgets === undefined && runBudget === undefined) return undefined;
      // A request of the gateway's own is paid beside the one for which it is made.
      if (reservation === undefined || origin === "inner") return single;
      return runBudget === undefined ? oneOfSeveral : oneOfSeveralInRun;
    },
  };
}

/** The limits of what a request may cost. */
function limitsOf({ caller, runBudget }: ChatTurn): ChatTurn["caller"]["budgets"] {
  return runBudget === undefined ? caller.budgets : [...(caller.budgets ?? []), runBudget];
}
