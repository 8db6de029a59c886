// The models of a LiteLLM configuration: deployments of one name are the routes of one model, and its fallbacks are further
// routes after them.

import { lookUp } from "../../base/look-up.ts";
import { noteInfo, pricesOf, statedFacts } from "./litellm-facts.ts";
import { type Deployment, providerKeyOf, providerNames } from "./litellm-providers.ts";
import { reasonOf } from "./litellm-reasons.ts";
import { listOf, type Mapping, mappingOf, type Notes, textsOf } from "./reading.ts";

interface Route {
  readonly provider: string;
  readonly model: string;
  readonly priority: number;
  readonly weight?: number;
  /** Of its deployment, where its model's are others or unknown. */
  readonly prices?: Mapping | undefined;
}

/** The `models` of the file. */
export function modelEntries(
  deployments: readonly Deployment[],
  { router, library }: { router: Mapping; library: Mapping },
  notes: Notes,
): Mapping[] {
  const groups = Map.groupBy(
    deployments.filter(({ name, model }) => !name.includes("*") && !model.endsWith("*")),
    ({ name }) => name,
  );
  const names = providerNames(deployments);
  const own = new Map([...groups].map(([name, members]) => [name, routesOf(members, names)]));
  const further = fallbacksOf([router, library], "fallbacks", notes);
  const larger = fallbacksOf([router, library], "context_window_fallbacks", notes);
  const strategy = router["routing_strategy"] ?? library["routing_strategy"];
  const byDefault = [...textsOf(router["default_fallbacks"]), ...textsOf(library["default_fallbacks"])];
  const aliases = aliasesOf({ router, library }, notes);
  const out: Mapping[] = [];
  for (const [name, members] of groups) {
    const wanted = (further.get(name) ?? byDefault).filter((one) => one !== name);
    const alsoKnownAs = aliases.get(name) ?? [];
    aliases.delete(name);
    for (const deployment of members) noteInfo(deployment, notes);
    const { routes, prices } = pricesShared(withFallbacks(own.get(name) ?? [], wanted, { own, name, notes }));
    out.push({
      id: name,
      ...statedFacts(members),
      ...(prices === undefined ? {} : { prices }),
      ...(alsoKnownAs.length === 0 ? {} : { aliases: alsoKnownAs }),
      routes,
      ...routingOf(strategy, routes, { name, notes }),
      ...largerOf(larger.get(name) ?? [], { own, name, notes }),
    });
  }
  for (const [target, alsoKnownAs] of aliases) {
    notes.add("router_settings.model_group_alias", `${alsoKnownAs.join(", ")}: there is no model "${target}"`);
  }
  for (const [key, of] of [
    ["fallbacks", further],
    ["context_window_fallbacks", larger],
  ] as const) {
    for (const name of of.keys()) if (!groups.has(name)) notes.add(key, `there is no model "${name}"`);
  }
  if (strategy !== undefined && lookUp(ROUTINGS, String(strategy)) === undefined)
    notes.add("router_settings.routing_strategy", reasonOf("router_settings.routing_strategy"));
  return out;
}

function routesOf(members: readonly Deployment[], names: ReadonlyMap<string, string>): Route[] {
  const stated = members.map(pricesOf);
  const shared = shareOf(stated.filter((prices) => prices !== undefined));
  return members.map((deployment, at) => {
    const { order, weight } = deployment.params;
    const prices = shared ?? stated[at];
    return {
      provider: names.get(providerKeyOf(deployment))!,
      model: deployment.model,
      priority: typeof order === "number" && Number.isInteger(order) && order >= 1 ? order : 1,
      ...(typeof weight === "number" && weight > 0 ? { weight } : {}),
      ...(prices === undefined ? {} : { prices }),
    };
  });
}

/** The value that all are equal to. */
function shareOf<T>(values: readonly T[]): T | undefined {
  const [first] = values;
  const text = JSON.stringify(first);
  return values.every((value) => JSON.stringify(value) === text) ? first : undefined;
}

