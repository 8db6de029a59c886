// Finds the model for extract and llmstxt: the configured one, or the cheapest one that the caller may use. The request's key
// pays for it.

import { ApiError } from "../../base/errors.ts";
import { cheapestChatModel } from "../../catalog/cheapest.ts";
import type { Catalog, ResolvedModel } from "../../catalog/models.ts";
import { requireModel, resolveModel } from "../../catalog/resolve.ts";
import type { Caller } from "../admission/caller.ts";
import type { ModelAnswer, ModelCallDeps, Prompt } from "./ask.ts";

/** What a web tool may request from a model. */
export type WebQuestion = Omit<Prompt, "model" | "routes">;

/** A model that answers for a caller. */
export interface WebModel {
  readonly id: string;
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  /** Asks the model. Throws `ApiError` if no provider answers, or if the caller's budgets do not allow the call. */
  ask(question: WebQuestion, signal: AbortSignal): Promise<Pick<ModelAnswer, "text" | "whole">>;
}

/** The caller and the request that need a model. */
export interface WebPayer {
  readonly keyId: string;
  readonly requestId: string;
  readonly endpoint: string;
}

/** Finds a caller's model; "none" if the operator disabled it, undefined if none is suitable. */
export type FindWebModel = (payer: WebPayer) => Promise<WebModel | "none" | undefined>;

/** How a model is chosen. */
export interface WebModelChoice {
  catalog(): Catalog;
  /** Whether a provider is the embedded demo, which is never chosen. */
  isDemo(provider: string): boolean;
  /** The setting `web.model`. */
  setting(): string;
}

export interface WebModelDeps extends WebModelChoice {
  readonly ask: ModelCallDeps;
  /** The holder of a key; undefined once it is revoked or expired. */
  callerOf(keyId: string): Promise<Caller | undefined>;
}

/** Minimum size of the context window of a model that is chosen automatically. */
const CONTEXT_MIN = 32_000;
/** Time limit of one answer; long answers of slow models take a minute. */
const ANSWER_TIMEOUT_MS = 180_000;

/** Creates the look-up. It throws 401 for an invalid key, and 403 if the caller's plan does not include the configured model. */
export function createWebModels(deps: WebModelDeps): FindWebModel {
  return async ({ keyId, requestId, endpoint }) => {
    const caller = await deps.callerOf(keyId);
    if (caller === undefined)
      throw new ApiError(
        "invalid_api_key",
        "The API key with which this job was started has been revoked or has expired.",
      );
    const found = choose(deps, caller);
    if (found === "none" || found === undefined) return found;
    const { model, routes } = found;
    const payer = { caller, requestId, endpoint };
    return {
      id: model.id,
      contextLength: model.contextLength,
      maxOutputTokens: model.maxOutputTokens,
      ask: async (question, stopping) => {
        const { askModel } = await import("./ask.ts");
        return askModel(deps.ask, { ...question, model, routes }, { payer, timeoutMs: ANSWER_TIMEOUT_MS, stopping });
      },
    };
  };
}

/** Whether there is a model for a caller. */
export function hasWebModel(deps: WebModelChoice, caller: Subscribed): boolean {
  try {
    return typeof choose(deps, caller) === "object";
  } catch (error) {
    // The caller's plan does not include the configured model.
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** The properties of a caller that determine the model. */
type Subscribed = Pick<Caller, "models"> & { readonly account: Pick<Caller["account"], "tier"> };

function choose(deps: WebModelChoice, caller: Subscribed): ResolvedModel | "none" | undefined {
  const setting = deps.setting();
  if (setting === "none") return "none";
  return setting === "" ? cheapest(deps, caller) : configured(deps, setting, caller);
}

function cheapest({ catalog, isDemo }: WebModelChoice, caller: Subscribed): ResolvedModel | undefined {
  const wanted = { tier: caller.account.tier, models: caller.models, contextMin: CONTEXT_MIN, isLeftOut: isDemo };
  const model = cheapestChatModel(catalog(), wanted);
  return model && { model, routes: model.routes };
}

/** Finds the configured model. If it does not exist, the caller is not to blame. */
function configured({ catalog }: WebModelChoice, id: string, caller: Subscribed): ResolvedModel | undefined {
  if (resolveModel(catalog(), id)?.model.kind !== "chat") return undefined;
  const { account, models } = caller;
  return requireModel(catalog(), id, { tier: account.tier, models, isDecisionModel: () => false });
}
