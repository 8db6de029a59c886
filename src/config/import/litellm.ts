// Converts a LiteLLM proxy's configuration: providers, models with their routes, fallbacks, aliases and the names of
// environment variables. What has no counterpart is reported, never dropped silently. Pure.
// Source: docs.litellm.ai/docs/proxy/configs and /docs/proxy/config_settings.

import { entryOf } from "../../base/json-object.ts";
import { modelEntries } from "./litellm-models.ts";
import { type Deployment, providerEntries, readDeployment } from "./litellm-providers.ts";
import { listOf, type Mapping, mappingOf, Notes } from "./reading.ts";

/** The result of an import. */
export interface Imported {
  /** The configuration in its file form. */
  readonly config: Readonly<Record<string, unknown>>;
  /** What is not converted, one line each, with its path in the source file. */
  readonly notes: readonly string[];
}

/** Keys without a counterpart that need an explanation; all others are only named. */
const REASONS: Readonly<Record<string, string>> = {
  "general_settings.master_key": "keys are made here: `sallyport key create`, or on the dashboard",
  "general_settings.database_url":
    "accounts, keys and usage start anew; `database.url` names a database of this program",
  "litellm_settings.drop_params": "always so here: what a provider does not take is left out and named in a header",
  "litellm_settings.cache": "answers are not cached",
  "litellm_settings.callbacks": "see docs/guides/metrics.md for metrics and traces",
  "litellm_settings.success_callback": "see docs/guides/metrics.md for metrics and traces",
  "litellm_settings.failure_callback": "see docs/guides/metrics.md for metrics and traces",
  "router_settings.routing_strategy": "set `routing` of each model: priority, latency, cost or busy",
  "router_settings.redis_host": "`redis.url` names a Redis of this program",
  environment_variables: "set them where the program is started",
  include: "import each of these files, and put the results together",
};

/** Converts the parsed file. Throws an Error with one line if there is nothing to import. */
export function importLitellm(file: unknown): Imported {
  const root = mappingOf(file);
  if (root === undefined) throw new Error("expected a mapping with model_list at the top");
  const list = listOf(root["model_list"]);
  if (list === undefined || list.length === 0) throw new Error("model_list: expected a list with at least one model");
  const notes = new Notes();
  const credentials = credentialsOf(root, notes);
  const deployments: Deployment[] = [];
  for (const [at, entry] of list.entries()) {
    const deployment = readDeployment(mappingOf(entry), { at: `model_list[${at}]`, credentials, notes });
    if (deployment !== undefined) deployments.push(deployment);
  }
  const settings = {
    router: mappingOf(root["router_settings"]) ?? {},
    library: mappingOf(root["litellm_settings"]) ?? {},
  };
  const attempts = attemptsOf(settings);
  const providers = providerEntries(deployments, attempts);
  const models = modelEntries(deployments, settings, notes);
  nameTheRest(root, notes);
  return {
    config: { providers: Object.fromEntries(providers), ...(models.length === 0 ? {} : { models }) },
    notes: notes.lines,
  };
}

/** The credentials that deployments refer to, by name. */
function credentialsOf(root: Mapping, notes: Notes): ReadonlyMap<string, Mapping> {
  const out = new Map<string, Mapping>();
  for (const [at, entry] of (listOf(root["credential_list"]) ?? []).entries()) {
    const fields = mappingOf(entry);
    const values = mappingOf(fields?.["credential_values"]);
    const name = fields?.["credential_name"];
    if (typeof name === "string" && values !== undefined) out.set(name, values);
    else notes.add(`credential_list[${at}]`, "not a name with its values");
  }
  return out;
}

/** Attempts per route: LiteLLM counts the retries after the first one. */
function attemptsOf({ router, library }: { router: Mapping; library: Mapping }): number | undefined {
  const retries = router["num_retries"] ?? library["num_retries"];
  return typeof retries === "number" && Number.isInteger(retries) && retries >= 0
    ? Math.min(10, retries + 1)
    : undefined;
}

const TOP = new Set(["model_list", "credential_list", "router_settings", "litellm_settings", "general_settings"]);
/** The keys that other files in this folder convert. */
const READ = new Set([
  "router_settings.num_retries",
  "router_settings.fallbacks",
  "router_settings.default_fallbacks",
  "router_settings.model_group_alias",
  "litellm_settings.num_retries",
  "litellm_settings.fallbacks",
  "litellm_settings.default_fallbacks",
]);

function nameTheRest(root: Mapping, notes: Notes): void {
  for (const [key, value] of Object.entries(root)) {
    if (!TOP.has(key)) notes.add(key, entryOf(REASONS, key));
    else if (key.endsWith("_settings")) {
      for (const inner of Object.keys(mappingOf(value) ?? {})) {
        const place = `${key}.${inner}`;
        if (!READ.has(place)) notes.add(place, entryOf(REASONS, place));
      }
    }
  }
}
