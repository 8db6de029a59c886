// The providers of a configuration for commands that work without a server or a key: they are called directly, nobody is
// billed and nothing is recorded. Wiring only.

import { systemClock } from "../base/clock.ts";
import { addressesOf } from "../config/addresses.ts";
import { secretsOf } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { Caller } from "../gateway/admission/caller.ts";
import { NO_STAGES } from "../gateway/centre/stage.ts";
import type { WebModelChoice } from "../gateway/inner/web-model.ts";
import { createFleet } from "../gateway/providers.ts";
import { UNLIMITED } from "../store/access/key-rows.ts";
import { makeRedactor } from "../telemetry/redact.ts";
import { isEmbedded } from "../vendors/protocols.ts";

/** The user of the program may use all of its models. */
export const OPERATOR: Caller = {
  ...UNLIMITED,
  keyId: "local",
  accountId: "local",
  noStore: true,
  account: { tier: "premium", trialEndsAtMs: null, subscriptionUntilMs: null, emailVerified: true, admin: true },
};

/** Builds it. `start` of the fleet lists the providers' models; `note` is called for those that do not answer. */
export function createLocalFleet(config: Config, note: (message: string) => void) {
  const fleet = createFleet({
    config: () => config,
    clock: systemClock,
    discoveryFailed: (provider) => note(`the models of ${provider} could not be listed`),
    breakerChanged: () => undefined,
  });
  const calls = {
    clock: systemClock,
    provider: fleet.provider,
    breakers: fleet.breakers,
    random: Math.random,
    scrub: makeRedactor(secretsOf(config), addressesOf(config)),
    // No feature of chat acts on what the operator asks of a model.
    stages: NO_STAGES,
    budgets: { reserve: () => Promise.reject(new Error("The operator has no budget.")) },
    record: () => undefined,
  };
  const choice: WebModelChoice = {
    catalog: fleet.catalog,
    isDemo: (name) => config.providers.some((provider) => provider.name === name && isEmbedded(provider)),
    setting: () => config.web.model,
  };
  return { fleet, calls, choice };
}
