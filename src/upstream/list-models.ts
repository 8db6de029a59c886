// Reads a provider's model list.

import type { DiscoveredModel } from "../vendors/vendor.ts";
import { readBounded } from "./call.ts";
import { UpstreamFault } from "./fault.ts";
import type { Provider } from "./provider.ts";

/** A larger body is not a model list. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;

/** The models of a provider; empty if it has no list. Throws `UpstreamFault` if it does not answer with a list. */
export async function listModels(
  provider: Provider,
  options: { signal: AbortSignal; nowMs: number },
): Promise<DiscoveredModel[]> {
  const { card } = provider;
  if (card.embeddedModels !== undefined) return [...card.embeddedModels];
  if (card.modelsPath === undefined || card.parseModels === undefined) return [];
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
  return card.parseModels(JSON.parse(text));
}
