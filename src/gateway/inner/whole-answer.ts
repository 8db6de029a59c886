// One whole answer of one route to a request of the gateway's own: the call, its outcome for breaker and metrics, and its usage row.

import type { CatalogModel } from "../../catalog/models.ts";
import type { ChatEvent, Usage } from "../../chat/event.ts";
import type { ChatRequest } from "../../chat/request.ts";
import type { UsageRecord } from "../../store/usage/record.ts";
import { fetchAnswer } from "../../upstream/ask.ts";
import type { RequestContext } from "../../upstream/dialect.ts";
import { UpstreamFault } from "../../upstream/fault.ts";
import type { AttemptDeps } from "../calls/attempts.ts";
import type { RouteAttempt } from "../calls/route-call.ts";
import { faultOfAnswer, faultOfReading } from "../rules/policy.ts";
import { usageOfAnswer, usageRecord } from "../usage/meter.ts";

/** What such a call needs. */
export interface WholeAnswerDeps extends Pick<AttemptDeps, "clock"> {
  record(usage: UsageRecord): void;
}

/** The request, and whose it is. */
export interface OwnRequest {
  readonly chat: ChatRequest;
  readonly model: CatalogModel;
  readonly signal: AbortSignal;
  readonly endUser?: RequestContext["endUser"];
  /** Whose usage it is. `isCall`: a part of the caller's request, which has a row of its own. */
  readonly row: Pick<UsageRecord, "requestId" | "accountId" | "keyId" | "endpoint"> & { readonly isCall?: true };
}

/** Asks one route. Throws `UpstreamFault` if it does not answer, or not readably. */
export async function wholeAnswer(
  deps: WholeAnswerDeps,
  attempt: RouteAttempt,
  { chat, model, signal, endUser, row }: OwnRequest,
): Promise<{ events: readonly ChatEvent[]; usage: Usage }> {
  const startedMs = performance.now();
  const { provider, route } = attempt;
  const request = provider.dialect.request(
    { ...chat, model: route.model },
    {
      model: route.model,
      stream: false,
      quirks: provider.quirks,
      supportsReasoning: model.supportsReasoning,
      maxOutputTokens: model.maxOutputTokens,
      endUser,
      clientHeaders: {},
    },
  );
  const { text } = await fetchAnswer(provider, request, { clock: deps.clock, signal });
  const events = readEvents(() => provider.dialect.events(JSON.parse(text)));
  const failure = events.find((event) => event.type === "error");
  if (failure !== undefined) throw faultOfAnswer(failure);
  const usage = usageOfAnswer(chat, events, undefined);
  attempt.end({ outcome: "ok", label: "ok", usage });
  const { isCall, ...whose } = row;
  deps.record(
    usageRecord(
      { model, route, usage, status: 200, errorCode: null, ttfbMs: null, ...(isCall === true ? { isCall } : {}) },
      { ...whose, stream: false, startedMs, nowMs: deps.clock.now() },
    ),
  );
  return { events, usage };
}

function readEvents<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const fault = faultOfReading(error);
    throw fault instanceof UpstreamFault ? fault : error;
  }
}
