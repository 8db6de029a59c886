// Properties of providers and models that several dialects need. The facts about models are in vendors/.

import type { ReasoningOptions } from "../chat/request.ts";
import { factsOf, modelByName, statesEfforts } from "../vendors/model-facts.ts";
import { EFFORTS, type Effort, type ModelTraits, type Taken } from "../vendors/model-family.ts";
import type { RequestContext } from "./dialect.ts";

const NONE_REFUSED: readonly string[] = [];

/** The top-level parameters that this provider, or this model at any provider, refuses in such a request. */
export function refusedFor(
  ctx: Pick<RequestContext, "model" | "quirks">,
  wanted: ReasoningOptions | undefined,
): readonly string[] {
  const facts = factsOf(ctx.model);
  const { refuses = NONE_REFUSED, refuses_by_model: byModel } = ctx.quirks;
  const samplers = takes(facts.sampling, facts, wanted) ? NONE_REFUSED : facts.samplers;
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
  // A model that does not accept `none` gets its lowest effort instead.
  if (wantsNone(wanted)) return facts.reasonsByDefault && !facts.efforts.includes("none");
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

/** Whether a request turns reasoning off. */
export function wantsNone({ effort, enabled }: ReasoningOptions): boolean {
  return enabled === false || effort === "none";
}

/** The effort to send, and whether it differs from the requested one, so that the parameter must be named. */
export interface EffortChoice {
  readonly effort: string | undefined;
  readonly changed: boolean;
}

/** OpenAI's level for the requested effort, which may be in the terms of any protocol or a token budget. It is one of `taken`. */
export function effortFor(wanted: ReasoningOptions, taken: readonly Effort[], may: boolean): EffortChoice {
  const asked = askedEffort(wanted, taken);
  if (asked === undefined)
    return { effort: undefined, changed: wanted.enabled !== undefined && wanted.enabled !== may };
  if (taken.length > 0) return fittedEffort(asked, taken);
  return { effort: undefined, changed: may || !wantsNone(wanted) };
}

function askedEffort(wanted: ReasoningOptions, taken: readonly Effort[]): string | undefined {
  const { effort, budgetTokens, enabled } = wanted;
  // A server of unknown models may refuse `none`, so only a client that says this word gets it sent.
  if (enabled === false) return effort === "none" || statesEfforts(taken) ? "none" : undefined;
  if (effort !== undefined || budgetTokens === undefined) return effort;
  return levelOf(budgetTokens);
}

/** The level of a token budget. */
export function levelOf(budgetTokens: number): Effort {
  if (budgetTokens <= 4096) return "low";
  return budgetTokens <= 16_384 ? "medium" : "high";
}

/** The accepted level nearest to the requested one, and whether it is another one. */
export function fittedEffort(asked: string, taken: readonly Effort[]): EffortChoice {
  const effort = nearestEffort(asked, taken);
  return { effort, changed: effort !== asked };
}

/**
 * The level to send instead of one that the client of the same protocol asks for; undefined if it can be sent. Only known
 * models of vendors that speak OpenAI's protocols are treated so, since a proxy before others gives the words its own meaning, and
 * no provider that chooses among models itself.
 */
export function refusedEffort(
  ctx: Pick<RequestContext, "model" | "quirks">,
  asked: unknown,
  protocol: "chat" | "responses",
): string | undefined {
  if (typeof asked !== "string" || ctx.quirks.route_wishes === true) return undefined;
  const facts = factsOf(ctx.model);
  const taken = protocol === "chat" ? facts.chatEfforts : facts.efforts;
  if (taken.length === 0 || !statesEfforts(facts.chatEfforts)) return undefined;
  const { effort, changed } = fittedEffort(asked, taken);
  return changed ? effort : undefined;
}

/**
 * The accepted level nearest to the requested one: above `high` the next lower one, so that nobody pays for more than requested,
 * otherwise the next higher one. Unknown levels are kept, as they may be the vendor's own.
 */
function nearestEffort(effort: string, taken: readonly Effort[]): string {
  const rank = EFFORTS.indexOf(effort as Effort);
  if (rank < 0 || taken.length === 0 || taken.includes(effort as Effort)) return effort;
  const above = taken.find((word) => EFFORTS.indexOf(word) > rank);
  const below = taken.findLast((word) => EFFORTS.indexOf(word) < rank);
  return (rank > EFFORTS.indexOf("high") ? (below ?? above) : (above ?? below)) ?? effort;
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
