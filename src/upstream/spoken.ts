// By which of its protocols a provider is spoken to: most have one, and some models of those with two are served by one only.

import type { ChatRequest } from "../chat/request.ts";
import { factsOf } from "../vendors/model-facts.ts";
import type { Provider } from "./provider.ts";
import { takes } from "./quirks.ts";

/**
 * The provider as it is spoken to for this request: by the Responses API where chat completions refuse the model, or its
 * tools. What is kept per provider (name, keys, breaker) is the same for both.
 */
export function spokenFor(provider: Provider, model: string, chat: Pick<ChatRequest, "tools" | "reasoning">): Provider {
  const { byResponses } = provider;
  if (byResponses === undefined) return provider;
  const facts = factsOf(model);
  const refused = chat.tools.length > 0 && !takes(facts.chatTools, facts, chat.reasoning);
  return facts.responsesOnly || refused ? byResponses : provider;
}
