// Selects the protocol of a provider for a request. Most providers have one. With two, some models are only served by one of
// them.

import type { ChatRequest } from "../chat/request.ts";
import { factsOf } from "../vendors/model-facts.ts";
import type { Provider } from "./provider.ts";
import { takes } from "./quirks.ts";

/**
 * The provider with the protocol for this request: the Responses API if chat completions refuse the model or its tools. Both
 * share the provider's state (name, keys, breaker).
 */
export function dialectFor(
  provider: Provider,
  model: string,
  chat: Pick<ChatRequest, "tools" | "reasoning">,
): Provider {
  const { byResponses } = provider;
  if (byResponses === undefined) return provider;
  const facts = factsOf(model);
  const refused = chat.tools.length > 0 && !takes(facts.chatTools, facts, chat.reasoning);
  return facts.responsesOnly || refused ? byResponses : provider;
}
