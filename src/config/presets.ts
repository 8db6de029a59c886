// Presets of well-known providers: the defaults of an entry with that name. They come from the vendors' files.

import { CALLABLE, findVendor } from "../vendors/look-up.ts";
import { isEmbedded, type ProviderKind } from "../vendors/protocols.ts";
import type { VendorApi } from "../vendors/vendor.ts";

interface Preset {
  readonly kind: ProviderKind;
  /** "" if only the operator can know it. */
  readonly baseUrl: string;
  /** The environment variable with its key or its address. */
  readonly variable?: string;
  /** That variable alone creates a provider if nothing is configured. */
  readonly zeroFile?: boolean;
}

/** Every preset, in the order in which the environment's providers are listed. */
export const PRESETS: Readonly<Record<string, Preset>> = Object.fromEntries(
  CALLABLE.map(({ name, api }) => [name, presetOf(api)]),
);

/** A preset's name. */
export type PresetName = string;

/** The names alone. */
export const PRESET_NAMES: readonly PresetName[] = CALLABLE.map(({ name }) => name);

/** The embedded providers, which exist without being configured. */
export const EMBEDDED_PRESETS: readonly PresetName[] = CALLABLE.filter(({ api }) => isEmbedded(api)).map(
  ({ name }) => name,
);

/** The preset, with its variable, that texts for people use as an example. */
export const EXAMPLE = exampleOf();

/** The preset of that name. */
export function findPreset(name: string): Preset | undefined {
  return Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
}

/** A preset's values for an entry in this environment. */
export interface PresetFacts {
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  /** "" if the environment has none. */
  readonly apiKey: string;
}

/** The preset's facts with the environment's values. */
export function presetFacts(name: string, env: Readonly<Record<string, string | undefined>>): PresetFacts | undefined {
  const api = findVendor(name)?.api;
  if (api === undefined) return undefined;
  const { kind, baseUrl, variable, cloud } = api;
  const named = variable?.name ?? cloud?.keyVariable;
  const value = named === undefined ? "" : (env[named] ?? "").trim();
  if (variable?.holds !== "address") return { kind, baseUrl, apiKey: value };
  return { kind, baseUrl: value === "" ? baseUrl : addressOf(value, baseUrl), apiKey: "" };
}

/** Whether a preset's variable holds the server's address. */
export function isAddressed(name: PresetName): boolean {
  return findVendor(name)?.api.variable?.holds === "address";
}

/** The presets that become providers through the environment alone. */
export function presetsOf(env: Readonly<Record<string, string | undefined>>): PresetName[] {
  return CALLABLE.filter(
    ({ api: { variable } }) => variable?.alone === true && (env[variable.name] ?? "").trim() !== "",
  ).map(({ name }) => name);
}

function presetOf({ kind, baseUrl, variable }: VendorApi): Preset {
  if (variable === undefined) return { kind, baseUrl };
  return { kind, baseUrl, variable: variable.name, ...(variable.alone ? { zeroFile: true } : {}) };
}

function exampleOf(): { readonly preset: PresetName; readonly variable: string } {
  const first = CALLABLE.find(({ api: { variable } }) => variable?.alone === true && variable.holds === "key");
  return { preset: first?.name ?? "", variable: first?.api.variable?.name ?? "" };
}

/** The variable may hold a host, host:port, :port or URL, and the server's own 0.0.0.0; missing parts get defaults. */
function addressOf(value: string, usual: string): string {
  const { port, pathname: usualPath } = new URL(usual);
  const whole = /^https?:\/\//i.test(value) ? value : `http://${value.startsWith(":") ? `127.0.0.1${value}` : value}`;
  if (!URL.canParse(whole)) return whole;
  const url = new URL(whole);
  // Without a scheme the port is the server's own; a URL without a port uses its scheme's.
  if (url.port === "" && whole !== value) url.port = port;
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith(usualPath) ? path : `${path}${usualPath}`}`;
}
