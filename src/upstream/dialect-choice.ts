// Selects the protocol of a provider for a request. Most providers have one. With two, some models are only served by one of
// them.

import type { ChatRequest } from "../chat/request.ts";
import { factsOf } from "../vendors/model-facts.ts";
import type { ProviderKind } from "../vendors/protocols.ts";
import type { Provider } from "./provider.ts";
import { takes } from "./quirks.ts";

/** A route, as far as it decides the protocol. */
interface SpokenRoute {
  readonly model: string;
  /** The configured protocol, which only clouds heed. */
  readonly protocol?: ProviderKind | undefined;
}

/**
 * The provider with the protocol for this request: the Responses API if chat completions refuse the model or its tools; in a cloud,
 * the protocol of the model, and the client's own where there is a choice. All share the provider's state (name, keys, breaker).
 */
export function dialectFor(
  provider: Provider,
  { model, protocol }: SpokenRoute,
  chat: Pick<ChatRequest, "tools" | "reasoning">,
  family?: string | undefined,
): Provider {
  const { byResponses, forModel } = provider;
  if (byResponses === undefined && forModel === undefined) return provider;
  const facts = factsOf(model);
  const refused = chat.tools.length > 0 && !takes(facts.chatTools, facts, chat.reasoning);
  const responses = facts.responsesOnly || refused;
  if (forModel !== undefined) return forModel(model, { protocol, family, responses });
  return responses && byResponses !== undefined ? byResponses : provider;
}
