// The model for extract and llmstxt: the configured one, or the cheapest that the caller may use, paid for by the request's
// key.

import { ApiError } from "../base/errors.ts";
import { cheapestChatModel } from "../catalog/cheapest.ts";
import type { Catalog, ResolvedModel } from "../catalog/models.ts";
import { requireModel, resolveModel } from "../catalog/resolve.ts";
import { askModel, type ModelAnswer, type ModelCallDeps, type Prompt } from "./ask.ts";
import type { Caller } from "./caller.ts";

/** What a web tool may request from it. */
export type WebQuestion = Omit<Prompt, "model" | "routes">;

/** A model that answers for a caller. */
export interface WebModel {
  readonly id: string;
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  /** Throws `ApiError` if no provider answers, or the caller's budgets do not allow it. */
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

/** The criteria for a model. */
export interface WebModelChoice {
  catalog(): Catalog;
  /** The embedded demo, which is never chosen. */
  isDemo(provider: string): boolean;
  /** `web.model`. */
  setting(): string;
}

export interface WebModelDeps extends WebModelChoice {
  readonly ask: ModelCallDeps;
  /** The holder of a key; undefined once it is revoked or expired. */
  callerOf(keyId: string): Promise<Caller | undefined>;
}

/** Minimum context size of an automatically chosen model. */
const CONTEXT_MIN = 32_000;
/** Time limit of one answer; long ones of slow models take a minute. */
const ANSWER_TIMEOUT_MS = 180_000;

/** Builds the look-up. It throws 401 for an invalid key, and 403 if the configured model is above the caller's plan. */
export function createWebModels(deps: WebModelDeps): FindWebModel {
  return async ({ keyId, requestId, endpoint }) => {
    const caller = await deps.callerOf(keyId);
    if (caller === undefined)
      throw new ApiError("invalid_api_key", "The API key that this was asked with was revoked or has expired.");
    const found = choose(deps, caller);
    if (found === "none" || found === undefined) return found;
    const { model, routes } = found;
    const payer = { caller, requestId, endpoint };
    return {
      id: model.id,
      contextLength: model.contextLength,
      maxOutputTokens: model.maxOutputTokens,
      ask: (question, signal) =>
        askModel(deps.ask, { ...question, model, routes }, { payer, timeoutMs: ANSWER_TIMEOUT_MS, stopping: signal }),
    };
  };
}

/** Whether there is a model for a caller. */
export function hasWebModel(deps: WebModelChoice, caller: Subscribed): boolean {
  try {
    return typeof choose(deps, caller) === "object";
  } catch (error) {
    // The configured model is above the caller's plan.
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** The caller's properties that determine the model. */
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

/** If the configured model does not exist, it is not the caller's fault. */
function configured({ catalog }: WebModelChoice, id: string, caller: Subscribed): ResolvedModel | undefined {
  if (resolveModel(catalog(), id)?.model.kind !== "chat") return undefined;
  const { account, models } = caller;
  return requireModel(catalog(), id, { tier: account.tier, models, isDecisionModel: () => false });
}
