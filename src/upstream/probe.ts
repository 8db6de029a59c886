// Requests a provider's model list, which is the cheapest request that checks the address and the key.

import { findPreset } from "../config/presets.ts";
import { doubtsAbout } from "../config/provider-doubts.ts";
import type { ProviderConfig } from "../config/schema.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import { configureProvider } from "./configure.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";
import { decisionCard } from "./providers/index.ts";
import { readBounded } from "./read-answer.ts";

/** The result of the check. */
export interface ProviderProbe {
  /** `warning` means that the provider may work, but this request could not show it. */
  readonly status: "ok" | "warning" | "failed";
  readonly message: string;
  /** The number of listed models; undefined if there was no list. */
  readonly models?: number;
}

/** A provider that takes longer for its list is unreachable in practice. */
const ANSWER_TIMEOUT_MS = 10_000;
/** A larger body is not a model list. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;

/** Checks a provider once. Never throws and never shows a key. */
export async function probeModelList(provider: ProviderConfig): Promise<ProviderProbe> {
  if (isEmbedded(provider)) return { status: "ok", message: "built in" };
  const [doubt] = doubtsAbout(provider);
  if (doubt !== undefined) return { status: "failed", message: `${doubt.path} ${doubt.message}` };
  const configured = configureProvider(provider);
  const url = listAddress(provider, configured);
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const used = await describeCredential(provider);
  if (used.failed !== undefined) return { status: "failed", message: used.failed };
  const transport = used.name === "" ? fetch : (configured?.transport ?? fetch);
  try {
    const response = await transport(url, {
      headers: { accept: "application/json", ...credentials(provider, configured), ...provider.headers },
      signal,
      // A redirect would send the key to another server.
      redirect: "manual",
    });
    const limits = { bytesMax: LIST_BYTES_MAX, idleMs: ANSWER_TIMEOUT_MS, signal };
    const body = await readBounded(response, limits).catch(() => "");
    return withCredential(
      judge(provider, shown(url), response.status, countOf(body, configured)),
      response.status,
      used.name,
    );
  } catch (error) {
    const timedOut = error instanceof Error && error.name === "TimeoutError";
    const hint = hintFor(provider.baseUrl);
    const what = timedOut ? `no answer within ${ANSWER_TIMEOUT_MS / 1000} s` : "cannot be reached";
    return { status: "failed", message: `${shown(url)} ${what}: is it running, and is base_url correct?${hint}` };
  }
}

/** A cloud's list is elsewhere than below the address of one of its protocols. */
function listAddress({ baseUrl }: ProviderConfig, configured: Provider | undefined): string {
  const path = configured?.card.modelsPath;
  if (configured?.forModel === undefined) return `${baseUrl}/models`;
  return path === undefined || path.startsWith("/") ? `${configured.baseUrl}/models` : path;
}

/** What authenticates calls beside a key; "" if nothing does. */
async function describeCredential({ name, credentials }: ProviderConfig): Promise<{ name: string; failed?: string }> {
  if (credentials === undefined || credentials.kind === "key") return { name: "" };
  const { createCredential } = await import("./credentials/index.ts");
  try {
    return { name: await (await createCredential(credentials)).describe() };
  } catch (error) {
    const why = error instanceof UpstreamFault ? error.message : "It cannot be used.";
    return { name: "", failed: `no credential of kind ${credentials.kind}: ${why} See providers.${name}.credentials` };
  }
}

/** Says which credential was used, and whether it was accepted. */
function withCredential(probe: ProviderProbe, status: number, used: string): ProviderProbe {
  if (used === "") return probe;
  const isRefused = status === 401 || status === 403;
  if (!isRefused) return { ...probe, message: `${probe.message}; it accepts ${used}` };
  return {
    ...probe,
    message: probe.message.replace(/ (?:needs a|refused the) key: .*$/, ` refused ${used} (${status})`),
  };
}

/** The usual mistake. Servers of unknown vendors may have their API at the root, so it is no doubt before a failure. */
function hintFor(baseUrl: string, end = ""): string {
  return new URL(baseUrl).pathname === "/"
    ? `${end} It has no path, and most servers want one, such as ${shown(baseUrl)}/v1.`
    : "";
}

function judge(
  { name, preset, apiKeys, baseUrl }: ProviderConfig,
  url: string,
  status: number,
  count: number | undefined,
): ProviderProbe {
  if (status === 401 || status === 403) {
    const variable = preset === undefined ? undefined : findPreset(preset)?.variable;
    const key = `providers.${name}.api_key${variable === undefined ? "" : ` or ${variable}`}`;
    const what = apiKeys.length === 0 ? `needs a key: set ${key}` : `refused the key: check ${key}`;
    return { status: "failed", message: `${url} ${what} (${status})` };
  }
  // Some servers answer correctly with an empty list.
  if (status === 404 || status === 405) {
    return {
      status: "warning",
      message: `${url} answers ${status}: no model list, or base_url lacks its version segment${hintFor(baseUrl, ".")}`,
    };
  }
  if (status !== 200) return { status: "failed", message: `${url} answers ${status}${hintFor(baseUrl, ".")}` };
  if (count === undefined)
    return { status: "failed", message: `${url} returns no model list: is base_url correct?${hintFor(baseUrl)}` };
  return { status: "ok", message: `${url} lists ${count} model${count === 1 ? "" : "s"}`, models: count };
}

/** The same headers as on the provider's card. */
function credentials(provider: ProviderConfig, configured: Provider | undefined): Record<string, string> {
  const card = configured?.card ?? decisionCard(provider.preset ?? provider.kind, "openai-chat");
  return card.headers(provider.apiKeys[0] ?? "");
}

/** A cloud's list may have another form than the usual ones. */
function countOf(body: string, configured: Provider | undefined): number | undefined {
  if (configured?.forModel === undefined || configured.card.parseModels === undefined) return countModels(body);
  try {
    return configured.card.parseModels(JSON.parse(body)).length;
  } catch {
    return undefined;
  }
}

function countModels(body: string): number | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (Array.isArray(parsed)) return parsed.length;
    if (typeof parsed !== "object" || parsed === null) return undefined;
    const { data, models } = parsed as { data?: unknown; models?: unknown };
    return Array.isArray(data) ? data.length : Array.isArray(models) ? models.length : undefined;
  } catch {
    return undefined;
  }
}

/** The address without a password in it. */
function shown(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//***@");
}
