// Converts a provider entry as written to the form that is used: the preset applied, keys collected, disabled entries left
// out.

import { isEmbedded, USUAL_KIND } from "../vendors/protocols.ts";
import { findPreset, PRESET_NAMES, presetFacts } from "./presets.ts";
import type { Problem } from "./read.ts";
import type { CredentialConfig, ProviderConfig, ReadConfig } from "./schema.ts";
import { joinPath } from "./show.ts";

type Entries = ReadConfig["providers"];
type Entry = Entries extends ReadonlyMap<string, infer E> ? E : never;

/** The enabled providers in order. Adds a problem for an entry that cannot work. */
export function resolveProviders(
  entries: Entries,
  env: Readonly<Record<string, string | undefined>>,
  problems: Problem[],
): ProviderConfig[] {
  const out: ProviderConfig[] = [];
  for (const [name, entry] of entries) {
    if (!entry.enabled) continue;
    const provider = resolveProvider(name, entry, env);
    const at = joinPath("providers", name);
    const missing = provider.baseUrl === "" && !isEmbedded(provider);
    // A refused URL is read as empty; one report is enough.
    if (missing && !problems.some(({ path }) => path === `${at}.base_url`)) {
      const why =
        provider.preset === undefined
          ? `"${name}" is not a preset: ${PRESET_NAMES.join(", ")}`
          : `the preset "${provider.preset}" has no base_url`;
      problems.push({ path: `${at}.base_url`, message: `is required (${why})` });
    }
    if (provider.credentials?.kind === "aws" && provider.credentials.region === "") {
      problems.push({ path: `${at}.region`, message: "is required, or AWS_REGION, since signatures are for a region" });
    }
    if (entry.retry.maxMs < entry.retry.baseMs) {
      problems.push({ path: `${at}.retry.max`, message: "must not be less than base" });
    }
    out.push(provider);
  }
  return out;
}

function resolveProvider(
  name: string,
  entry: Entry,
  env: Readonly<Record<string, string | undefined>>,
): ProviderConfig {
  const { enabled: _enabled, preset: named, kind, baseUrl, apiKey, apiKeys, timeout, credentials, ...rest } = entry;
  const preset = named ?? (findPreset(name) === undefined ? undefined : name);
  const facts = preset === undefined ? undefined : presetFacts(preset, env);
  const own = [apiKey, ...apiKeys].filter((key) => key !== "");
  // The environment's key is sent only to the preset's own address, since another address belongs to someone else.
  const inherited = own.length === 0 && baseUrl === "" && facts !== undefined && facts.apiKey !== "";
  return {
    ...rest,
    credentials: credentialOf(entry, own.length > 0, env),
    name,
    preset,
    kind: kind ?? facts?.kind ?? USUAL_KIND,
    baseUrl: (baseUrl === "" ? (facts?.baseUrl ?? "") : baseUrl).replace(/\/+$/, ""),
    apiKeys: inherited ? [facts.apiKey] : [...new Set(own)],
    timeoutMs: { connect: timeout.connectMs, firstByte: timeout.firstByteMs, idle: timeout.idleMs },
  };
}

/** The variables in which the clouds' own tools find credentials. */
const CLOUD_VARIABLE = /^(?:AWS|AZURE|GOOGLE|GCE|IDENTITY)_|^HOME$/;

/** What authenticates the entry's calls; a key takes precedence. */
function credentialOf(
  { credentials, region }: Entry,
  hasKey: boolean,
  env: Readonly<Record<string, string | undefined>>,
): CredentialConfig {
  const kind = hasKey ? "key" : (credentials.kind ?? "key");
  if (kind === "key") return { ...credentials, kind, region, environment: {} };
  const environment = Object.fromEntries(Object.entries(env).filter(([name]) => CLOUD_VARIABLE.test(name)));
  const usual = environment["AWS_REGION"] || environment["AWS_DEFAULT_REGION"] || "";
  return { ...credentials, kind, region: region || usual, environment };
}
