// Stands in place of a provider while calls that the client has approved are still to be made: they are made between this round and
// the next one, after the checks and reservations of all other stages.

import type { Stage, StageRun } from "../../centre/stage.ts";

/** A round without content, after which the calls are made. */
const run: StageRun = {
  prepare: () => ({
    why: "approvals",
    answer: async () => ({ events: [{ type: "start" }, { type: "finish", choice: 0, reason: "tool_calls" }] }),
  }),
};

/** Opens where another stage has calls to make first. */
export const approvalsStage: Stage = {
  name: "approvals",
  open: ({ awaitsCalls }) => (awaitsCalls === true ? run : undefined),
};
