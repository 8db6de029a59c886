// The catalog in memory: one immutable snapshot of the configured models, the providers' lists and public metadata. Pure:
// same input, same catalog. A model that no provider lists any more is not in it.

import type { TierId } from "../config/schema.ts";
import { kindByName, type ModelKind } from "../vendors/model-kind.ts";
import type { ProviderKind } from "../vendors/protocols.ts";
import type { DiscoveredModel } from "../vendors/vendor.ts";
import { isModelKind, KINDS } from "./kinds.ts";
import { type Billing, type Prices, withBilling } from "./prices.ts";
import { type ChosenRoute, chosenBy, type RouteChoice } from "./route-choice.ts";
import { isTierId } from "./tiers.ts";

/** Limits and abilities of a model that nobody states, as its newest known sibling has them: shown, never enforced. */
export interface InferredFacts {
  readonly contextLength?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly supportsTools?: boolean | undefined;
  readonly supportsVision?: boolean | undefined;
  readonly supportsReasoning?: boolean | undefined;
}

/** Public metadata of a model. */
export interface PublicFacts extends ModelFacts {
  readonly inferred?: InferredFacts | undefined;
  /** What the vendor bills beside tokens. */
  readonly billing?: Billing | undefined;
}

/** The metadata of a model; absent means unknown. */
export interface ModelFacts {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly contextLength?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly supportsTools?: boolean | undefined;
  readonly supportsVision?: boolean | undefined;
  readonly supportsReasoning?: boolean | undefined;
  readonly prices?: Prices | undefined;
  /** The model's release date, as its provider states it. */
  readonly createdSeconds?: number | undefined;
}

/** A route to a model: the provider's key in the config and the model's id there. */
export interface ModelRoute extends ChosenRoute {
  readonly provider: string;
  readonly model: string;
  /** Lower goes first. */
  readonly priority: number;
  /** Share of the load among routes of equal priority. */
  readonly weight: number;
  /** The protocol, for clouds; absent: the model's name decides. */
  readonly protocol?: ProviderKind | undefined;
  /** Its own prices; absent: the model's. */
  readonly prices?: Prices | undefined;
}

/** An entry of the config's `models`. */
export interface ConfiguredModel extends ModelFacts {
  readonly id: string;
  readonly ownedBy?: string | undefined;
  /** Absent: the kind in its provider's list, else the one that its name suggests. */
  readonly kind?: ModelKind | undefined;
  readonly tier?: TierId | undefined;
  /** `list`, or anything else for a model that can be used but is not listed. */
  readonly visibility?: string | undefined;
  readonly aliases?: readonly string[] | undefined;
  readonly routing?: RouteChoice | undefined;
  /** The model that takes requests which are too long for this one. */
  readonly larger?: string | undefined;
  readonly routes?: readonly {
    readonly provider: string;
    readonly model?: string | undefined;
    readonly priority?: number | undefined;
    readonly weight?: number | undefined;
    readonly protocol?: ProviderKind | undefined;
    readonly prices?: Prices | undefined;
  }[];
}

/** The facts about a provider; in config order. */
export interface CatalogProvider {
  readonly key: string;
  readonly discoverTier?: TierId | undefined;
  readonly modelDefaults?: ModelFacts | undefined;
  /** The embedded demo: its models never replace another provider's. */
  readonly demo?: boolean | undefined;
}

/** Metadata that may be unknown; a limit is only enforced if it is configured or known. */
export interface KnownFacts {
  readonly contextLength: boolean;
  readonly maxOutputTokens: boolean;
  readonly supportsTools: boolean;
  readonly supportsVision: boolean;
  readonly supportsReasoning: boolean;
}

/** A model as the rest of the program sees it. */
export interface CatalogModel {
  readonly id: string;
  readonly name: string;
  readonly ownedBy: string;
  readonly description: string;
  readonly kind: ModelKind;
  readonly tier: TierId;
  readonly visibility: string;
  readonly aliases: readonly string[];
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  readonly supportsTools: boolean;
  readonly supportsVision: boolean;
  readonly supportsReasoning: boolean;
  readonly known: KnownFacts;
  /** The largest context of its routes; undefined if that of one is unknown. Longer prompts fit nowhere. */
  readonly largestContext: number | undefined;
  /** What is shown in place of unknown facts. */
  readonly inferred: InferredFacts;
  readonly prices: Prices | undefined;
  /** 0 if unknown. */
  readonly createdSeconds: number;
  /** The model that takes requests which are too long for this one. */
  readonly larger?: string;
  /** By priority; never empty. */
  readonly routes: readonly ModelRoute[];
}

