// Asks a provider which models it has.

import { readBounded } from "./call.ts";
import { UpstreamFault } from "./fault.ts";
import type { DiscoveredModel, Provider } from "./provider.ts";
import { DEMO_MODEL } from "./providers/demo.ts";

/** A list larger than this is not one. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;

/** The provider's models. Throws `UpstreamFault` when it does not answer, or not with a list; [] when it has none to ask for. */
export async function listModels(
  provider: Provider,
  options: { signal: AbortSignal; nowMs: number },
): Promise<DiscoveredModel[]> {
  if (provider.embedded) return [DEMO_MODEL];
  const { card } = provider;
  if (card.modelsPath === undefined) return [];
  const response = await provider.transport(provider.baseUrl + card.modelsPath, {
    headers: { ...card.headers(provider.keys.take(options.nowMs)), ...provider.extraHeaders },
    signal: options.signal,
    redirect: "manual",
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new UpstreamFault("unavailable", `The model list answered with status ${response.status}.`, {
      status: response.status,
    });
  }
  const limits = { bytesMax: LIST_BYTES_MAX, idleMs: provider.timeoutsMs.idle, signal: options.signal };
  const text = await readBounded(response, limits);
  const body: unknown = JSON.parse(text);
  return card.parseModels === undefined ? parseList(body) : card.parseModels(body);
}

/** The list as OpenAI-compatible servers write it: `{data:[{id}]}`; Gemini's and Ollama's `{models:[{name}]}` too. */
function parseList(body: unknown): DiscoveredModel[] {
  const holder = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const list = Array.isArray(body) ? body : (holder["data"] ?? holder["models"]);
  if (!Array.isArray(list)) throw new UpstreamFault("unavailable", "The provider's model list cannot be read.");
  return list.flatMap((entry: Record<string, unknown>) => {
    const id = entry["id"] ?? entry["name"];
    if (typeof id !== "string" || id === "") return [];
    const context = entry["context_length"] ?? entry["context_window"] ?? entry["max_model_len"];
    return [
      {
        id,
        ...(typeof entry["name"] === "string" && entry["name"] !== id ? { name: entry["name"] } : {}),
        ...(typeof context === "number" ? { contextLength: context } : {}),
      },
    ];
  });
}
