// Refuses parts of a request that cannot be translated and must not be dropped because the answer would change: state that the
// client's own provider stores, tools that it runs, references that only it can resolve.

import { ApiError } from "../../base/errors.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { Provider } from "../../upstream/provider.ts";
import type { WireFormat } from "../../wire/format.ts";

/** Throws 400 `unsupported_parameter` with the name of the part. Only for translated requests. */
export function refuseUntranslatable(chat: ChatRequest, format: WireFormat, provider: Provider): void {
  for (const param of format.untranslatable) if (isSet(chat.extra[param])) throw unsupported(param);
  if (chat.maxTokens === 0) {
    const message = "This model's provider always generates an answer: 'max_tokens' must be at least 1.";
    throw new ApiError("invalid_request", message, { param: "max_tokens" });
  }
  const choice = chat.toolChoice;
  if (choice?.type === "tool") {
    const foreign = chat.tools.some(
      (tool) =>
        tool.type === "server" &&
        tool.origin !== provider.dialect.name &&
        (tool.name === choice.name || tool.value["name"] === choice.name),
    );
    if (foreign) throw unsupported("tool_choice");
  }
  for (const message of chat.messages) {
    for (const part of message.content) {
      if (part.type !== "opaque" || part.value["type"] !== "item_reference") continue;
      const message = `The item '${String(part.value["id"]).slice(0, 100)}' is not stored on this gateway.`;
      throw new ApiError("invalid_request", message, { param: "input" });
    }
  }
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

function unsupported(param: string): ApiError {
  // The code of Anthropic's own error, after which its SDKs continue without a thread.
  const details =
    param === "thread" ? { details: { error_code: "thread_unsupported_request", unsupported: ["thread"] } } : {};
  return new ApiError("unsupported_parameter", `This model's provider does not support '${param}'.`, {
    param,
    ...details,
  });
}