/** One snapshot of the catalog. */
export interface Catalog {
  readonly models: readonly CatalogModel[];
  readonly plain: NameIndex;
  /** `<provider key>/<name>` and `<owned_by>/<name>`, with the routes that the prefix allows. */
  readonly prefixed: NameIndex;
}

/** Names to models, in the order of look-up; lower-case keys in the `lower` maps. The first model with a key keeps it. */
export interface NameIndex {
  readonly ids: ReadonlyMap<string, ResolvedModel>;
  readonly lowerIds: ReadonlyMap<string, ResolvedModel>;
  readonly aliases: ReadonlyMap<string, ResolvedModel>;
  readonly lowerAliases: ReadonlyMap<string, ResolvedModel>;
}

/** A model and the routes that the client's id allows: never empty. */
export interface ResolvedModel {
  readonly model: CatalogModel;
  readonly routes: readonly ModelRoute[];
}

export interface CatalogInput {
  readonly models: readonly ConfiguredModel[];
  /** In config order. */
  readonly providers: readonly CatalogProvider[];
  /** By provider key: its last list. */
  readonly discovered: ReadonlyMap<string, readonly DiscoveredModel[]>;
  /** Public metadata of a model; `provider` is the key of its first route. */
  readonly metadata: (upstreamModel: string, provider: string) => PublicFacts | undefined;
  /** The date of models whose release date is unknown, since clients sort and show models by date. Absent: 0. */
  readonly sinceSeconds?: number;
}

/** Reported, but not enforced, for a model without known limits. */
export const UNKNOWN_MODEL = {
  contextLength: 128_000,
  maxOutputTokens: 32_000,
  supportsTools: true,
  supportsVision: true,
  supportsReasoning: false,
} as const;

/** Builds the catalog: configured models first, in their order, then discovered ones by provider. */
export function buildCatalog(input: CatalogInput): Catalog {
  const found = collectDiscovered(input);
  const providers = new Map(input.providers.map((provider) => [provider.key, provider]));
  const models: CatalogModel[] = [];
  const taken = new Set<string>();
  const listed = listedModels(input);
  for (const entry of input.models) {
    if (taken.has(entry.id)) continue;
    const routes = configuredRoutes(entry, found.get(entry.id), providers);
    if (routes.length === 0) continue;
    taken.add(entry.id);
    models.push(assemble(entry, routes, { input, providers, listed, found: found.get(entry.id)?.facts }));
  }
  for (const [id, entry] of found) {
    if (taken.has(id)) continue;
    models.push(assemble({ id }, entry.routes, { input, providers, listed, found: entry.facts }));
  }
  return index(models);
}

/** Finds models in the providers' lists. Each list is indexed when its first model is looked for. */
function listedModels({ discovered }: CatalogInput): Sources["listed"] {
  const indexes = new Map<string, ReadonlyMap<string, DiscoveredModel>>();
  return (provider, model) => {
    let of = indexes.get(provider);
    if (of === undefined) {
      of = new Map((discovered.get(provider) ?? []).map((entry) => [entry.id, entry]));
      indexes.set(provider, of);
    }
    return of.get(model);
  };
}

interface Found {
  routes: ModelRoute[];
  facts: DiscoveredModel;
  demo: boolean;
}

/** One id at several providers is one model with several routes, tried in config order. */
function collectDiscovered(input: CatalogInput): Map<string, Found> {
  const found = new Map<string, Found>();
  for (const provider of input.providers) {
    const demo = provider.demo === true;
    for (const model of input.discovered.get(provider.key) ?? []) {
      const entry = found.get(model.id);
      const route = { provider: provider.key, model: model.id, priority: (entry?.routes.length ?? 0) + 1, weight: 1 };
      if (entry === undefined || (entry.demo && !demo)) {
        found.set(model.id, { routes: [{ ...route, priority: 1 }], facts: model, demo });
      } else if (!demo && !entry.routes.some((other) => other.provider === provider.key)) {
        entry.routes.push(route);
      }
    }
  }
  return found;
}