/** Prices stand with the model if all its routes have them: a fallback usually costs something else. */
function pricesShared(routes: readonly Route[]): { routes: readonly Route[]; prices?: Mapping | undefined } {
  const prices = shareOf(routes.map((route) => route.prices));
  return prices === undefined ? { routes } : { routes: routes.map(({ prices: _, ...route }) => route), prices };
}

function withFallbacks(
  routes: readonly Route[],
  wanted: readonly string[],
  { own, name, notes }: { own: ReadonlyMap<string, readonly Route[]>; name: string; notes: Notes },
): Route[] {
  const out = [...routes];
  for (const fallback of wanted) {
    const next = own.get(fallback);
    if (next === undefined) notes.add(`fallbacks of ${name}`, `there is no model "${fallback}"`);
    const last = Math.max(...out.map(({ priority }) => priority));
    for (const route of next ?? []) {
      const isThere = out.some(({ provider, model }) => provider === route.provider && model === route.model);
      if (!isThere) out.push({ ...route, priority: last + route.priority });
    }
  }
  return out;
}

/** LiteLLM's strategies. Its shuffle is what routes of equal priority do anyway. */
const ROUTINGS: Readonly<Record<string, string>> = {
  "simple-shuffle": "priority",
  "least-busy": "busy",
  "latency-based-routing": "latency",
  "cost-based-routing": "cost",
};

/** Only where no route is a fallback, which might otherwise be tried first. */
function routingOf(
  strategy: unknown,
  routes: readonly Route[],
  { name, notes }: { name: string; notes: Notes },
): { readonly routing?: string } {
  const routing = typeof strategy === "string" ? lookUp(ROUTINGS, strategy) : undefined;
  if (routing === undefined || routing === "priority" || routes.length < 2) return {};
  if (routes.every(({ priority }) => priority === routes[0]?.priority)) return { routing };
  notes.add(
    `router_settings.routing_strategy of ${name}`,
    `with \`models[].routing: ${routing}\`, its fallbacks might be tried first: left at priority`,
  );
  return {};
}

/** The model for requests that are too long; only one takes them. */
function largerOf(
  wanted: readonly string[],
  { own, name, notes }: { own: ReadonlyMap<string, unknown>; name: string; notes: Notes },
): { readonly larger?: string } {
  const place = `context_window_fallbacks of ${name}`;
  const [larger, ...others] = wanted.filter((one) => {
    const isModel = own.has(one) && one.toLowerCase() !== name.toLowerCase();
    if (!isModel) notes.add(place, `there is no other model "${one}"`);
    return isModel;
  });
  if (others.length > 0) notes.add(place, `only \`models[].larger: ${larger}\` takes them, not ${others.join(", ")}`);
  return larger === undefined ? {} : { larger };
}

/** `fallbacks: [{a: [b, c]}]`, from both places where they are allowed. */
function fallbacksOf(places: readonly Mapping[], key: string, notes: Notes): ReadonlyMap<string, readonly string[]> {
  const out = new Map<string, readonly string[]>();
  for (const entry of places.flatMap((place) => listOf(place[key]) ?? [])) {
    for (const [name, wanted] of Object.entries(mappingOf(entry) ?? {})) {
      const texts = textsOf(wanted);
      out.set(name, [...(out.get(name) ?? []), ...texts]);
      if (texts.length !== (listOf(wanted)?.length ?? 1)) {
        notes.add(`${key} of ${name}`, "a fallback with its own parameters cannot be converted");
      }
    }
  }
  return out;
}

/** `model_group_alias: {alias: model}`, by model. */
function aliasesOf({ router, library }: { router: Mapping; library: Mapping }, notes: Notes): Map<string, string[]> {
  const out = new Map<string, string[]>();
  const given = [library["model_alias_map"], library["model_group_alias"], router["model_group_alias"]];
  for (const [alias, target] of Object.entries(Object.assign({}, ...given.map(mappingOf)) as Mapping)) {
    const model = typeof target === "string" ? target : mappingOf(target)?.["model"];
    if (typeof model === "string") out.set(model, [...(out.get(model) ?? []), alias]);
    else notes.add(`router_settings.model_group_alias.${alias}`, "expected the name of a model");
  }
  return out;
}
