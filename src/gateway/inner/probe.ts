// Requests one token from a model if the operator enabled it (`health.probe: chat`). The usage is recorded without an account.

import { uuid } from "../../base/ids.ts";
import type { Catalog } from "../../catalog/models.ts";
import { resolveModel } from "../../catalog/resolve.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { NO_STAGES, type StageRun } from "../centre/stage.ts";
import type { InnerDeps } from "./inner-answer.ts";

export interface ProbeDeps extends Omit<InnerDeps, "endUserOf" | "stages"> {
  catalog(): Catalog;
}

const PROBE_MS = 30_000;
const QUESTION: ChatRequest = {
  model: "",
  messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
  stream: false,
  includeUsage: false,
  tools: [],
  extra: {},
};
/** Nobody's request, of which providers are told no user. */
const NOBODY = { accountId: "", keyId: "", account: { tier: "free" } } as const;
/** The smallest answer that a route allows. */
const SMALLEST: StageRun = {
  adapt: (turn, { provider: { dialect } }) => ({
    why: "probe",
    chat: { ...turn.chat, maxTokens: dialect.maxTokensMin ?? 1 },
  }),
};

/** Creates the probe, which returns true if one of the model's routes answered. */
export function createProbe(deps: ProbeDeps): (model: string, signal: AbortSignal) => Promise<boolean> {
  return async (id, signal) => {
    const found = resolveModel(deps.catalog(), id);
    if (found === undefined) return false;
    const { model } = found;
    const deadlineMs = performance.now() + PROBE_MS;
    // Nothing in it is a client's, so no feature acts on it: a guardrail that denies the question would say that the model is down.
    const calls = { ...deps, stages: NO_STAGES, endUserOf: () => undefined };
    const { innerAnswer } = await import("./inner-answer.ts");
    await innerAnswer(
      calls,
      { model, routes: model.routes, chat: QUESTION },
      {
        of: { caller: NOBODY, requestId: uuid(), endpoint: "probe" },
        deadline: { signal, remainingMs: () => deadlineMs - performance.now() },
        own: SMALLEST,
      },
    );
    return true;
  };
}
