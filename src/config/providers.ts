// Converts a provider entry as written to the form that is used: the preset applied, keys collected, disabled entries left
// out.

import { type CloudFacts, type CloudPlace, cloudOrigin } from "../vendors/cloud.ts";
import { findVendor, vendorAt } from "../vendors/look-up.ts";
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
    const { places = {} } = findVendor(provider.preset)?.api.cloud ?? {};
    for (const [place, { variables }] of Object.entries(places)) {
      if (provider[place as CloudPlace] !== "" || (place === "resource" && provider.baseUrl !== "")) continue;
      problems.push({ path: `${at}.${place}`, message: `is required, or ${variables.join(" or ")}` });
    }
    // A refused URL is read as empty; one report is enough.
    if (missing && Object.keys(places).length === 0 && !problems.some(({ path }) => path === `${at}.base_url`)) {
      const why =
        provider.preset === undefined
          ? `"${name}" is not a preset: ${PRESET_NAMES.join(", ")}`
          : `the preset "${provider.preset}" has no base_url`;
      problems.push({ path: `${at}.base_url`, message: `is required (${why})` });
    }
    if (!("region" in places) && provider.credentials?.kind === "aws" && provider.credentials.region === "") {
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
  const cloud = findVendor(preset)?.api.cloud;
  const places = placesOf(entry, cloud, env);
  const own = [apiKey, ...apiKeys].filter((key) => key !== "");
  // The environment's key is sent only to the preset's own address, since another address belongs to someone else.
  const usual = cloud === undefined || isMissing(cloud, places) ? facts?.baseUrl : cloudOrigin(cloud, places);
  const isNamed = entry.resource !== "" || entry.region !== "";
  const isOwnAddress = baseUrl === "" && (!isNamed || cloud === undefined || isOfVendor(usual));
  const inherited =
    own.length === 0 && isOwnAddress && facts !== undefined && facts.apiKey !== "" && !isWritten(credentials);
  const keys = inherited ? [facts.apiKey] : [...new Set(own)];
  return {
    ...rest,
    ...places,
    credentials: credentialOf({ credentials, region: places.region }, { hasKey: keys.length > 0, cloud, env }),
    name,
    preset,
    kind: kind ?? facts?.kind ?? USUAL_KIND,
    baseUrl: (baseUrl === "" ? (usual ?? "") : baseUrl).replace(/\/+$/, ""),
    apiKeys: keys,
    timeoutMs: { connect: timeout.connectMs, firstByte: timeout.firstByteMs, idle: timeout.idleMs },
  };
}

/** Whether an address is that of a known vendor: a `resource` may be a whole host, and it and a region may end the host early. */
function isOfVendor(address: string | undefined): boolean {
  const url = URL.parse(address ?? "");
  return url !== null && vendorAt(url.hostname) !== undefined;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** The parts of a cloud's addresses: as written, else of the cloud's own variables, else the usual ones. */
function placesOf(entry: Entry, cloud: CloudFacts | undefined, env: Variables): Record<CloudPlace, string> {
  const of = (place: CloudPlace): string => {
    const { variables = [], usual = "" } = cloud?.places[place] ?? {};
    return entry[place] || variables.map((name) => env[name]?.trim()).find(Boolean) || usual;
  };
  // Some vendors' own variables hold the host with its scheme.
  const resource = of("resource").replace(/^https?:\/\/|\/+$/g, "");
  return { region: of("region"), project: of("project"), resource };
}

function isMissing({ places }: CloudFacts, known: Readonly<Record<CloudPlace, string>>): boolean {
  return Object.keys(places).some((place) => known[place as CloudPlace] === "");
}

/** Whether the file itself says which credential is used, so that no variable with a key does. */
function isWritten({ accessKeyId, profile, file, json, clientSecret, metadata }: Entry["credentials"]): boolean {
  return metadata || [accessKeyId, profile, file, json, clientSecret].some((text) => text !== "");
}

/** The variables in which the clouds' own tools find credentials. */
const CLOUD_VARIABLE = /^(?:AWS|AZURE|GOOGLE|GCE|IDENTITY)_|^HOME$/;

/** What authenticates the entry's calls; a key takes precedence. */
function credentialOf(
  { credentials, region }: Pick<Entry, "credentials" | "region">,
  { hasKey, cloud, env }: { hasKey: boolean; cloud: CloudFacts | undefined; env: Variables },
): CredentialConfig {
  const kind = hasKey ? "key" : (credentials.kind ?? cloud?.credential ?? "key");
  if (kind === "key") return { ...credentials, kind, region, environment: {} };
  const environment = Object.fromEntries(Object.entries(env).filter(([name]) => CLOUD_VARIABLE.test(name)));
  const usual = environment["AWS_REGION"] || environment["AWS_DEFAULT_REGION"] || "";
  const service = credentials.service || (cloud?.service ?? "");
  return { ...credentials, kind, service, region: region || usual, environment };
}
