// The cost of a decision: its input tokens at the version's own price, or else at the price of the chat model that is asked
// (configured or public), or at the decision service's public price. Output is free.

import type { Prices } from "../../catalog/prices.ts";
import { type BilledCost, billedCost, NO_COST } from "../../gateway/usage/billed-cost.ts";
import { worstCostMicros } from "../../gateway/usage/worst-case.ts";
import { vendorAt } from "../../vendors/look-up.ts";
import { measure } from "../api/budget.ts";
import type { DecisionCost } from "../api/decide.ts";
import type { DecisionRoute } from "../backends/backend.ts";
import { backendOf } from "../backends/index.ts";
import type { DecisionRequest } from "../questions.ts";
import type { DecisionVersion } from "./versions.ts";

/** What is known of the upstreams. */
export interface PriceDeps {
  baseUrl(provider: string): string | undefined;
  /** The prices of a provider's chat model, configured or public. */
  chatPrices(provider: string, model: string): Prices | undefined;
}

/** The cost of a request; 0 if no price is known. */
export function decisionCost(spent: DecisionCost, version: DecisionVersion, deps: PriceDeps): BilledCost {
  const { backend, inputTokens } = spent;
  // A request that needed no upstream costs nothing.
  if (backend === undefined) return NO_COST;
  const prices = pricesOf(version, backend.route, deps);
  // Each question is a prompt of its own for a text model, so the tokens that were sent determine the cost.
  const own = version.inputPrice === undefined && backendOf(version.spec).asText ? backend.spent : undefined;
  return billedCost(prices, { ...(own ?? { inputTokens }), outputTokens: 0 });
}

/** The tokens of the prompt around a question for a text model. */
const PROMPT_TOKENS = 300;
/** Other vocabularies split a text into up to this many times as many tokens. */
const VOCABULARY_FACTOR = 1.5;

/** The maximum cost of a request in whole micro-dollars, by its most expensive route; 0 if no price is known. */
export async function decisionWorstCaseMicros(
  asked: Omit<DecisionRequest, "model">,
  version: DecisionVersion,
  deps: PriceDeps,
): Promise<number> {
  const prices = version.spec.routes.flatMap((route) => pricesOf(version, route, deps) ?? []);
  if (prices.length === 0) return 0;
  const counted = await (await measure(asked))();
  // A text model reads the state again for each question and for each order of its options. A prior may need as many calls.
  const { orders, prior } = version.spec;
  const each = Math.max(1, orders) * (prior === "content_free" ? 2 : 1);
  const calls = backendOf(version.spec).asText ? asked.questions.length * each : 1;
  const inputTokens = Math.ceil((counted + PROMPT_TOKENS) * VOCABULARY_FACTOR) * calls;
  return Math.max(...prices.map((each) => worstCostMicros(each, { inputTokens, outputTokens: 0 })));
}

/** The price of a million input tokens in US dollars, by the version's first route; null if it is unknown. */
export function inputPriceOf(version: DecisionVersion, deps: PriceDeps): number | null {
  return pricesOf(version, version.spec.routes[0]!, deps)?.input ?? null;
}

function pricesOf(
  version: DecisionVersion,
  { provider, model }: Pick<DecisionRoute, "provider" | "model">,
  deps: PriceDeps,
): Prices | undefined {
  if (version.inputPrice !== undefined) return { input: version.inputPrice, output: 0 };
  if (backendOf(version.spec).asText) return inputOnly(deps.chatPrices(provider, model));
  const host = URL.parse(deps.baseUrl(provider) ?? "")?.hostname ?? "";
  const known = vendorAt(host)?.api.decisions?.prices?.find((price) => price.model.test(model));
  return known === undefined ? undefined : { input: known.input, output: 0 };
}

/** Prices in which output is free. */
function inputOnly(prices: Prices | undefined): Prices | undefined {
  return prices && { ...prices, output: 0, tiers: prices.tiers?.map((tier) => ({ ...tier, output: 0 })) };
}
