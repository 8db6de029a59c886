// Requests one token from a model if the operator enabled it (`health.probe: chat`). The usage is recorded without an account.

import { uuid } from "../../base/ids.ts";
import type { Catalog } from "../../catalog/models.ts";
import { resolveModel } from "../../catalog/resolve.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { UsageRecord } from "../../store/usage/record.ts";
import { fetchAnswer } from "../../upstream/ask.ts";
import { type AttemptDeps, tryRoutes } from "../calls/attempts.ts";
import type { RouteAttempt } from "../calls/route-call.ts";
import { faultOfAnswer } from "../rules/policy.ts";
import { usageOfAnswer, usageRecord } from "../usage/meter.ts";

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
    const attempt = (attempt: RouteAttempt) => ask(deps, attempt, { model: found.model, signal });
    await tryRoutes(found.model.routes, deps, {
      signal,
      remainingMs: () => deadlineMs - performance.now(),
      attempt,
      chat: QUESTION,
    });
    return true;
  };
}

async function ask(
  deps: ProbeDeps,
  attempt: RouteAttempt,
  { model, signal }: { model: Catalog["models"][number]; signal: AbortSignal },
): Promise<void> {
  const startedMs = performance.now();
  const { provider, route } = attempt;
  const maxTokens = provider.dialect.maxTokensMin ?? 1;
  const chat: ChatRequest = { ...QUESTION, model: route.model, maxTokens };
  const request = provider.dialect.request(chat, {
    model: route.model,
    stream: false,
    quirks: provider.quirks,
    supportsReasoning: model.supportsReasoning,
    maxOutputTokens: model.maxOutputTokens,
    clientHeaders: {},
  });
  const { text } = await fetchAnswer(provider, request, { clock: deps.clock, signal });
  const events = provider.dialect.events(JSON.parse(text));
  const failure = events.find((event) => event.type === "error");
  if (failure !== undefined) throw faultOfAnswer(failure);
  const usage = usageOfAnswer(chat, events);
  attempt.end({ outcome: "ok", label: "ok", usage });
  deps.record(
    usageRecord(
      { model, route, usage, status: 200, errorCode: null, ttfbMs: null },
      {
        requestId: uuid(),
        accountId: "",
        keyId: "",
        endpoint: "probe",
        stream: false,
        startedMs,
        nowMs: deps.clock.now(),
      },
    ),
  );
}
