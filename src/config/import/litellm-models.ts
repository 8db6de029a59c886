// The models of a LiteLLM configuration: deployments of one name are the routes of one model, and its fallbacks are further
// routes after them.

import { lookUp } from "../../base/look-up.ts";
import { type Deployment, providerKeyOf, providerNames } from "./litellm-providers.ts";
import { reasonOf } from "./litellm-reasons.ts";
import { listOf, type Mapping, mappingOf, type Notes, textsOf } from "./reading.ts";

interface Route {
  readonly provider: string;
  readonly model: string;
  readonly priority: number;
  readonly weight?: number;
}

/** Members of `model_info` that are converted. */
const CARRIED = new Set([
  "mode",
  "id",
  "max_tokens",
  "max_input_tokens",
  "max_output_tokens",
  "supports_function_calling",
  "supports_vision",
  "supports_reasoning",
  "input_cost_per_token",
  "output_cost_per_token",
  "cache_read_input_token_cost",
  "cache_creation_input_token_cost",
]);

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
    for (const { at, info } of members) noteInfo(info, at, notes);
    const routes = withFallbacks(own.get(name) ?? [], wanted, { own, name, notes });
    out.push({
      id: name,
      ...facts(members),
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
  return members.map((deployment) => {
    const { order, weight } = deployment.params;
    return {
      provider: names.get(providerKeyOf(deployment))!,
      model: deployment.model,
      priority: typeof order === "number" && Number.isInteger(order) && order >= 1 ? order : 1,
      ...(typeof weight === "number" && weight > 0 ? { weight } : {}),
    };
  });
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

/** Modes of models that chat, which is the default kind. */
const CHATS: readonly unknown[] = ["chat", "completion", "responses"];

function noteInfo(info: Mapping, at: string, notes: Notes): void {
  for (const [key, value] of Object.entries(info)) {
    const isKept = key === "mode" ? CHATS.includes(value) || kindOf(value) !== undefined : CARRIED.has(key);
    if (!isKept) notes.add(`${at}.model_info.${key}`, reasonOf(`model_info.${key}`));
  }
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

/** The facts of the model, from the first deployment with any. */
function facts(members: readonly Deployment[]): Mapping {
  const of = (key: string) =>
    members.map(({ info, params }) => info[key] ?? params[key]).find((one) => one !== undefined);
  const whole = (...keys: string[]) =>
    keys.map(of).find((one) => typeof one === "number" && Number.isInteger(one) && one > 0);
  const flag = (key: string) => [of(key)].find((one) => typeof one === "boolean");
  const kind = kindOf(of("mode"));
  return Object.fromEntries(
    Object.entries({
      kind,
      context_length: whole("max_input_tokens", "max_tokens"),
      max_output_tokens: whole("max_output_tokens"),
      supports_tools: flag("supports_function_calling"),
      supports_vision: flag("supports_vision"),
      supports_reasoning: flag("supports_reasoning"),
      prices: pricesOf(of),
    }).filter(([, value]) => value !== undefined),
  );
}

/** LiteLLM's names of kinds. */
const KINDS: Readonly<Record<string, string>> = {
  embedding: "embedding",
  rerank: "rerank",
  audio_transcription: "transcription",
  audio_speech: "speech",
  image_generation: "image",
};

/** Absent for chat, which is the default, and for unknown names. */
function kindOf(mode: unknown): string | undefined {
  return typeof mode === "string" ? lookUp(KINDS, mode) : undefined;
}

/** Dollars per token become dollars per million; both are required. */
function pricesOf(of: (key: string) => unknown): Mapping | undefined {
  const price = (key: string) => {
    const value = of(key);
    return typeof value === "number" && value >= 0 ? Number((value * 1_000_000).toPrecision(12)) : undefined;
  };
  const input = price("input_cost_per_token");
  const output = price("output_cost_per_token");
  if (input === undefined || output === undefined) return undefined;
  const cacheRead = price("cache_read_input_token_cost");
  const cacheWrite = price("cache_creation_input_token_cost");
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cache_read: cacheRead }),
    ...(cacheWrite === undefined ? {} : { cache_write: cacheWrite }),
  };
}
