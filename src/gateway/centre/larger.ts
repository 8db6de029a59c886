// Requests to a model that names a larger one (`models[].larger`): if the prompt is too long for the model, the larger one answers
// in its place, under its name.

import { ApiError } from "../../base/errors.ts";
import type { ResolvedModel } from "../../catalog/models.ts";
import { defaultsFor } from "../rules/policy.ts";
import { worstCaseMicros } from "../usage/worst-case.ts";
import type { GatewayDeps } from "./deps.ts";
import type { Answer, ChatTurn } from "./stage.ts";
import { type AskedRequest, modelFor } from "./turn.ts";

/** Answers a request that was read, by its model or the larger one. */
export async function answerOrLarger(
  deps: Pick<GatewayDeps, "budgets" | "catalog" | "isDecisionModel">,
  { asked, turn, larger }: { readonly asked: AskedRequest; readonly turn: ChatTurn; readonly larger: string },
  answer: (asked: AskedRequest) => Promise<Answer>,
): Promise<Answer> {
  const instead = largerModel(deps, larger, asked);
  if (instead === undefined) return answer({ ...asked, instead: "none" });
  const reservation = asked.reservation ?? (await reservedFor(deps, turn, instead));
  try {
    return await answerWithin({ ...asked, reservation, instead: "none" }, answer);
  } catch (error) {
    if (!(error instanceof ApiError) || error.apiCode !== "context_length_exceeded") throw error;
    asked.exchange.log["larger_for"] = turn.model.id;
    asked.exchange.span?.set({ "sallyport.larger_for": turn.model.id });
    return await answerWithin({ ...asked, reservation, instead: { ...instead, shownId: turn.model.id } }, answer);
  }
}

/** The second try goes on with what was reserved for both, though the first one has ended. */
async function answerWithin(asked: AskedRequest, answer: (asked: AskedRequest) => Promise<Answer>): Promise<Answer> {
  const own = asked.reservation?.share();
  try {
    return await answer(asked);
  } finally {
    own?.release();
  }
}

/** The larger model; undefined if the caller may not use it, so that the request is refused as one that is too long. */
function largerModel(
  deps: Pick<GatewayDeps, "catalog" | "isDecisionModel">,
  id: string,
  { caller }: AskedRequest,
): ResolvedModel | undefined {
  try {
    return modelFor(deps, id, caller);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Only one of the two answers, so that the dearer one is reserved. */
async function reservedFor(
  { budgets }: Pick<GatewayDeps, "budgets">,
  { caller, exchange, chat, model, format, options }: ChatTurn,
  instead: ResolvedModel,
) {
  if (caller.budgets === undefined) return undefined;
  const worst = [model, instead.model].map((one) =>
    worstCaseMicros(chat, one, { ...defaultsFor(chat, one, format), betas: options.betas }),
  );
  return budgets.reserve(caller.budgets, exchange, Math.max(...worst));
}
