// The providers of a LiteLLM configuration. There each deployment has its own address and key; here deployments with the same
// ones become one provider.

import { lookUp } from "../../base/look-up.ts";
import { UnusedNames } from "../../base/unused-names.ts";
import type { CloudPlace } from "../../vendors/cloud.ts";
import { VENDORS } from "../../vendors/index.ts";
import { CALLABLE, type CallableVendor, findVendor } from "../../vendors/look-up.ts";
import { modelByName } from "../../vendors/model-facts.ts";
import { EXAMPLE } from "../presets.ts";
import { reasonOf } from "./litellm-reasons.ts";
import { attemptsOf, type ProviderDefaults } from "./litellm-settings.ts";
import { durationOf, environNameOf, fileTextOf, fileTextsOf, type Mapping, mappingOf, type Notes } from "./reading.ts";

/** One entry of `model_list`, as far as it could be read. */
export interface Deployment {
  /** The name that clients use. */
  readonly name: string;
  /** The model's name at the upstream; ends in `*` for any model. */
  readonly model: string;
  /** The settings of its provider; deployments with equal settings share it. */
  readonly provider: Mapping;
  /** The provider's name unless it is taken. */
  readonly wantedName: string;
  readonly params: Mapping;
  readonly info: Mapping;
  /** Its path in the file. */
  readonly at: string;
}

export interface DeploymentPlace {
  readonly at: string;
  readonly credentials: ReadonlyMap<string, Mapping>;
  readonly notes: Notes;
}

/** The parts of a cloud's addresses, and what authenticates calls to it. */
const PLACES: Readonly<Record<string, CloudPlace>> = {
  aws_region_name: "region",
  vertex_location: "region",
  vertex_project: "project",
};
const CLOUD_CREDENTIALS: Readonly<Record<string, string>> = {
  aws_access_key_id: "access_key_id",
  aws_secret_access_key: "secret_access_key",
  aws_session_token: "session_token",
  aws_profile_name: "profile",
  tenant_id: "tenant",
  client_id: "client_id",
  client_secret: "client_secret",
};

/** Members of `litellm_params` that are converted, here or with the model. */
const CARRIED = new Set([
  ...Object.keys(PLACES),
  ...Object.keys(CLOUD_CREDENTIALS),
  "model",
  "api_key",
  "api_base",
  "base_url",
  "custom_llm_provider",
  "extra_headers",
  "headers",
  "organization",
  "vertex_credentials",
  "input_cost_per_token",
  "output_cost_per_token",
  "cache_read_input_token_cost",
  "cache_creation_input_token_cost",
  "litellm_credential_name",
]);

/** Converts one entry; undefined, with a note, if that is impossible. */
export function readDeployment(entry: Mapping | undefined, options: DeploymentPlace): Deployment | undefined {
  const { at, credentials, notes } = options;
  const given = mappingOf(entry?.["litellm_params"]);
  const name = entry?.["model_name"];
  const whole = given?.["model"];
  if (entry === undefined || given === undefined || typeof name !== "string" || typeof whole !== "string") {
    notes.add(at, "expected model_name and litellm_params with a model");
    return undefined;
  }
  const credential = given["litellm_credential_name"];
  const params = { ...(typeof credential === "string" ? credentials.get(credential) : {}), ...given };
  const found = vendorOf(whole, params);
  if (found === undefined) {
    notes.add(`${at} (${name})`, `the provider of "${whole}" is unknown: add it with kind and base_url`);
    return undefined;
  }
  const places = renamed(params, PLACES);
  const needed = Object.entries(found.vendor?.api.cloud?.places ?? {}).filter(([, { usual }]) => usual === undefined);
  const missing = needed.map(([place]) => place).filter((place) => places[place] === undefined);
  if (missing.length > 0 && addressOf(params) === undefined) {
    notes.add(`${at} (${name})`, `the provider of "${whole}" needs ${missing.join(" and ")}: add it with its preset`);
    return undefined;
  }
  noteTheRest(given, options);
  const info = mappingOf(entry["model_info"]) ?? {};
  const provider = settingsOf(found, params, options);
  return { name, model: found.model, provider, wantedName: found.vendor?.name ?? found.prefix, params, info, at };
}

/** Members whose values may be of a kind that cannot be converted. */
const CONVERTIBLE: Readonly<Record<string, (value: unknown) => unknown>> = {
  timeout: durationOf,
  num_retries: attemptsOf,
  max_retries: attemptsOf,
  weight: (value) => (typeof value === "number" ? value : undefined),
  order: (value) => (typeof value === "number" ? value : undefined),
};

/** Names what is not carried over of the settings of a deployment. */
function noteTheRest(given: Mapping, { at, notes }: DeploymentPlace): void {
  for (const [key, value] of Object.entries(given)) {
    const convert = lookUp(CONVERTIBLE, key);
    const isCarried = value === null || (convert === undefined ? CARRIED.has(key) : convert(value) !== undefined);
    if (!isCarried) notes.add(`${at}.litellm_params.${key}`, reasonOf(`litellm_params.${key}`));
  }
}

interface FoundVendor {
  /** Undefined for an OpenAI-compatible API at an address that only the operator knows. */
  readonly vendor: CallableVendor | undefined;
  readonly prefix: string;
  readonly model: string;
}

