// The options of limits that keys and projects have in common.

import { ApiError } from "../base/errors.ts";
import { type KeyModels, keyModelsOf } from "../catalog/key-models.ts";
import { type OwnRunLimits, RUN_LIMITS_MAX } from "../http/run-limits.ts";
import { microsOf } from "./budget-flags.ts";
import { UsageError } from "./failure.ts";
import type { CommandOption, Flags } from "./flags.ts";

/** The value that takes a limit away. */
export const NONE = "none";

/** The options of the limits of agent runs. `before`: the default of each. */
export const runOptions = (before: string): readonly CommandOption[] => [
  { name: "run-usd", value: "USD", summary: `US dollars that one agent run may cost (default: ${before})` },
  { name: "run-requests", value: "N", summary: `requests of one agent run (default: ${before})` },
  { name: "run-repeats", value: "N", summary: `equal tool calls in a row of one agent run (default: ${before})` },
];

/** The options in a usage line. */
export const RUN_USAGE = "[--run-usd USD] [--run-requests N] [--run-repeats N]";

/** The limits of agent runs that were given; null, for 0 and "none": no limit. */
export function runFlags(flags: Flags): Partial<OwnRunLimits> {
  const given = <T>(name: string, read: () => T): T | null | undefined => {
    const text = flags.text(name);
    if (text === undefined) return undefined;
    return text === NONE ? null : read() || null;
  };
  const limits = {
    runMicros: given("run-usd", () => runMicrosFlag(flags.required("run-usd"))),
    runRequests: given("run-requests", () => flags.integer("run-requests", 0, RUN_LIMITS_MAX.requests)),
    runRepeats: given("run-repeats", () => flags.integer("run-repeats", 0, RUN_LIMITS_MAX.repeats)),
  };
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
}

function runMicrosFlag(usd: string): number {
  const micros = microsOf("run-usd", usd);
  const isTooSmall = micros === 0 && Number(usd) > 0;
  if (!isTooSmall && micros <= microsOf("run-usd", String(RUN_LIMITS_MAX.usd))) return micros;
  throw new UsageError(`--run-usd: expected at least 0.000001 and at most ${RUN_LIMITS_MAX.usd} US dollars, or 0`);
}

/** The patterns of `--models`; null: all models. */
export function modelsFlag(flags: Flags): KeyModels {
  try {
    return keyModelsOf(flags.all("models"), "--models");
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(error.message);
    throw error;
  }
}
