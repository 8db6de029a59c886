// The providers of a LiteLLM configuration. There each deployment has its own address and key; here deployments with the same
// ones become one provider.

import { UnusedNames } from "../../base/unused-names.ts";
import type { CloudPlace } from "../../vendors/cloud.ts";
import { VENDORS } from "../../vendors/index.ts";
import { CALLABLE, type CallableVendor, findVendor } from "../../vendors/look-up.ts";
import { modelByName } from "../../vendors/model-facts.ts";
import { EXAMPLE } from "../presets.ts";
import { type Mapping, mappingOf, type Notes } from "./reading.ts";

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
  "timeout",
  "weight",
  "order",
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
  for (const key of Object.keys(given)) if (!CARRIED.has(key)) notes.add(`${at}.litellm_params.${key}`, reasonOf(key));
  const info = mappingOf(entry["model_info"]) ?? {};
  const provider = settingsOf(found, params, options);
  return { name, model: found.model, provider, wantedName: found.vendor?.name ?? found.prefix, params, info, at };
}

function reasonOf(key: string): string | undefined {
  if (key === "rpm" || key === "tpm")
    return "not converted: here limits are set for plans and keys, and `weight` shares the load";
  if (key === "api_version") return "the v1 path of the API needs none";
  return undefined;
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
  const { timeout } = params;
  if (typeof key === "string" && referenceOf(key) === undefined) {
    notes.add(
      `${at}.litellm_params.api_key`,
      "copied into the file in plain text: a variable such as ${NAME} is safer",
    );
  }
  return {
    ...(vendor === undefined ? { kind: COMPATIBLE } : { preset: vendor.name }),
    ...(address === undefined ? {} : { base_url: baseUrlOf(address, vendor) }),
    ...(typeof key === "string" ? { api_key: textOf(key) } : {}),
    ...(vendor?.api.cloud === undefined ? {} : cloudSettings(params)),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(typeof timeout === "number" && timeout > 0
      ? { timeout: { first_byte: `${Math.ceil(timeout * 1000)}ms` } }
      : {}),
  };
}

function cloudSettings(params: Mapping): Mapping {
  const credentials = renamed(params, CLOUD_CREDENTIALS);
  return { ...renamed(params, PLACES), ...(Object.keys(credentials).length === 0 ? {} : { credentials }) };
}

/** The texts among the members, under their names here. */
function renamed(params: Mapping, names: Readonly<Record<string, string>>): Record<string, string> {
  const found = Object.entries(names).map(([name, here]) => [here, params[name]] as const);
  return Object.fromEntries(found.flatMap(([here, text]) => (typeof text === "string" ? [[here, textOf(text)]] : [])));
}

function headersOf(params: Mapping): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries({
    ...mappingOf(params["headers"]),
    ...mappingOf(params["extra_headers"]),
  })) {
    if (typeof value === "string") out[name] = textOf(value);
  }
  const { organization } = params;
  if (typeof organization === "string") out["OpenAI-Organization"] = textOf(organization);
  return out;
}

/** `os.environ/NAME` names a variable. */
function referenceOf(text: string): string | undefined {
  return /^os\.environ\/([A-Za-z_]\w*)$/.exec(text.trim())?.[1];
}

/** The value in this program's file format. */
function textOf(text: string): string {
  const name = referenceOf(text);
  return name === undefined ? text : `\${${name}}`;
}

/** LiteLLM omits the version segment if the vendor's SDK adds it; here it is required. */
function baseUrlOf(address: string, vendor: CallableVendor | undefined): string {
  const name = referenceOf(address);
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
  attempts: number | undefined,
): readonly [name: string, entry: Mapping][] {
  const names = providerNames(deployments);
  const out = new Map<string, Mapping>();
  for (const deployment of deployments) {
    const name = names.get(providerKeyOf(deployment))!;
    // Models are configured one by one unless a pattern means all.
    const discover = deployments.some(
      (other) => other.model.endsWith("*") && providerKeyOf(other) === providerKeyOf(deployment),
    );
    const retry = attempts === undefined ? {} : { retry: { attempts } };
    out.set(name, { ...deployment.provider, discover, ...retry });
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
