// Answers a request that does not want a stream.

import { ApiError } from "../../base/errors.ts";
import type { ChatEvent, Usage } from "../../chat/event.ts";
import { fold } from "../../chat/fold.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { cutEvents } from "../../chat/stop-cut.ts";
import { type NameRules, ToolRestorer } from "../../chat/tools.ts";
import { fetchAnswer, type ProviderAnswer } from "../../upstream/ask.ts";
import type { UpstreamRequest } from "../../upstream/dialect.ts";
import type { Provider } from "../../upstream/provider.ts";
import { rememberBeginning, rememberRecord } from "../stages/affinity/first-turn.ts";
import { withoutStore } from "../stages/history/not-kept.ts";
import { usageOfAnswer } from "../usage/meter.ts";
import { forwardHeaders, headerText, keepAnswer, noteRoute, spend, storeThreadAnswer } from "./accounting.ts";
import { tryRoutes } from "./attempts.ts";
import {
  type AdmittedRequest,
  answerNotesOf,
  buildRequest,
  identityOf,
  isRelayed,
  openingOf,
  writerContext,
} from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";
import { adaptToProvider } from "./fit.ts";
import { faultOfAnswer, faultOfReading } from "./policy.ts";
import { withinDeadline } from "./request-deadline.ts";
import type { RouteAttempt } from "./route-call.ts";

/** Answers with the first route's complete and readable answer. */
export function answerWhole(deps: GatewayDeps, request: Request, admitted: AdmittedRequest): Promise<Response> {
  return withinDeadline(request, deps.requestTimeoutMs(), ({ signal, remainingMs }) =>
    tryRoutes(admitted.routes, deps, {
      signal,
      remainingMs,
      attempt: (attempt) => wholeFrom(deps, attempt, admitted, signal),
      trace: admitted.trace,
      chat: admitted.chat,
      family: admitted.format.dialect,
      account: admitted.caller.accountId,
      first: admitted.placement?.first,
    }),
  );
}

async function wholeFrom(
  deps: GatewayDeps,
  attempt: RouteAttempt,
  given: AdmittedRequest,
  signal: AbortSignal,
): Promise<Response> {
  const { provider, route } = attempt;
  const admitted = await adaptToProvider(deps, given, { provider, signal });
  const build = () => buildRequest(deps, admitted, { provider, route });
  const built = build();
  const mayAskAgain = (error: unknown) =>
    admitted.refusedReasoning.mayAskAgain({ error, route, provider, built, rebuild: build }, deps.reasoning);
  let asked: ProviderAnswer;
  try {
    asked = await fetchAnswer(provider, built, {
      clock: deps.clock,
      signal,
      headers: attempt.headers,
      choice: admitted.placement?.choice(route),
    });
  } catch (error) {
    if (mayAskAgain(error)) return wholeFrom(deps, attempt, admitted, signal);
    const shorter = await deps.compaction?.afterOverflow(admitted, error);
    if (shorter !== undefined) return wholeFrom(deps, attempt, shorter, signal);
    throw error;
  }
  const ttfbMs = performance.now() - admitted.exchange.startedMs;
  const read = readWhole(deps, provider, admitted, { text: asked.text, built });
  const finish = read.events.findLast((event) => event.type === "finish");
  let written: WrittenAnswer;
  try {
    written = writeWhole(admitted, provider, read);
  } catch (error) {
    // A failed attempt that used tokens is recorded once, under the model that used them.
    const failed = read.events.findLast((event) => event.type === "error");
    const usage = finish?.usage ?? failed?.usage;
    const errorCode = error instanceof ApiError ? error.apiCode : "provider_unavailable";
    if (usage !== undefined) spend(deps, admitted, attempt, { usage, status: 502, errorCode, ttfbMs, isCall: true });
    if (mayAskAgain(error)) return wholeFrom(deps, attempt, admitted, signal);
    const shorter = await deps.compaction?.afterOverflow(admitted, error);
    if (shorter !== undefined) return wholeFrom(deps, attempt, shorter, signal);
    throw error;
  }
  const usage = written.usage;
  attempt.end({ outcome: "ok", label: "ok", usage, finishReason: finish?.rawReason });
  noteRoute(admitted, attempt, built.dropped);
  if (read.lossless === undefined) {
    if (finish?.rawReason !== undefined)
      admitted.exchange.headers["x-sallyport-stop-reason"] = headerText(finish.rawReason);
  } else forwardHeaders(admitted, provider, asked.headers);
  spend(deps, admitted, attempt, { usage, status: 200, errorCode: null, ttfbMs });
  if (written.body !== undefined) {
    const hidden = read.lossless !== undefined && built.hidesEncrypted === true;
    const isKept = await keepAnswer(deps, admitted, written.body, { provider, hidden });
    if (!isKept) written = { ...written, text: withoutStore(written.text) };
  }
  await storeThreadAnswer(deps, admitted, { text: written.text, usage });
  rememberBeginning(admitted, written.text);
  rememberRecord(admitted);
  if (admitted.compactable !== undefined) deps.compaction?.answered(admitted, { text: written.text, usage });
  return new Response(written.text, { headers: { "content-type": "application/json" } });
}

