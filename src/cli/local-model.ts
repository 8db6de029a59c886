// A model for a command, without a server or a key: one of the providers that the configuration and the environment
// name, called directly. No one is billed and nothing is written down.

import { systemClock } from "../base/clock.ts";
import { secretsOf } from "../config/load.ts";
import type { Caller } from "../gateway/caller.ts";
import { createFleet } from "../gateway/providers.ts";
import { createWebModels, type WebModel } from "../gateway/web-model.ts";
import { makeRedactor } from "../telemetry/redact.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import type { Context } from "./command.ts";
import { failure } from "./workspace.ts";

/** Whoever runs the program may use all of its models. */
const OPERATOR: Caller = {
  keyId: "local",
  accountId: "local",
  rpm: null,
  expiresAtMs: null,
  noStore: true,
  models: null,
  passthrough: false,
  account: { tier: "premium", trialEndsAtMs: null, subscriptionUntilMs: null, emailVerified: true, admin: true },
};

/** What `work` is handed: "none" where no model is wanted, undefined where no provider has one that fits. */
export type LocalModel = WebModel | "none" | undefined;

/** Finds the model of this name, else the one that the web endpoints would ask, and keeps its provider for as long as `work` runs. */
export async function withLocalModel<T>(
  context: Context,
  { name, endpoint }: { readonly name: string | undefined; readonly endpoint: string },
  work: (model: LocalModel) => Promise<T>,
): Promise<T> {
  const config = context.config();
  const setting = name ?? config.web.model;
  if (setting === "none") return work("none");
  const isDemo = (provider: string) => config.providers.some((one) => one.name === provider && isEmbedded(one));
  if (config.providers.every(isEmbedded) && setting === "") return work(undefined);
  const fleet = createFleet({
    config: () => config,
    clock: systemClock,
    discoveryFailed: (provider) => context.err(`sallyport: the models of ${provider} could not be listed\n`),
    breakerChanged: () => undefined,
  });
  try {
    await fleet.start();
    const findModel = createWebModels({
      ask: {
        clock: systemClock,
        provider: fleet.provider,
        breakers: fleet.breakers,
        random: Math.random,
        scrub: makeRedactor(secretsOf(config)),
        budgets: { reserve: () => Promise.reject(new Error("The operator has no budget.")) },
        record: () => undefined,
      },
      catalog: fleet.catalog,
      isDemo,
      setting: () => setting,
      callerOf: async () => OPERATOR,
    });
    const model = await findModel({ keyId: OPERATOR.keyId, requestId: "local", endpoint });
    if (model === undefined && setting !== "") throw failure(`no provider has a chat model ${JSON.stringify(setting)}`);
    return await work(model);
  } finally {
    fleet.stop();
  }
}
