// Provides a model for a command without a server or a key, by calling a provider from the configuration or the
// environment directly. Nobody is billed and nothing is recorded.

import { createLocalFleet, OPERATOR } from "../app/local-fleet.ts";
import { createWebModels, type WebModel } from "../gateway/inner/web-model.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import type { Context } from "./command.ts";
import { failure } from "./workspace.ts";

/** The parameter of `work`: "none" if no model is wanted, undefined if no provider has a suitable one. */
export type LocalModel = WebModel | "none" | undefined;

/** Finds the model of this name, else the one that the web endpoints would use, and keeps its provider while `work` runs. */
export async function withLocalModel<T>(
  context: Context,
  { name, endpoint }: { readonly name: string | undefined; readonly endpoint: string },
  work: (model: LocalModel) => Promise<T>,
): Promise<T> {
  const config = context.config();
  const setting = name ?? config.web.model;
  if (setting === "none") return work("none");
  if (config.providers.every(isEmbedded) && setting === "") return work(undefined);
  const { fleet, calls, choice } = createLocalFleet(config, (message) => context.err(`sallyport: ${message}\n`));
  try {
    await fleet.start();
    const findModel = createWebModels({
      ask: calls,
      ...choice,
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
