// Converts a LiteLLM proxy's configuration: providers, models with their routes, fallbacks and aliases, the cache,
// guardrails, MCP servers and the names of environment variables. What has no counterpart is reported, never dropped silently. Pure.
// Source: docs.litellm.ai/docs/proxy/configs and /docs/proxy/config_settings.

import { guardrailEntries } from "./litellm-guardrails.ts";
import { mcpSection } from "./litellm-mcp.ts";
import { modelEntries } from "./litellm-models.ts";
import { type Deployment, providerEntries, readDeployment } from "./litellm-providers.ts";
import { reasonOf } from "./litellm-reasons.ts";
import { cacheSection, providerDefaults, settingSections } from "./litellm-settings.ts";
import { listOf, type Mapping, mappingOf, Notes } from "./reading.ts";

/** The result of an import. */
export interface Imported {
  /** The configuration in its file form. */
  readonly config: Readonly<Record<string, unknown>>;
  /** What is not converted, one line each, with its path in the source file. */
  readonly notes: readonly string[];
}

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
  const groups = {
    router: mappingOf(root["router_settings"]) ?? {},
    library: mappingOf(root["litellm_settings"]) ?? {},
    general: mappingOf(root["general_settings"]) ?? {},
  };
  const read = new Set(READ);
  const providers = providerEntries(deployments, providerDefaults(groups, read));
  const models = modelEntries(deployments, groups, notes);
  const cache = cacheSection(groups, notes, read);
  const guardrails = guardrailEntries(root["guardrails"], notes);
  const mcp = mcpSection(root["mcp_servers"], notes);
  const sections = settingSections(groups, read);
  nameTheRest(root, read, notes);
  return {
    config: {
      ...sections,
      providers: Object.fromEntries(providers),
      ...(models.length === 0 ? {} : { models }),
      ...(cache === undefined ? {} : { cache }),
      ...(mcp === undefined ? {} : { mcp }),
      ...(guardrails.length === 0 ? {} : { guardrails }),
    },
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

const TOP = new Set([
  "model_list",
  "credential_list",
  "router_settings",
  "litellm_settings",
  "general_settings",
  "guardrails",
  "mcp_servers",
]);
/** The keys that are read with the models. */
const READ = ["router_settings", "litellm_settings"].flatMap((group) =>
  [
    "fallbacks",
    "default_fallbacks",
    "context_window_fallbacks",
    "model_group_alias",
    "model_alias_map",
    "routing_strategy",
  ].map((key) => `${group}.${key}`),
);

function nameTheRest(root: Mapping, read: ReadonlySet<string>, notes: Notes): void {
  for (const [key, value] of Object.entries(root)) {
    if (!TOP.has(key)) notes.add(key, reasonOf(key));
    else if (key.endsWith("_settings")) {
      for (const [inner, setting] of Object.entries(mappingOf(value) ?? {})) {
        const place = `${key}.${inner}`;
        if (setting !== null && !read.has(place)) notes.add(place, reasonOf(place));
      }
    }
  }
}
