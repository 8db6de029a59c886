// What a decision costs: its input tokens by the version's own price, else by what is publicly known of the upstream.
// Output is free.

import { costMicros, type Prices } from "../../catalog/prices.ts";
import { worstCostMicros } from "../../gateway/worst-case.ts";
import { vendorAt } from "../../vendors/look-up.ts";
import { measure } from "../api/budget.ts";
import type { DecisionCost } from "../api/decide.ts";
import type { DecisionRoute } from "../backends/backend.ts";
import { backendOf } from "../backends/index.ts";
import type { DecisionRequest } from "../questions.ts";
import type { DecisionVersion } from "./versions.ts";

/** What is known of the ways to upstreams. */
export interface PriceDeps {
  baseUrl(provider: string): string | undefined;
  /** Prices of a chat model. */
  chatPrices(provider: string, model: string): Prices | undefined;
}

/** The cost of a request in whole micro-dollars; 0 where no price is known. */
export function decisionCostMicros(spent: DecisionCost, version: DecisionVersion, deps: PriceDeps): number {
  const { backend, inputTokens } = spent;
  // What was answered here cost nothing anywhere.
  if (backend === undefined) return 0;
  const prices = pricesOf(version, backend.route, deps);
  // Each question is a prompt of its own to a text model, so what was sent says more than what is billed.
  const own = version.inputPrice === undefined && backendOf(version.spec).asText ? backend.spent : undefined;
  return prices === undefined ? 0 : costMicros(prices, { ...(own ?? { inputTokens }), outputTokens: 0 });
}

/** The prompt around a question for a text model, in tokens. */
const PROMPT_TOKENS = 300;
/** Other vocabularies than the one counted with cut a text into up to so many times the pieces. */
const VOCABULARY_FACTOR = 1.5;

/** The most that a request can cost in whole micro-dollars, by the dearest of its routes; 0 where no price is known. */
export async function decisionWorstCaseMicros(
  asked: Omit<DecisionRequest, "model">,
  version: DecisionVersion,
  deps: PriceDeps,
): Promise<number> {
  const prices = version.spec.routes.flatMap((route) => pricesOf(version, route, deps) ?? []);
  if (prices.length === 0) return 0;
  const counted = await (await measure(asked))();
  // A text model reads the state again for each question and each order of its options.
  const calls = backendOf(version.spec).asText ? asked.questions.length * Math.max(1, version.spec.orders) : 1;
  const inputTokens = Math.ceil((counted + PROMPT_TOKENS) * VOCABULARY_FACTOR) * calls;
  return Math.max(...prices.map((each) => worstCostMicros(each, { inputTokens, outputTokens: 0 })));
}

/** What a million input tokens of the version cost by its first route, in US dollars; null where no price is known. */
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

/** Output is free. */
function inputOnly(prices: Prices | undefined): Prices | undefined {
  return prices && { ...prices, output: 0, tiers: prices.tiers?.map((tier) => ({ ...tier, output: 0 })) };
}
