// Adapts a request once its provider is known: a conversation that is too long is shortened, images that the provider
// cannot fetch are inlined. Most requests need neither and are returned unchanged.

import type { Provider } from "../upstream/provider.ts";
import type { AdmittedRequest } from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";

/** The request as this provider can take it. */
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
