// A plain request and context for dialect tests.

import { ERRORS } from "../../src/base/errors.ts";
import type { ChatRequest } from "../../src/chat/request.ts";
import { settledUsage } from "../../src/chat/usage.ts";
import type { RelayIdentity, RequestContext } from "../../src/upstream/dialect.ts";

/** A request that contains only what `part` defines. */
export function chat(part: Partial<ChatRequest>): ChatRequest {
  return {
    model: "m",
    messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
    stream: false,
    includeUsage: false,
    tools: [],
    extra: {},
    ...part,
  };
}

/** A context. `model` is the upstream's model. */
export function context(part: Partial<RequestContext> = {}): RequestContext {
  return {
    model: "up",
    stream: false,
    quirks: {},
    supportsReasoning: false,
    maxOutputTokens: 4096,
    clientHeaders: {},
    ...part,
  };
}

/** The values that the relay puts in place of the upstream's. */
export const identity: RelayIdentity = {
  id: "ours_1",
  model: "canonical",
  includeUsage: false,
  requestId: "req-1",
  createdSeconds: 1_700_000_000,
  settle: (told, output) => settledUsage(told, { input: () => 1, output: () => output.chars }),
  tell: ({ code, message }) => ({ message, type: ERRORS[code].type, code, param: null }),
};