/** `provider/model`, or a model whose name determines the provider. */
function vendorOf(whole: string, params: Mapping): FoundVendor | undefined {
  const told = params["custom_llm_provider"];
  const slash = whole.indexOf("/");
  const prefix = typeof told === "string" ? told : slash < 0 ? "" : whole.slice(0, slash);
  const model = whole.startsWith(`${prefix}/`) ? whole.slice(prefix.length + 1) : whole;
  const named = CALLABLE.find(({ name, importNames = [] }) => name === prefix || importNames.includes(prefix));
  if (named !== undefined) return { vendor: named, prefix, model };
  if (addressOf(params) !== undefined && prefix !== "") return { vendor: undefined, prefix, model };
  if (prefix !== "") return undefined;
  const { family } = modelByName(whole);
  const maker = VENDORS.find(({ families }) => families?.some((one) => one.name === family));
  return { vendor: findVendor(maker?.name) ?? findVendor(EXAMPLE.preset), prefix, model };
}

function addressOf(params: Mapping): string | undefined {
  const address = params["api_base"] ?? params["base_url"];
  return typeof address === "string" && address !== "" ? address : undefined;
}

/** The dialect of an API that is compatible with a well-known one. */
const COMPATIBLE = findVendor(EXAMPLE.preset)?.api.kind;

/** The provider's entry, in the form of the configuration file. */
function settingsOf({ vendor }: FoundVendor, params: Mapping, { at, notes }: DeploymentPlace): Mapping {
  const address = addressOf(params);
  const key = params["api_key"];
  const headers = headersOf(params);
  const account = params["vertex_credentials"];
  if (typeof account === "string" && environNameOf(account) !== undefined) {
    notes.add(
      `${at}.litellm_params.vertex_credentials`,
      "taken for the text of a service account: `providers.NAME.credentials.file` takes the path of one",
    );
  }
  const firstByte = durationOf(params["timeout"]);
  const attempts = attemptsOf(params["num_retries"] ?? params["max_retries"]);
  if (typeof key === "string" && environNameOf(key) === undefined) {
    notes.add(
      `${at}.litellm_params.api_key`,
      "copied into the file in plain text: a variable such as ${NAME} is safer",
    );
  }
  return {
    ...(vendor === undefined ? { kind: COMPATIBLE } : { preset: vendor.name }),
    ...(address === undefined ? {} : { base_url: baseUrlOf(address, vendor) }),
    ...(typeof key === "string" ? { api_key: fileTextOf(key) } : {}),
    ...(vendor?.api.cloud === undefined ? {} : cloudSettings(params)),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(firstByte === undefined ? {} : { timeout: { first_byte: firstByte } }),
    ...(attempts === undefined ? {} : { retry: { attempts } }),
  };
}

function cloudSettings(params: Mapping): Mapping {
  const credentials = { ...renamed(params, CLOUD_CREDENTIALS), ...accountOf(params["vertex_credentials"]) };
  return { ...renamed(params, PLACES), ...(Object.keys(credentials).length === 0 ? {} : { credentials }) };
}

/** A service account: the path of its key file, or its text. */
function accountOf(given: unknown): Record<string, string> {
  if (typeof given !== "string" || given === "") return {};
  const isText = given.trim().startsWith("{") || environNameOf(given) !== undefined;
  return { [isText ? "json" : "file"]: fileTextOf(given) };
}

/** The texts among the members, under their names here. */
function renamed(params: Mapping, names: Readonly<Record<string, string>>): Record<string, string> {
  const found = Object.entries(names).map(([name, here]) => [here, params[name]] as const);
  return Object.fromEntries(
    found.flatMap(([here, text]) => (typeof text === "string" ? [[here, fileTextOf(text)]] : [])),
  );
}

function headersOf(params: Mapping): Record<string, string> {
  const out = { ...fileTextsOf(params["headers"]), ...fileTextsOf(params["extra_headers"]) };
  const { organization } = params;
  if (typeof organization === "string") out["OpenAI-Organization"] = fileTextOf(organization);
  return out;
}

/** LiteLLM omits the version segment if the vendor's SDK adds it; here it is required. */
function baseUrlOf(address: string, vendor: CallableVendor | undefined): string {
  const name = environNameOf(address);
  if (name !== undefined) return `\${${name}}`;
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  const usual = vendor?.api.pathBelowHost ?? (vendor?.api.baseUrl ? new URL(vendor.api.baseUrl).pathname : "");
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path === "" ? usual : path}`;
}

/** The `providers` of the file, each named once. */
export function providerEntries(
  deployments: readonly Deployment[],
  { attempts, firstByte, breaker }: ProviderDefaults,
): readonly [name: string, entry: Mapping][] {
  const names = providerNames(deployments);
  const out = new Map<string, Mapping>();
  for (const deployment of deployments) {
    const name = names.get(providerKeyOf(deployment))!;
    // Models are configured one by one unless a pattern means all.
    const discover = deployments.some(
      (other) => other.model.endsWith("*") && providerKeyOf(other) === providerKeyOf(deployment),
    );
    out.set(name, {
      ...(firstByte === undefined ? {} : { timeout: { first_byte: firstByte } }),
      ...(attempts === undefined ? {} : { retry: { attempts } }),
      ...(breaker === undefined ? {} : { breaker }),
      ...deployment.provider,
      discover,
    });
  }
  return [...out];
}

/** The name of each deployment's provider, by `providerKeyOf`. */
export function providerNames(deployments: readonly Deployment[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const unused = new UnusedNames({ before: "-" });
  for (const deployment of deployments) {
    const key = providerKeyOf(deployment);
    if (names.has(key)) continue;
    const wanted =
      deployment.wantedName
        .toLowerCase()
        .replace(/[^a-z0-9-]+/g, "-")
        .replace(/^-+|-+$/g, "") || "provider";
    names.set(key, unused.take(wanted));
  }
  return names;
}

/** The settings that determine whether two deployments share a provider. */
export function providerKeyOf({ provider }: Deployment): string {
  return JSON.stringify(provider);
}
