// A guardrail of the configuration, made ready: its checks, and for whom it acts.

import type { Config } from "../../../config/schema.ts";
import type { Caller } from "../../admission/caller.ts";
import type { TextCheck } from "./checks/check.ts";
import { checksOf } from "./checks/index.ts";

/** Where a text is on its way. */
export type GuardSide = "input" | "output";

/** A guardrail as configured. */
export type GuardrailConfig = Config["guardrails"][number];

/** Who asks which model. */
export interface GuardedRequest {
  readonly caller: Pick<Caller, "account" | "name">;
  readonly model: string;
}

/** A guardrail that is ready. */
export interface Guardrail extends Pick<GuardrailConfig, "name" | "action" | "restore" | "onError" | "timeoutMs"> {
  readonly on: readonly GuardSide[];
  /** What looks through texts. */
  readonly checks: readonly TextCheck[];
  /** The names of the placeholders that it may make. */
  readonly labels: readonly string[];
  /** Whether it acts on a request. */
  applies(request: GuardedRequest): boolean;
}

/** Makes the guardrails of a configuration ready. */
export function createGuardrails(configs: readonly GuardrailConfig[]): readonly Guardrail[] {
  return configs.map((config) => {
    const { models, tiers, keys } = config.apply;
    const isModel = globs(models);
    const isKey = globs(keys);
    const { checks, labels } = checksOf(config);
    return {
      ...{ name: config.name, action: config.action, restore: config.restore },
      ...{ onError: config.onError, timeoutMs: config.timeoutMs, on: config.on, checks },
      labels: config.action === "mask" ? labels : [],
      applies: ({ caller, model }) =>
        isModel(model) && isKey(caller.name) && (tiers.length === 0 || tiers.includes(caller.account.tier)),
    };
  });
}

/** Whether a name matches one of the patterns, in which `*` is any text; no pattern: every name. */
function globs(patterns: readonly string[]): (name: string | null | undefined) => boolean {
  if (patterns.length === 0 || patterns.includes("*")) return () => true;
  const tests = patterns.map(
    (pattern) =>
      new RegExp(
        `^${pattern
          .split("*")
          .map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, "\\$&"))
          .join("[^]*")}$`,
        "i",
      ),
  );
  return (name) => tests.some((test) => test.test(name ?? ""));
}
