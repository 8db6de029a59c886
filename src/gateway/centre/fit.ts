// Adapts a request to its provider: shortens a conversation that is too long, and embeds images that the provider cannot fetch.
// Most requests need neither and are returned unchanged.

import type { Provider } from "../../upstream/provider.ts";
import type { AdmittedRequest } from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";

/** Returns the request adapted to this provider. */
export async function adaptToProvider(
  deps: Pick<GatewayDeps, "compaction" | "inlineImages">,
  admitted: AdmittedRequest,
  { provider, signal }: { provider: Provider; signal: AbortSignal },
): Promise<AdmittedRequest> {
  const { compaction } = deps;
  const short =
    admitted.compactable === undefined || compaction === undefined
      ? admitted
      : await compaction.shortenToFit(admitted, provider);
  return (await deps.inlineImages?.(short, provider, signal)) ?? short;
}
