// The kinds of checks that look through texts, as guardrails are configured.

import { readFileSync } from "node:fs";
import type { Config } from "../../../../config/schema.ts";
import type { TextCheck } from "./check.ts";
import { patternCheck } from "./pattern.ts";
import { PII_CHECKS } from "./pii/index.ts";
import { wordsCheck } from "./words.ts";

type Guarded = Pick<Config["guardrails"][number], "name" | "check">;

/** What looks through texts for a guardrail, and the names of its placeholders. */
export interface TextChecks {
  readonly checks: readonly TextCheck[];
  readonly labels: readonly string[];
}

type Kind = Guarded["check"]["kind"];

/** How the checks of each kind are made. */
const KINDS: Readonly<Record<Kind, (guarded: Guarded) => TextChecks>> = {
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
};

/** Makes the checks of a guardrail. */
export function checksOf(guarded: Guarded): TextChecks {
  return KINDS[guarded.check.kind](guarded);
}

/** A name as placeholders have it. */
function labelOf(name: string): string {
  return name.toUpperCase().replace(/[^A-Z\d]+/g, "_");
}
