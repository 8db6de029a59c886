// What the guardrails need from the rest of the program.

import type { Guardrail } from "./guardrail.ts";

/** The guardrails of the configuration. */
export interface Guards {
  /** All of them, in order; undefined if there are none. */
  readonly all: () => readonly Guardrail[] | undefined;
  /** Counts what a guardrail did. */
  readonly count: (guardrail: string, action: string, count: number) => void;
  /** Reports what went wrong. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}
