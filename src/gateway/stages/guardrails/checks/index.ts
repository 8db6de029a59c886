// The kinds of checks, as guardrails are configured: each finds parts of texts, or judges them together.

import { readFileSync } from "node:fs";
import type { Config } from "../../../../config/schema.ts";
import type { GuardTools } from "../tools.ts";
import type { TextCheck } from "./check.ts";
import { decisionJudge } from "./decision.ts";
import type { Judge } from "./judge.ts";
import { patternCheck } from "./pattern.ts";
import { PII_CHECKS } from "./pii/index.ts";
import { schemaJudge } from "./schema.ts";
import { webhookJudge } from "./webhook.ts";
import { wordsCheck } from "./words.ts";

type Guarded = Pick<Config["guardrails"][number], "name" | "check">;

/** What looks through texts for a guardrail, and the names of its placeholders; or what judges them. */
interface Checks {
  readonly checks: readonly TextCheck[];
  readonly labels: readonly string[];
  readonly judge?: Judge;
}

type Kind = Guarded["check"]["kind"];

/** How the checks of each kind are made. */
const KINDS: Readonly<Record<Kind, (guarded: Guarded, tools: GuardTools) => Checks>> = {
  pii: ({ check }) => ({
    checks: check.find.flatMap((name) => PII_CHECKS[name]),
    labels: check.find.map((name) => name.toUpperCase()),
  }),
  pattern: ({ check }) => {
    const patterns = Object.entries(check.patterns);
    return {
      checks: patterns.map(([name, source]) => patternCheck(labelOf(name), source)),
      labels: patterns.map(([name]) => labelOf(name)),
    };
  },
  words: ({ name, check }) => {
    const lines = check.file === "" ? [] : readFileSync(check.file, "utf8").split(/\r?\n/);
    const words = [...check.words, ...lines].map((word) => word.trim());
    return { checks: [wordsCheck(labelOf(name), words)], labels: [labelOf(name)] };
  },
  schema: ({ check }) => judging(schemaJudge(check.schema)),
  webhook: ({ name, check }, tools) => judging(webhookJudge({ name, ...check }, tools)),
  decision: ({ check }, tools) => judging(decisionJudge(check, tools)),
};

function judging(judge: Judge): Checks {
  return { checks: [], labels: [], judge };
}

/** Makes the checks of a guardrail. */
export function checksOf(
  guarded: Guarded,
  tools: GuardTools,
): Omit<Checks, "judge"> & { readonly judge: Judge | undefined } {
  return { judge: undefined, ...KINDS[guarded.check.kind](guarded, tools) };
}

/** A name as placeholders have it. */
function labelOf(name: string): string {
  return name.toUpperCase().replace(/[^A-Z\d]+/g, "_");
}
