// Prices and limits that are newer than the program: from a file with LiteLLM's list (model_prices_and_context_window.json) or
// with models in the words of the configuration. They take precedence over the packed ones, and the configuration over both.

import { isRecord } from "../base/json-object.ts";
import { CALLABLE, vendorAt } from "../vendors/look-up.ts";
import type { MetadataLookup } from "./metadata.ts";
import type { PublicFacts } from "./models.ts";
import type { PriceRow, Prices } from "./prices.ts";

/** The facts of models, by vendor and lower-case id. */
export interface Renewed {
  readonly vendors: ReadonlyMap<string, ReadonlyMap<string, PublicFacts>>;
  /** The number of models. */
  readonly count: number;
}

type Entry = Readonly<Record<string, unknown>>;

/** A sane list has a few thousand models. */
const MODELS_MAX = 50_000;
/** The highest price that is believed, in dollars per million tokens, and the largest limit. */
const PRICE_MAX = 1_000_000;
const TOKENS_MAX = 1_000_000_000;

/** Reads a list. Throws an `Error` that says what was expected. */
export function readRenewed(text: string): Renewed {
  const value = parse(text);
  if (!isRecord(value)) throw new Error("expected a JSON object");
  const { models } = value;
  const entries = Array.isArray(models)
    ? models.filter(isRecord).map(ownEntry)
    : Object.entries(value).map(litellmEntry);
  if (entries.length > MODELS_MAX) throw new Error(`expected at most ${MODELS_MAX} models`);
  const vendors = new Map<string, Map<string, PublicFacts>>();
  let count = 0;
  for (const entry of entries) {
    if (entry === undefined) continue;
    const known = vendors.get(entry.vendor) ?? new Map<string, PublicFacts>();
    vendors.set(entry.vendor, known);
    if (!known.has(entry.id)) count++;
    known.set(entry.id, entry.facts);
  }
  if (count === 0) throw new Error("expected LiteLLM's list of models, or {models: [{vendor, id, …}]}");
  return { vendors, count };
}

/** Looks models up in the renewed list first. What it does not state comes from the other one. */
export function withRenewed(lookUp: MetadataLookup, renewed: Renewed | undefined): MetadataLookup {
  if (renewed === undefined) return lookUp;
  return (baseUrl, model) => {
    const packed = lookUp(baseUrl, model);
    const vendor = URL.canParse(baseUrl) ? vendorAt(new URL(baseUrl).hostname)?.name : undefined;
    const known = vendor === undefined ? undefined : renewed.vendors.get(vendor);
    const newer = known?.get(model.replace(/^models\//, "").toLowerCase());
    return newer === undefined ? packed : { ...packed, ...newer };
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("expected JSON");
  }
}

interface Read {
  readonly vendor: string;
  readonly id: string;
  readonly facts: PublicFacts;
}

/** An entry in the words of the configuration's `models`. */
function ownEntry(entry: Entry): Read | undefined {
  const { vendor, id, prices } = entry;
  if (typeof vendor !== "string" || typeof id !== "string" || id === "") return undefined;
  const row = (from: Entry): PriceRow | undefined =>
    rowOf({
      input: price(from["input"]),
      output: price(from["output"]),
      cacheRead: price(from["cache_read"]),
      cacheWrite: price(from["cache_write"]),
      cacheWrite1h: price(from["cache_write_1h"]),
    });
  const base = isRecord(prices) ? row(prices) : undefined;
  const tiers = isRecord(prices) && Array.isArray(prices["tiers"]) ? prices["tiers"].filter(isRecord) : [];
  return {
    vendor,
    id: id.toLowerCase(),
    facts: stated({
      contextLength: count(entry["context_length"]),
      maxOutputTokens: count(entry["max_output_tokens"]),
      supportsTools: truth(entry["supports_tools"]),
      supportsVision: truth(entry["supports_vision"]),
      supportsReasoning: truth(entry["supports_reasoning"]),
      prices:
        base &&
        withTiers(
          base,
          tiers.map((tier) => [count(tier["above"]), row(tier)] as const),
        ),
    }),
  };
}

/** The kinds of models in LiteLLM's list that are billed by tokens. */
const BY_TOKENS: ReadonlySet<unknown> = new Set(["chat", "completion", "responses", "embedding", "rerank"]);

/** An entry of LiteLLM's list. */
function litellmEntry([name, entry]: [string, unknown]): Read | undefined {
  if (!isRecord(entry) || !BY_TOKENS.has(entry["mode"])) return undefined;
  const provider = entry["litellm_provider"];
  const vendor = CALLABLE.find((one) => one.name === provider || one.importNames?.some((other) => other === provider));
  if (vendor === undefined) return undefined;
  const id = name.startsWith(`${String(provider)}/`) ? name.slice(String(provider).length + 1) : name;
  const row = (above = ""): PriceRow | undefined => {
    const at = (member: string) => perMillion(entry[`${member}${above}`] ?? entry[member]);
    return rowOf({
      input: at("input_cost_per_token"),
      output: at("output_cost_per_token"),
      cacheRead: at("cache_read_input_token_cost"),
      cacheWrite: at("cache_creation_input_token_cost"),
      cacheWrite1h: perMillion(entry[`cache_creation_input_token_cost_above_1hr${above}`]),
    });
  };
  const base = row();
  const starts = Object.keys(entry).flatMap(
    (member) => /^input_cost_per_token_above_(\d+)k_tokens$/.exec(member)?.[1] ?? [],
  );
  const tiers = starts.map((start) => [Number(start) * 1000, row(`_above_${start}k_tokens`)] as const);
  return {
    vendor: vendor.name,
    id: id.toLowerCase(),
    facts: stated({
      contextLength: contextOf(entry),
      maxOutputTokens: count(entry["max_output_tokens"]),
      supportsTools: truth(entry["supports_function_calling"]),
      supportsVision: truth(entry["supports_vision"]),
      supportsReasoning: truth(entry["supports_reasoning"]),
      prices: base && withTiers(base, tiers),
    }),
  };
}

/** The context that the list states. `max_tokens` may also be the limit of the output. */
function contextOf(entry: Entry): number | undefined {
  return count(entry["max_input_tokens"]);
}

function withTiers(base: PriceRow, tiers: readonly (readonly [number | undefined, PriceRow | undefined])[]): Prices {
  const rows = tiers.flatMap(([above, row]) => (above === undefined || row === undefined ? [] : [{ above, ...row }]));
  return rows.length === 0 ? base : { ...base, tiers: rows.sort((a, b) => a.above - b.above) };
}

/** The prices; undefined if none are known. Lists write zeros for models whose price they do not know. */
function rowOf(row: { [Name in keyof PriceRow]: number | undefined }): PriceRow | undefined {
  const { input, output } = row;
  if (input === undefined || input + (output ?? 0) === 0) return undefined;
  return stated({ ...row, input, output });
}

/** Without the members that are unknown, so that they do not hide what is known elsewhere. */
function stated<T extends object>(facts: T): T {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as T;
}

function price(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= PRICE_MAX ? value : undefined;
}

/** A price per token as one per million, without the noise of the multiplication. */
function perMillion(value: unknown): number | undefined {
  return typeof value === "number" ? price(Number((value * 1_000_000).toPrecision(12))) : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= TOKENS_MAX ? value : undefined;
}

function truth(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}
