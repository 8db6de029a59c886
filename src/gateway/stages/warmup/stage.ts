// Answers requests over a connection that only prepare what follows: their content is held, and no model is asked.

import type { Stage, StageRun } from "../../centre/stage.ts";

/** The stage. */
export const warmupStage: Stage = {
  name: "warmup",
  open: ({ connection }) => (connection?.isWarmUp === true ? WARMUP : undefined),
};

const WARMUP: StageRun = {
  prepare: () => ({
    why: "warmup",
    answer: () => Promise.resolve({ events: [{ type: "start" }, { type: "finish", choice: 0, reason: "stop" }] }),
  }),
};
