// Records the end of every answer, streamed or not: response headers, the usage row, suspended credentials.

import type { Usage } from "../../chat/event.ts";
import type { Provider } from "../../upstream/provider.ts";
import { storedAnswer } from "../../wire/responses/stored.ts";
import { usageRecord } from "../usage/meter.ts";
import type { AdmittedRequest } from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";
import type { RouteAttempt } from "./route-call.ts";

/** Records the cost of one upstream call. If `isCall`, the call failed and the request continues with another one. */
export function spend(
  deps: GatewayDeps,
  admitted: AdmittedRequest,
  attempt: RouteAttempt,
  spent: {
    usage: Usage;
    status: number;
    errorCode: string | null;
    ttfbMs: number | null;
    isCall?: true;
  },
): void {
  const { exchange, caller, model } = admitted;
  if (spent.isCall !== true) exchange.recorded = true;
  exchange.log["input_tokens"] = spent.usage.inputTokens;
  exchange.log["output_tokens"] = spent.usage.outputTokens;
  exchange.log["provider"] = attempt.route.provider;
  deps.record(
    usageRecord(
      { model, route: attempt.route, ...spent },
      {
        requestId: exchange.requestId,
        accountId: caller.accountId,
        keyId: caller.keyId,
        endpoint: exchange.path,
        stream: admitted.chat.stream,
        startedMs: exchange.startedMs,
        nowMs: deps.clock.now(),
        failedRoutes: exchange.failedRoutes,
        askedMs: attempt.startedMs,
      },
    ),
  );
}

/**
 * Stores a finished answer if that was requested. The client has paid for it, so it gets the answer even if storing fails; false
 * then, so that it is told.
 */
export async function keepAnswer(
  deps: GatewayDeps,
  admitted: AdmittedRequest,
  answer: Readonly<Record<string, unknown>>,
  { provider, hidden }: { provider: Provider; hidden: boolean },
): Promise<boolean> {
  const { dialect, minter } = provider;
  const isOwn = dialect.name === admitted.format.dialect;
  return keepMade(deps, admitted, () => (isOwn ? storedAnswer(answer, { minter, hidden }) : answer));
}

/** The same for an answer that the gateway makes itself. */
export async function keepMade(
  deps: GatewayDeps,
  admitted: AdmittedRequest,
  made: () => Readonly<Record<string, unknown>>,
): Promise<boolean> {
  try {
    await admitted.keep?.(made());
    return true;
  } catch (error) {
    deps.keepFailed?.(error, admitted.exchange.requestId);
    return false;
  }
}

/**
 * Stores an answer in a conversation that the gateway holds. If that fails, the thread ends, and the client learns so with its
 * next request.
 */
export async function storeThreadAnswer(
  deps: GatewayDeps,
  { gatewayThread, id, model, exchange }: AdmittedRequest,
  { text, usage }: { text: string; usage: Usage | undefined },
): Promise<void> {
  if (gatewayThread === undefined) return;
  const tokens = usage === undefined ? 0 : usage.inputTokens + usage.outputTokens;
  try {
    await gatewayThread.store({ id, text, model: model.id, tokens });
  } catch (error) {
    deps.keepFailed?.(error, exchange.requestId);
  }
}

/** Tells the client which route answered and which parameters were dropped. */
export function noteRoute(admitted: AdmittedRequest, attempt: RouteAttempt, dropped: readonly string[]): void {
  const { headers } = admitted.exchange;
  headers["x-sallyport-route"] = headerText(`${attempt.route.provider}/${attempt.route.model}`);
  const all = new Set([...(admitted.dropped ?? []), ...dropped]);
  if (all.size > 0) headers["x-sallyport-dropped"] = headerText([...all].join(", "));
}

/** Forwards those response headers of the provider that clients of the same protocol use. */
export function forwardHeaders(admitted: AdmittedRequest, provider: Provider, upstream: Headers): void {
  Object.assign(admitted.exchange.headers, provider.dialect.familyHeaders?.(upstream));
}

/** Encodes a text as a header value. Only visible ASCII is allowed there, so all else is percent-encoded. */
export function headerText(text: string): string {
  // Unpaired surrogates, which upstreams and clients may send, cannot be encoded.
  return text
    .slice(0, 1000)
    .toWellFormed()
    .replace(/[^\x20-\x7e]+/g, encodeURIComponent)
    .slice(0, 1000);
}
