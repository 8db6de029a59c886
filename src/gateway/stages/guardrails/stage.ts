// Guardrails as a stage: what leaves the house is looked through first, and what comes back before the client gets it.

import { lazily } from "../../../base/lazily.ts";
import type { Stage } from "../../centre/stage.ts";
import type { Guards } from "./deps.ts";

/** Creates the stage. */
export function createGuardrailsStage(guards: Guards): Stage {
  return {
    name: "guardrails",
    open(turn) {
      const guardrails = guards.all();
      return guardrails === undefined ? undefined : runOf()(guards, guardrails, turn);
    },
  };
}

const runOf = lazily(() => {
  const { guardrailsRun }: typeof import("./run.ts") = require("./run.ts");
  return guardrailsRun;
});
