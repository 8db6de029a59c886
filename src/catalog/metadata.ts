// Public metadata of well-known models: prices, limits, abilities. Only for the vendor of the provider's base URL: another
// server may offer the same id with other limits, and a wrong limit would refuse valid requests.

import type { InferredFacts, PublicFacts } from "./models.ts";
import type { Match, PackedLimits, PackedVendor } from "./pack-metadata.ts";
import { type SiblingLookup, siblingLookup } from "./siblings.ts";

/** The metadata of a vendor's model; undefined for unknown vendors and models. */
export type MetadataLookup = (baseUrl: string, model: string) => PublicFacts | undefined;

/** A snapshot's date or version at the end of an id, such as `gpt-x-2026-01-31`, `claude-x-20260131`, `gemini-x-001`. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4}|latest)$/;

/** Parses the packed metadata. Takes some milliseconds: once, after start. */
export async function loadMetadata(): Promise<MetadataLookup> {
  const { PACKED_METADATA } = await import("./packed-metadata.ts");
  const vendors = (JSON.parse(PACKED_METADATA) as PackedVendor[]).map((vendor) => ({
    url: new RegExp(`^${vendor.url}`),
    models: vendor.models,
    billingOf: billingLookup(vendor.billing),
    limits: limitsByName(vendor.limits),
    siblings: siblingLookup(Object.entries(vendor.limits), ([context, output]) => context + output),
  }));
  return (baseUrl, model) => {
    const vendor = vendors.find(({ url }) => url.test(baseUrl));
    if (vendor === undefined) return undefined;
    // Google lists its models as `models/NAME`.
    const id = model.replace(/^models\//, "").toLowerCase();
    const priced = vendor.models.find(({ match }) => matches(match, id));
    const limits = vendor.limits.get(id) ?? vendor.limits.get(id.replace(SNAPSHOT, ""));
    const billing = vendor.billingOf(id);
    if (limits !== undefined) return { ...factsOfLimits(limits), prices: priced?.prices, ...billing };
    const inferred = inferredFrom(vendor.siblings, id);
    // Prices of such a model may come from the configuration or the renewed list, and the vendor bills it like its others.
    if (priced === undefined && inferred === undefined) return billing.billing && billing;
    return { contextLength: priced?.context, prices: priced?.prices, inferred, ...billing };
  };
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
