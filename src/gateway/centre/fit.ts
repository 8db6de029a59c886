// Adapts a request to its provider: shortens a conversation that is too long, and embeds images that the provider cannot fetch.
// Most requests need neither and are returned unchanged.

import type { Provider } from "../../upstream/provider.ts";
import type { AdmittedRequest } from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";

/** Returns the request adapted to this provider. */
export async function fitRequest(
  deps: Pick<GatewayDeps, "conversations" | "fitImages">,
  admitted: AdmittedRequest,
  { provider, signal }: { provider: Provider; signal: AbortSignal },
): Promise<AdmittedRequest> {
  const { conversations } = deps;
  const short =
    admitted.conversation === undefined || conversations === undefined
      ? admitted
      : await conversations.fit(admitted, provider);
  return (await deps.fitImages?.(short, provider, signal)) ?? short;
}
