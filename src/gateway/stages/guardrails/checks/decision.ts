// A question that a decision model answers with a calibrated probability.

import type { GuardTools } from "../tools.ts";
import type { Judge } from "./judge.ts";

interface DecisionOptions {
  /** The id or alias of a version. */
  readonly model: string;
  /** A yes/no question. */
  readonly question: Readonly<Record<string, unknown>>;
  /** From this probability of yes on, the texts are denied. */
  readonly atLeast: number;
  readonly beside: boolean;
}

/** Creates the judge that asks a decision model. What parameters say is not a part of the state. */
export function decisionJudge({ model, question, atLeast, beside }: DecisionOptions, tools: GuardTools): Judge {
  return {
    isBeside: beside,
    readsAnswersOnly: false,
    async judge({ texts, request, signal }) {
      const judged = texts.filter(({ kind, text }) => kind !== "parameter" && text.trim() !== "");
      if (judged.length === 0) return "allow";
      const state = judged.map(({ text }) => text).join("\n\n");
      const probability = await tools.decide({ model, question, state, request, signal });
      return probability >= atLeast ? "deny" : "allow";
    },
  };
}
