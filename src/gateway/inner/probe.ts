// Requests one token from a model if the operator enabled it (`health.probe: chat`). The usage is recorded without an account.

import { uuid } from "../../base/ids.ts";
import type { Catalog } from "../../catalog/models.ts";
import { resolveModel } from "../../catalog/resolve.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { UsageRecord } from "../../store/usage/record.ts";
import { type AttemptDeps, tryRoutes } from "../calls/attempts.ts";
import type { RouteAttempt } from "../calls/route-call.ts";
import { wholeAnswer } from "./whole-answer.ts";

export interface ProbeDeps extends AttemptDeps {
  catalog(): Catalog;
  record(usage: UsageRecord): void;
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

/** Creates the probe, which returns true if one of the model's routes answered. */
export function createProbe(deps: ProbeDeps): (model: string, signal: AbortSignal) => Promise<boolean> {
  return async (id, signal) => {
    const found = resolveModel(deps.catalog(), id);
    if (found === undefined) return false;
    const deadlineMs = performance.now() + PROBE_MS;
    const attempt = async (attempt: RouteAttempt) => {
      const maxTokens = attempt.provider.dialect.maxTokensMin ?? 1;
      const row = { requestId: uuid(), accountId: "", keyId: "", endpoint: "probe" };
      await wholeAnswer(deps, attempt, { chat: { ...QUESTION, maxTokens }, model: found.model, signal, row });
    };
    await tryRoutes(found.model.routes, deps, {
      signal,
      remainingMs: () => deadlineMs - performance.now(),
      attempt,
      chat: QUESTION,
    });
    return true;
  };
}
