// Runs as a macro while the program is bundled, never at run time. It extracts the data that the catalog needs from two
// public packages with metadata of well-known models. They are development dependencies, so the program contains only
// the result.

import { calcPrice, findProvider, type MatchLogic, type ModelPrice, type TieredPrices } from "@pydantic/genai-prices";
import { MODEL_CONFIGS } from "llm-zoo";
import { CALLABLE } from "../vendors/look-up.ts";
import { kindByName, type ModelKind } from "../vendors/model-kind.ts";
import type { MakersModels, ModelBilling, PublicFigures, Renaming } from "../vendors/vendor.ts";
import type { Billing, PriceRow, Prices } from "./prices.ts";

/** How a package matches a model's id. */
export type Match = MatchLogic;

/** Limits and abilities: context, output, then tools, vision and reasoning as 0 or 1. */
export type PackedLimits = readonly [context: number, output: number, tools: 0 | 1, vision: 0 | 1, reasoning: 0 | 1];

/** A vendor, recognised by its base URL. */
export interface PackedVendor {
  readonly name: string;
  /** Source of a regular expression on the base URL. */
  readonly url: string;
  readonly spellings?: readonly Renaming[] | undefined;
  readonly makers?: readonly MakersModels[] | undefined;
  readonly billing?: (Billing & { readonly models?: readonly ModelBilling[] }) | undefined;
  readonly models: readonly {
    readonly match: Match;
    readonly prices?: Prices | undefined;
    readonly context?: number | undefined;
  }[];
  /** By model id. */
  readonly limits: Readonly<Record<string, PackedLimits>>;
}

/** What says which vendor is meant. */
export type PackedAddress = Pick<PackedVendor, "name" | "url" | "makers">;

/** What is known of a vendor's models. */
export type PackedModels = Omit<PackedVendor, keyof PackedAddress>;

/** The metadata of all vendors. */
export function packedVendors(): PackedVendor[] {
  return CALLABLE.flatMap(({ name, api }) => (api.figures === undefined ? [] : [packVendor(name, api.figures)]));
}

/**
 * The same as text, with two lines of JSON for each vendor: its address and its models. A string costs almost nothing for a program that
 * never reads it.
 */
export function packMetadata(): string {
  return packedVendors()
    .flatMap(({ name, url, makers, ...models }) => [{ name, url, makers }, models])
    .map((part) => JSON.stringify(part))
    .join("\n");
}

function packVendor(
  name: string,
  { prices, addresses, spellings, makers, limits = "", billing, newer = [] }: PublicFigures,
): PackedVendor {
  const provider = findProvider({ providerId: prices });
  if (provider === undefined) throw new Error(`The price package has no vendor ${prices}.`);
  const models = provider.models.map((model) => {
    // The first id that matches the model's own rule gives the current prices.
    const found = [model.id, ...idsOf(model.match)]
      .map((id) => calcPrice({ input_tokens: 0, output_tokens: 0 }, id, { provider }))
      .find((price) => price?.model.id === model.id);
    return {
      match: model.match,
      prices: found ? pricesOf(found.model_price, model.id) : undefined,
      context: model.context_window,
    };
  });
  const own = newer.map((model) => ({
    match: { equals: model.id },
    prices: model.prices,
    context: model.contextLength,
  }));
  // All current models that chat have tools, vision and reasoning.
  const ownLimits = newer.map(({ id, contextLength, maxOutputTokens }): [string, PackedLimits] => {
    return [id, [contextLength, maxOutputTokens, 1, 1, 1]];
  });
  return {
    name,
    url: addresses ?? provider.api_pattern,
    spellings,
    makers,
    billing,
    models: [...models, ...own],
    limits: { ...Object.fromEntries(ownLimits), ...limitsOf(limits) },
  };
}

/** Candidate ids for a rule: some rules do not match the package's own id of the model. */
function idsOf(rule: Match): string[] {
  if ("or" in rule) return rule.or.flatMap(idsOf);
  if ("and" in rule || "regex" in rule) return [];
  return Object.values(rule);
}

const INPUT_ONLY: ReadonlySet<string> = new Set(["embedding", "rerank"] satisfies ModelKind[]);

function pricesOf(model: ModelPrice, id: string): Prices | undefined {
  // Their output is not billed per token.
  const free = INPUT_ONLY.has(kindByName(id) ?? "") ? 0 : undefined;
  const row = (above?: number): PriceRow | undefined => {
    const input = priceAt(model["input_mtok"], above);
    const output = priceAt(model["output_mtok"], above) ?? free;
    if (input === undefined || output === undefined) return undefined;
    const cacheRead = priceAt(model["cache_read_mtok"], above);
    const cacheWrite = priceAt(model["cache_write_mtok"], above);
    return { input, output, cacheRead, cacheWrite };
  };
  const base = row();
  if (base === undefined) return undefined;
  const starts = new Set<number>();
  for (const price of Object.values(model)) {
    if (typeof price === "object") for (const tier of price.tiers) starts.add(tier.start);
  }
  const tiers = [...starts].sort((a, b) => a - b).map((above) => ({ above, ...(row(above) as PriceRow) }));
  return tiers.length === 0 ? base : { ...base, tiers };
}

function priceAt(price: number | TieredPrices | undefined, above: number | undefined): number | undefined {
  if (typeof price !== "object") return price;
  let value = price.base;
  for (const tier of price.tiers) if (above !== undefined && above >= tier.start) value = tier.price;
  return value;
}

/** Several entries with one id (with and without thinking) are one model, with the most permissive of their values. */
function limitsOf(owner: NonNullable<PublicFigures["limits"]>): Record<string, PackedLimits> {
  const limits: Record<string, PackedLimits> = {};
  for (const model of Object.values(MODEL_CONFIGS)) {
    const own = model.provider === owner ? model.fullName : undefined;
    const id = typeof owner === "object" ? model.openrouterFullName : own;
    if (id === undefined || id === "") continue;
    const { supportsFunctionCalling, supportsVision, supportsReasoning } = model.capabilities;
    const known = limits[id] ?? [0, 0, 0, 0, 0];
    limits[id] = [
      Math.max(known[0], model.contextWindow),
      Math.max(known[1], model.maxOutputTokens),
      supportsFunctionCalling ? 1 : known[2],
      supportsVision ? 1 : known[3],
      supportsReasoning ? 1 : known[4],
    ];
  }
  return limits;
}
