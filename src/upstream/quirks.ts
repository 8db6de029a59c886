// Properties of providers and models that several dialects need. The facts about models are in vendors/.

import type { ReasoningOptions } from "../chat/request.ts";
import { factsOf, modelByName } from "../vendors/model-facts.ts";
import { EFFORTS, type Effort, type ModelTraits, type Taken } from "../vendors/model-family.ts";
import type { RequestContext } from "./dialect.ts";

/** The top-level parameters that this provider, or this model at any provider, refuses in such a request. */
export function refusedFor(
  ctx: Pick<RequestContext, "model" | "quirks">,
  wanted: ReasoningOptions | undefined,
): readonly string[] {
  const facts = factsOf(ctx.model);
  const { refuses = [], refuses_by_model: byModel } = ctx.quirks;
  const samplers = takes(facts.sampling, facts, wanted) ? [] : facts.samplers;
  if (byModel === undefined && facts.refuses.length === 0 && samplers.length === 0) return refuses;
  const refused = new Set([...refuses, ...facts.refuses, ...samplers]);
  for (const [glob, names] of Object.entries(byModel ?? {})) {
    if (matches(glob, ctx.model)) for (const name of names) refused.add(name);
  }
  return [...refused];
}

/** Whether the model accepts parameters that reasoning may exclude, in a request with this reasoning. */
export function takes(taken: Taken, facts: Readonly<ModelTraits>, wanted: ReasoningOptions | undefined): boolean {
  return taken === "unless-reasoning" ? !willReason(facts, wanted) : taken === "always";
}

function willReason(facts: Readonly<ModelTraits>, wanted: ReasoningOptions = {}): boolean {
  const { effort, enabled, budgetTokens } = wanted;
  if (effort === "none" || enabled === false) return false;
  return effort !== undefined || enabled === true || budgetTokens !== undefined || facts.reasonsByDefault;
}

/** Whether the model may reason. Other models refuse some reasoning parameters of their protocol. */
export function mayReason(ctx: Pick<RequestContext, "model" | "supportsReasoning">): boolean {
  return ctx.supportsReasoning || factsOf(ctx.model).reasons;
}

/** Whether a model of unknown kind may reason: its name says so, or says nothing about it. */
export function mayReasonByName({ model, quirks }: Pick<RequestContext, "model" | "quirks">): boolean {
  const { family, facts } = modelByName(model);
  return facts.reasons || (family === undefined && quirks.free_model_names === true);
}

/** The efforts that a model accepts; none if it accepts no effort, to which many servers answer 400. */
export function effortsFor(
  ctx: Pick<RequestContext, "model" | "supportsReasoning">,
  protocol: "chat" | "responses",
): readonly Effort[] {
  if (!mayReason(ctx)) return [];
  const facts = factsOf(ctx.model);
  return protocol === "chat" ? facts.chatEfforts : facts.efforts;
}

/** OpenAI's level for the requested effort, which may be in the terms of any protocol or a token budget. It is one of `taken`. */
export function effortFor(wanted: ReasoningOptions, taken: readonly Effort[]): string | undefined {
  const { effort, budgetTokens, enabled } = wanted;
  if (effort !== undefined) return nearestEffort(effort, taken);
  if (enabled === false || budgetTokens === undefined) return undefined;
  if (budgetTokens <= 4096) return nearestEffort("low", taken);
  return nearestEffort(budgetTokens <= 16_384 ? "medium" : "high", taken);
}

/**
 * The accepted level nearest to the requested one: above `high` the next lower one, so that nobody pays for more than requested,
 * otherwise the next higher one. Unknown levels are kept, as they may be the vendor's own.
 */
export function nearestEffort(effort: string, taken: readonly Effort[]): string {
  const rank = EFFORTS.indexOf(effort as Effort);
  if (rank < 0 || taken.length === 0 || taken.includes(effort as Effort)) return effort;
  const above = taken.find((word) => EFFORTS.indexOf(word) > rank);
  const below = taken.findLast((word) => EFFORTS.indexOf(word) < rank);
  return (rank > EFFORTS.indexOf("high") ? (below ?? above) : (above ?? below)) ?? effort;
}

/** Whether a reasoning parameter has no effect: an effort other than the one in `sent`, or turning reasoning on or off. */
export function losesReasoning(wanted: ReasoningOptions, sent: string | undefined, may: boolean): boolean {
  if (effortFor(wanted, []) !== undefined) return sent === undefined;
  return wanted.enabled !== undefined && wanted.enabled !== may;
}

/** Whether a glob matches the model: `*` stands for any text, and case is ignored. */
function matches(glob: string, model: string): boolean {
  const [first = "", ...rest] = glob.toLowerCase().split("*");
  const name = model.toLowerCase();
  if (rest.length === 0) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  const last = rest.pop() ?? "";
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - at >= last.length && name.endsWith(last);
}
