// What a request needs of the guardrails. The code that looks through texts is loaded with the first guardrail.

import { lazily } from "../../../base/lazily.ts";
import type { GuardedCall, GuardedCaller } from "./call.ts";
import type { Guards } from "./deps.ts";
import type { Guardrail, GuardrailConfig } from "./guardrail.ts";
import type { GuardTools } from "./tools.ts";

const create = lazily(() => {
  const { createGuardrails }: typeof import("./guardrail.ts") = require("./guardrail.ts");
  return createGuardrails;
});

const guardCall = lazily(() => {
  const { guardedBy }: typeof import("./call.ts") = require("./call.ts");
  return guardedBy;
});

/** The guardrails of a request that is no chat; undefined if none applies. */
export function guardedCall(guards: Guards | undefined, caller: GuardedCaller): GuardedCall | undefined {
  const guardrails = guards?.all();
  return guards === undefined || guardrails === undefined ? undefined : guardCall()(guards, guardrails, caller);
}

/** Makes the guardrails of a configuration ready; undefined if there are none. */
export function guardrailsOf(
  configs: readonly GuardrailConfig[],
  tools: () => GuardTools,
): readonly Guardrail[] | undefined {
  return configs.length === 0 ? undefined : create()(configs, tools());
}
