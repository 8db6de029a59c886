// What a request needs of the guardrails. The code that looks through texts is loaded with the first guardrail.

import { lazily } from "../../../base/lazily.ts";
import type { Guardrail, GuardrailConfig } from "./guardrail.ts";

/** The guardrails of the configuration. */
export interface Guards {
  /** All of them, in order; undefined if there are none. */
  readonly all: () => readonly Guardrail[] | undefined;
  /** Counts what a guardrail did. */
  readonly count: (guardrail: string, action: string, count: number) => void;
  /** Reports what went wrong. */
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

const create = lazily(() => {
  const { createGuardrails }: typeof import("./guardrail.ts") = require("./guardrail.ts");
  return createGuardrails;
});

/** Makes the guardrails of a configuration ready; undefined if there are none. */
export function guardrailsOf(configs: readonly GuardrailConfig[]): readonly Guardrail[] | undefined {
  return configs.length === 0 ? undefined : create()(configs);
}