/**
 * An entry without routes gets those where its id was discovered, else the provider that is its owner. Routes to missing
 * providers are dropped, and a model without routes is not offered.
 */
function configuredRoutes(
  entry: ConfiguredModel,
  found: Found | undefined,
  providers: ReadonlyMap<string, CatalogProvider>,
): readonly ModelRoute[] {
  const written = entry.routes ?? [];
  if (written.length === 0) {
    if (found !== undefined) return found.routes;
    const owner = entry.ownedBy !== undefined && providers.has(entry.ownedBy) ? entry.ownedBy : undefined;
    return owner === undefined ? [] : [{ provider: owner, model: entry.id, priority: 1, weight: 1 }];
  }
  return written
    .filter((route) => providers.has(route.provider))
    .map((route) => ({
      provider: route.provider,
      model: route.model ?? entry.id,
      priority: route.priority ?? 1,
      weight: route.weight ?? 1,
      ...(route.protocol === undefined ? {} : { protocol: route.protocol }),
      ...(route.prices === undefined ? {} : { prices: route.prices }),
    }))
    .sort((a, b) => a.priority - b.priority);
}

interface Sources {
  input: CatalogInput;
  providers: ReadonlyMap<string, CatalogProvider>;
  found: DiscoveredModel | undefined;
  /** A model in a provider's list. */
  listed(provider: string, model: string): DiscoveredModel | undefined;
}

/** Builds a model: configuration first, then the provider's list, then public metadata, then defaults. */
function assemble(entry: ConfiguredModel, routes: readonly ModelRoute[], sources: Sources): CatalogModel {
  const first = routes[0]!;
  const provider = sources.providers.get(first.provider);
  const published = sources.input.metadata(first.model, first.provider);
  const layers: readonly (ModelFacts | undefined)[] = [entry, sources.found, published, provider?.modelDefaults];
  const pick = <K extends keyof ModelFacts>(key: K): ModelFacts[K] => layers.find((l) => l?.[key] !== undefined)?.[key];
  const kind = entry.kind ?? kindOf(first.model, sources.found);
  const unknown = kind === "chat" ? UNKNOWN_MODEL : { ...UNKNOWN_MODEL, supportsTools: false, supportsVision: false };
  const contextLength = pick("contextLength");
  const maxOutputTokens = pick("maxOutputTokens");
  const supportsTools = pick("supportsTools");
  const supportsVision = pick("supportsVision");
  const supportsReasoning = pick("supportsReasoning");
  const known: KnownFacts = {
    contextLength: contextLength !== undefined,
    maxOutputTokens: maxOutputTokens !== undefined,
    supportsTools: supportsTools !== undefined,
    supportsVision: supportsVision !== undefined,
    supportsReasoning: supportsReasoning !== undefined,
  };
  return {
    id: entry.id,
    name: pick("name") ?? entry.id,
    ownedBy: entry.ownedBy ?? first.provider,
    description: pick("description") ?? "",
    kind,
    tier: isTierId(entry.tier) ? entry.tier : (provider?.discoverTier ?? "free"),
    // A model that no endpoint accepts is not listed, unless the operator configures that.
    visibility: entry.visibility ?? (KINDS[kind].endpoints.length === 0 ? "hidden" : "list"),
    aliases: entry.aliases ?? [],
    contextLength: contextLength ?? UNKNOWN_MODEL.contextLength,
    maxOutputTokens: maxOutputTokens ?? UNKNOWN_MODEL.maxOutputTokens,
    supportsTools: supportsTools ?? unknown.supportsTools,
    supportsVision: supportsVision ?? unknown.supportsVision,
    supportsReasoning: supportsReasoning ?? UNKNOWN_MODEL.supportsReasoning,
    known,
    largestContext: entry.contextLength ?? largestContext(routes, contextLength, sources),
    inferred: kind === "chat" ? unstated(published?.inferred, known) : {},
    prices: withBilling(entry.prices ?? first.prices ?? pick("prices"), published?.billing),
    createdSeconds: pick("createdSeconds") ?? sources.input.sinceSeconds ?? 0,
    ...(entry.larger === undefined ? {} : { larger: entry.larger }),
    routes: chosenBy(
      entry.routing,
      routes.map((route) => withOwnBilling(route, sources.input)),
      ({ model, provider: key, prices }) => prices ?? entry.prices ?? sources.input.metadata(model, key)?.prices,
    ),
  };
}

