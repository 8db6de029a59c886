// Reserves the most that a request may cost in its caller's budgets.

import type { Budgets } from "../../admission/budgets.ts";
import type { Stage, StageRun } from "../../centre/stage.ts";
import { defaultsFor } from "../../rules/policy.ts";
import { worstCaseMicros } from "../../usage/worst-case.ts";

/** Creates the stage. A request that is one of several has the reservation of all of them already. */
export function createBudgetsStage(budgets: Pick<Budgets, "reserve">): Stage {
  const run: StageRun = {
    async prepare({ caller, exchange, chat, model, format, options: { betas } }) {
      const worst = worstCaseMicros(chat, model, { ...defaultsFor(chat, model, format), betas });
      return { why: "budgets", reservation: await budgets.reserve(caller.budgets ?? [], exchange, worst) };
    },
  };
  return {
    name: "budgets",
    open: ({ caller, reservation }) => (caller.budgets === undefined || reservation !== undefined ? undefined : run),
  };
}
