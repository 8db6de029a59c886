// Public metadata of well-known models: prices, limits, abilities. Only for the vendor of the provider's base URL: another
// server may offer the same id with other limits, and a wrong limit would refuse valid requests.

import { lazily } from "../base/lazily.ts";
import type { InferredFacts, PublicFacts } from "./models.ts";
import type { Match, PackedAddress, PackedLimits, PackedModels, PackedVendor } from "./pack-metadata.ts";
import type { PriceRow, Prices } from "./prices.ts";
import { type SiblingLookup, siblingLookup } from "./siblings.ts";

/** The metadata of a vendor's model; undefined for unknown vendors and models. */
export type MetadataLookup = (baseUrl: string, model: string) => PublicFacts | undefined;

/** A snapshot's date or version at the end of an id, such as `gpt-x-2026-01-31`, `claude-x-20260131`, `gemini-x-001`. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|latest)$/;

/** Parses the packed metadata. Takes some milliseconds: once, after start. */
export async function loadMetadata(): Promise<MetadataLookup> {
  const { PACKED_METADATA } = await import("./packed-metadata.ts");
  const lines = PACKED_METADATA.split("\n");
  const vendors = lines.flatMap((line, at) => (at % 2 === 0 ? [readVendor(line, lines[at + 1] as string)] : []));
  return (baseUrl, model) => {
    const vendor = vendors.find(({ url }) => url.test(baseUrl));
    if (vendor === undefined) return undefined;
    // Google lists its models as `models/NAME`.
    const id = model.replace(/^models\//, "").toLowerCase();
    const maker = vendor.makers.find(({ from }) => from.test(id));
    const made = maker && vendors.find(({ name }) => name === maker.vendor)?.find(id.replace(maker.from, maker.to));
    // What is inferred, or follows from a part of the name, is not stated for the exact one.
    if (made === undefined || (maker?.exact === true && made.maxOutputTokens === undefined)) return vendor.find(id);
    return inCloud(vendor.find(id), made, maker?.factorOf?.(baseUrl, id));
  };
}

interface KnownVendor {
  readonly name: string;
  readonly url: RegExp;
  /** A cloud's models that other vendors make. */
  readonly makers: readonly KnownMaker[];
  /** What is known of a model by its lower-case id. */
  find(id: string): PublicFacts | undefined;
}

interface KnownMaker {
  readonly vendor: string;
  readonly from: RegExp;
  readonly to: string;
  readonly exact: boolean;
  /** The factor on the maker's prices; absent: the cloud has prices of its own. */
  readonly factorOf?: (baseUrl: string, id: string) => number;
}

/** The models of a vendor are read when it is first asked for one: most installations have a few of the vendors. */
function readVendor(address: string, models: string): KnownVendor {
  const { name, url, makers = [] } = JSON.parse(address) as PackedAddress;
  const find = lazily(() => modelLookup(JSON.parse(models) as PackedModels));
  return {
    name,
    url: new RegExp(`^${url}`),
    makers: makers.map(({ vendor, from, to, exact = false, priced }) => ({
      vendor,
      from: new RegExp(from),
      to,
      exact,
      ...(priced === undefined ? {} : { factorOf: surchargeOf(priced) }),
    })),
    find: (id) => find()(id),
  };
}

function modelLookup({ models, billing, limits, spellings = [] }: PackedModels): KnownVendor["find"] {
  const billingOf = billingLookup(billing);
  const byName = limitsByName(limits);
  const siblings = siblingLookup(Object.entries(limits), ([context, output]) => context + output);
  const namesOf = renamings(spellings);
  return (id) => {
    const names = namesOf(id);
    const priced = firstOf(names, (one) => models.find(({ match }) => matches(match, one)));
    const own = firstOf(names, (one) => byName.get(one) ?? byName.get(one.replace(SNAPSHOT, "")));
    const terms = billingOf(id);
    if (own !== undefined) return { ...factsOfLimits(own), prices: priced?.prices, ...terms };
    const inferred = inferredFrom(siblings, id);
    // Prices of such a model may come from the configuration or the renewed list, and the vendor bills it like its others.
    if (priced === undefined && inferred === undefined) return terms.billing && terms;
    return { contextLength: priced?.context, prices: priced?.prices, inferred, ...terms };
  };
}

/** A name with its other spellings, the given one first. */
function renamings(rules: PackedVendor["spellings"] = []): (id: string) => readonly string[] {
  const known = rules.map(({ from, to }) => ({ from: new RegExp(from), to }));
  return (id) => {
    const names = [id];
    for (const { from, to } of known) {
      const last = names.at(-1) as string;
      const other = last.replace(from, to);
      if (other !== last) names.push(other);
    }
    return names;
  };
}

function firstOf<T>(names: readonly string[], find: (name: string) => T | undefined): T | undefined {
  for (const name of names) {
    const found = find(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Priced = NonNullable<NonNullable<PackedVendor["makers"]>[number]["priced"]>;

function surchargeOf({ surcharge }: Priced): NonNullable<KnownMaker["factorOf"]> {
  if (surcharge === undefined) return () => 1;
  const [addresses, models] = [new RegExp(surcharge.addresses), new RegExp(surcharge.models)];
  return (baseUrl, id) => (addresses.test(baseUrl) && models.test(id) ? surcharge.factor : 1);
}

/**
 * A model in a cloud, by what is known of it there and at its maker. The maker's limits are only inferred, since a cloud may have
 * others, and so is what the maker bills, unless the cloud charges the same.
 */
function inCloud(own: PublicFacts | undefined, made: PublicFacts, factor: number | undefined): PublicFacts {
  const {
    name: _name,
    description: _description,
    createdSeconds: _created,
    prices,
    billing,
    inferred,
    ...limits
  } = made;
  const facts = { contextLength: own?.contextLength, prices: own?.prices, inferred: { ...inferred, ...limits } };
  if (factor === undefined) return own?.billing === undefined ? facts : { ...facts, billing: own.billing };
  return {
    ...facts,
    prices: prices === undefined ? own?.prices : multiplied(prices, factor),
    ...(billing === undefined ? {} : { billing }),
  };
}

/** Prices with a surcharge, without the noise of the multiplication. */
function multiplied(prices: Prices, factor: number): Prices {
  if (factor === 1) return prices;
  const row = ({ input, output, cacheRead, cacheWrite, cacheWrite1h }: PriceRow) => {
    const figures = Object.entries({ input, output, cacheRead, cacheWrite, cacheWrite1h });
    return Object.fromEntries(
      figures.map(([name, price]) => [name, price && Number((price * factor).toPrecision(12))]),
    ) as unknown as PriceRow;
  };
  const tiers = prices.tiers?.map(({ above, ...figures }) => ({ above, ...row(figures) }));
  return { ...row(prices as PriceRow), ...(tiers === undefined ? {} : { tiers }) };
}

/** What each model of a vendor is billed by beside tokens: its own terms, and else those of all. */
function billingLookup(billing: PackedVendor["billing"]): (id: string) => Pick<PublicFacts, "billing"> {
  if (billing === undefined) return () => ({});
  const { models = [], ...all } = billing;
  const terms = models.map(({ id, source: _source, seen: _seen, ...own }) => {
    const services = { ...all.services, ...own.services };
    return { ids: new RegExp(id), billing: { ...all, ...own, services } };
  });
  return (id) => ({ billing: terms.find(({ ids }) => ids.test(id))?.billing ?? all });
}

function factsOfLimits([contextLength, maxOutputTokens, tools, vision, reasoning]: PackedLimits) {
  return {
    contextLength,
    maxOutputTokens,
    supportsTools: tools === 1,
    supportsVision: vision === 1,
    supportsReasoning: reasoning === 1,
  };
}

function inferredFrom(siblings: SiblingLookup<PackedLimits>, id: string): InferredFacts | undefined {
  const sibling = siblings(id);
  return sibling === undefined ? undefined : factsOfLimits(sibling.value);
}

/**
 * Models are also found by their name without its snapshot, since vendors have such aliases. An exact match takes
 * precedence.
 */
function limitsByName(limits: Readonly<Record<string, PackedLimits>>): Map<string, PackedLimits> {
  const byName = new Map<string, PackedLimits>();
  for (const [id, own] of Object.entries(limits)) byName.set(id.toLowerCase(), own);
  for (const [id, own] of Object.entries(limits)) {
    const floating = id.toLowerCase().replace(SNAPSHOT, "");
    if (!byName.has(floating)) byName.set(floating, own);
  }
  return byName;
}

/** Applies a package's rule to a lower-case id. */
function matches(rule: Match, id: string): boolean {
  if ("equals" in rule) return id === rule.equals.toLowerCase();
  if ("starts_with" in rule) return id.startsWith(rule.starts_with.toLowerCase());
  if ("ends_with" in rule) return id.endsWith(rule.ends_with.toLowerCase());
  if ("contains" in rule) return id.includes(rule.contains.toLowerCase());
  if ("regex" in rule) return new RegExp(rule.regex, "i").test(id);
  if ("or" in rule) return rule.or.some((part) => matches(part, id));
  return rule.and.every((part) => matches(part, id));
}