/** The route; if it has prices of its own, with what its vendor bills beside tokens. */
function withOwnBilling(route: ModelRoute, { metadata }: Pick<CatalogInput, "metadata">): ModelRoute {
  if (route.prices === undefined) return route;
  return { ...route, prices: withBilling(route.prices, metadata(route.model, route.provider)?.billing) };
}

/** The model with the prices of one of its routes. */
export function modelOnRoute(model: CatalogModel, { prices }: Pick<ModelRoute, "prices">): CatalogModel {
  return prices === undefined ? model : { ...model, prices };
}

/** `first`: the context of the first route. */
function largestContext(
  [, ...others]: readonly ModelRoute[],
  first: number | undefined,
  { input, providers, listed }: Sources,
): number | undefined {
  const contexts = others.map(
    ({ provider, model }) =>
      listed(provider, model)?.contextLength ??
      input.metadata(model, provider)?.contextLength ??
      providers.get(provider)?.modelDefaults?.contextLength,
  );
  return [first, ...contexts].reduce((a, b) => (a === undefined || b === undefined ? undefined : Math.max(a, b)));
}

/** The inferred facts that nobody states. */
function unstated(inferred: InferredFacts | undefined, known: KnownFacts): InferredFacts {
  if (inferred === undefined) return {};
  return Object.fromEntries(
    Object.entries(inferred).filter(([name, value]) => value !== undefined && !known[name as keyof KnownFacts]),
  );
}

/** The model with inferred limits and abilities in place of unknown ones: only to be shown. */
export function asShown(model: CatalogModel): CatalogModel {
  return { ...model, ...model.inferred } as CatalogModel;
}

/** The kind in the provider's list; for models not listed there, the kind that the name suggests, if the catalog has it. */
function kindOf(upstreamModel: string, found: DiscoveredModel | undefined): ModelKind {
  const said = found === undefined ? kindByName(upstreamModel) : found.kind;
  return isModelKind(said) ? said : "chat";
}

function index(models: readonly CatalogModel[]): Catalog {
  const whole = models.map((model) => ({ prefix: "", model, routes: model.routes }));
  // A provider's own routes take precedence over an owner's name, whatever the order of the models.
  const byProvider = models.flatMap((model) =>
    [...new Set(model.routes.map((route) => route.provider))].map((key) => ({
      prefix: `${key}/`,
      model,
      routes: model.routes.filter((route) => route.provider === key),
    })),
  );
  // An owner that is not a provider of the model (`openai/x` served by another) allows all routes.
  const byOwner = models.map((model) => ({ prefix: `${model.ownedBy}/`, model, routes: model.routes }));
  return { models, plain: indexNames(whole), prefixed: indexNames([...byProvider, ...byOwner]) };
}

function indexNames(entries: readonly { prefix: string; model: CatalogModel; routes: readonly ModelRoute[] }[]) {
  const ids = new Map<string, ResolvedModel>();
  const lowerIds = new Map<string, ResolvedModel>();
  const aliases = new Map<string, ResolvedModel>();
  const lowerAliases = new Map<string, ResolvedModel>();
  for (const { prefix, model, routes } of entries) {
    const resolved = { model, routes };
    keep(ids, prefix + model.id, resolved);
    keep(lowerIds, (prefix + model.id).toLowerCase(), resolved);
    for (const alias of model.aliases) {
      keep(aliases, prefix + alias, resolved);
      keep(lowerAliases, (prefix + alias).toLowerCase(), resolved);
    }
  }
  return { ids, lowerIds, aliases, lowerAliases };
}

function keep<V>(map: Map<string, V>, key: string, value: V): void {
  if (!map.has(key)) map.set(key, value);
}