interface WholeAnswer {
  events: ChatEvent[];
  /** The response text, if the client and the provider speak the same protocol. */
  lossless: string | undefined;
  /** The parsed answer to store, if it differs from what the client gets. */
  answer?: Readonly<Record<string, unknown>> | undefined;
}

/** Reads a complete upstream answer. Throws `UpstreamFault` if it is none, so that another route can be tried. */
function readWhole(
  deps: GatewayDeps,
  provider: Provider,
  admitted: AdmittedRequest,
  { text, built }: { text: string; built: UpstreamRequest },
): WholeAnswer {
  try {
    if (isRelayed(admitted, provider)) {
      const result = provider.dialect.lossless.result(text, identityOf(deps, admitted, { provider, request: built }));
      noteAnswer(deps, admitted, provider, result.events);
      return { events: result.events, lossless: result.text, answer: result.answer };
    }
    const events = cutEvents(provider.dialect.events(JSON.parse(text)), built.cutAt ?? []);
    noteAnswer(deps, admitted, provider, events);
    const opening = openingOf(admitted);
    if (opening !== undefined) events.splice(events[0]?.type === "start" ? 1 : 0, 0, opening);
    return { events: restoreTools(admitted.chat, events, provider.dialect.toolNames), lossless: undefined };
  } catch (error) {
    throw faultOfReading(error);
  }
}

function noteAnswer(
  deps: GatewayDeps,
  admitted: AdmittedRequest,
  provider: Provider,
  events: readonly ChatEvent[],
): void {
  const notes = answerNotesOf(deps, admitted, provider);
  if (notes !== undefined) for (const event of events) notes.push(event);
}

interface WrittenAnswer {
  text: string;
  /** The parsed answer, if it is to be stored. */
  body: Readonly<Record<string, unknown>> | undefined;
  usage: Usage;
}

/** Writes the response text. Throws if the answer reports a failure or cannot be expressed in the client's format. */
function writeWhole(
  admitted: AdmittedRequest,
  provider: Provider,
  { events, lossless, answer }: WholeAnswer,
): WrittenAnswer {
  const failure = events.find((event) => event.type === "error");
  if (failure !== undefined) throw faultOfAnswer(failure);
  const usage = usageOfAnswer(admitted.chat, events);
  if (lossless !== undefined) {
    const body =
      admitted.keep === undefined ? undefined : (answer ?? (JSON.parse(lossless) as Record<string, unknown>));
    return { text: lossless, body, usage };
  }
  try {
    const result = fold(events);
    result.usage = usage;
    const body = admitted.format.encode(result, writerContext(admitted, provider));
    return { text: JSON.stringify(body), body, usage };
  } catch (error) {
    throw faultOfReading(error);
  }
}

function restoreTools(chat: ChatRequest, events: ChatEvent[], rules: NameRules | undefined): ChatEvent[] {
  const restorer = new ToolRestorer(chat, rules);
  if (restorer.idle) return events;
  const out: ChatEvent[] = [];
  for (const event of events) restorer.push(event, out);
  return out;
}
