// A guardrail of the configuration, made ready: its checks, and for whom it acts.

import { nameGlob } from "../../../base/name-glob.ts";
import type { Config } from "../../../config/schema.ts";
import type { TextCheck } from "./checks/check.ts";
import { checksOf } from "./checks/index.ts";
import type { Judge } from "./checks/judge.ts";
import type { GuardedRequest, GuardSide, GuardTools } from "./tools.ts";

/** A guardrail as configured. */
export type GuardrailConfig = Config["guardrails"][number];

/** A guardrail that is ready. */
export interface Guardrail extends Pick<GuardrailConfig, "name" | "action" | "restore" | "onError" | "timeoutMs"> {
  readonly on: readonly GuardSide[];
  /** What looks through texts. */
  readonly checks: readonly TextCheck[];
  /** What judges all texts together. */
  readonly judge: Judge | undefined;
  /** The names of the placeholders that it may make. */
  readonly labels: readonly string[];
  /** Whether it acts on a request. */
  applies(request: Pick<GuardedRequest, "caller" | "model">): boolean;
}

const ANSWERS: readonly GuardSide[] = ["output"];

/** Makes the guardrails of a configuration ready. */
export function createGuardrails(configs: readonly GuardrailConfig[], tools: GuardTools): readonly Guardrail[] {
  return configs.map((config) => {
    const { models, tiers, keys } = config.apply;
    const isModel = globs(models);
    const isKey = globs(keys);
    const { checks, labels, judge } = checksOf(config, tools);
    return {
      ...{ name: config.name, action: config.action, restore: config.restore },
      ...{
        onError: config.onError,
        timeoutMs: config.timeoutMs,
        on: judge?.readsAnswersOnly === true ? ANSWERS : config.on,
      },
      ...{ checks, judge },
      labels: config.action === "mask" ? labels : [],
      applies: ({ caller, model }) =>
        isModel(model) && isKey(caller.name) && (tiers.length === 0 || tiers.includes(caller.account.tier)),
    };
  });
}

/** Whether a name matches one of the patterns, in which `*` is any text; no pattern: every name. */
function globs(patterns: readonly string[]): (name: string | null | undefined) => boolean {
  if (patterns.length === 0 || patterns.includes("*")) return () => true;
  const tests = patterns.map((pattern) => nameGlob(pattern, "is"));
  return (name) => tests.some((test) => test.test(name ?? ""));
}
