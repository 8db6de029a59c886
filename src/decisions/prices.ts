// What a decision costs: its input tokens by the version's own price, else by what is publicly known of the upstream. Output
// is free (specification "Limits").

import { costMicros, type Prices } from "../catalog/prices.ts";
import type { Spent } from "./decide.ts";
import type { DecisionVersion } from "./versions.ts";

/** Who serves decision models at a public price: by host and model, US dollars per million input tokens. */
const PUBLIC: readonly (readonly [host: RegExp, model: RegExp, input: number])[] = [
  [/(^|\.)typesafe\.ai$/, /^jev-/, 0.042],
  [/(^|\.)api\.openai\.com$/, /^gpt-6-luna/, 0.1],
];

/** What is known of the ways to upstreams. */
export interface PriceDeps {
  baseUrl(provider: string): string | undefined;
  /** Prices of a chat model. */
  chatPrices(provider: string, model: string): Prices | undefined;
}

/** The cost of a request in whole micro-dollars; 0 where no price is known. */
export function decisionCostMicros(decision: Spent, version: DecisionVersion, deps: PriceDeps): number {
  const { backend, inputTokens } = decision;
  // What was answered here cost nothing anywhere.
  if (backend === undefined) return 0;
  const billed = { inputTokens, outputTokens: 0 };
  if (version.inputPrice !== undefined) return costMicros({ input: version.inputPrice, output: 0 }, billed);
  const { provider, model } = backend.route;
  const { kind } = version.spec;
  if (kind === "logprobs" || kind === "verbalized") {
    const prices = deps.chatPrices(provider, model);
    // Each question is a prompt of its own there, so what was sent says more than what is billed.
    return prices === undefined ? 0 : costMicros(inputOnly(prices), { ...(backend.spent ?? billed), outputTokens: 0 });
  }
  const host = URL.parse(deps.baseUrl(provider) ?? "")?.hostname ?? "";
  const input = PUBLIC.find(([hosts, models]) => hosts.test(host) && models.test(model))?.[2];
  return input === undefined ? 0 : costMicros({ input, output: 0 }, billed);
}

/** Spec: output is free. */
function inputOnly(prices: Prices): Prices {
  return { ...prices, output: 0, tiers: prices.tiers?.map((tier) => ({ ...tier, output: 0 })) };
}
