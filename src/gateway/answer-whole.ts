// The answer to a request that does not stream.

import { ApiError } from "../base/errors.ts";
import type { ChatEvent } from "../chat/event.ts";
import { fold } from "../chat/fold.ts";
import type { ChatRequest } from "../chat/request.ts";
import { cutEvents } from "../chat/stop-cut.ts";
import { type NameRules, ToolRestorer } from "../chat/tools.ts";
import { outputText } from "../chat/usage.ts";
import { fetchAnswer, type ProviderAnswer } from "../upstream/ask.ts";
import type { UpstreamRequest } from "../upstream/dialect.ts";
import type { Provider } from "../upstream/provider.ts";
import { forwardHeaders, headerText, holdAnswer, keepAnswer, noteRoute, spend } from "./accounting.ts";
import { tryRoutes } from "./attempts.ts";
import {
  type AdmittedRequest,
  answerNotesOf,
  buildRequest,
  dressOf,
  identityOf,
  isRelayed,
  openingOf,
} from "./chat-exchange.ts";
import type { GatewayDeps } from "./deps.ts";
import { rememberBeginning, rememberRecord } from "./first-turn.ts";
import { fitJob } from "./fit.ts";
import { estimateUsage } from "./meter.ts";
import { faultOfAnswer, faultOfReading } from "./policy.ts";
import { withinDeadline } from "./request-deadline.ts";
import type { RouteAttempt } from "./route-call.ts";

/** Answers without a stream: the first route that gives a whole, readable answer. */
export function answerWhole(deps: GatewayDeps, request: Request, job: AdmittedRequest): Promise<Response> {
  return withinDeadline(request, deps.requestTimeoutMs(), ({ signal, remainingMs }) =>
    tryRoutes(job.routes, deps, {
      signal,
      remainingMs,
      attempt: (turn) => wholeFrom(deps, turn, job, signal),
      trace: job.trace,
      chat: job.chat,
      family: job.format.dialect,
      first: job.stay?.first,
    }),
  );
}

async function wholeFrom(
  deps: GatewayDeps,
  turn: RouteAttempt,
  given: AdmittedRequest,
  signal: AbortSignal,
): Promise<Response> {
  const { provider, route } = turn;
  const job = await fitJob(deps, given, { provider, signal });
  const build = () => buildRequest(deps, job, { provider, route });
  const built = build();
  const mayAskAgain = (error: unknown) =>
    job.refusedReasoning.mayAskAgain({ error, route, provider, built, rebuild: build }, deps.reasoning);
  let asked: ProviderAnswer;
  try {
    asked = await fetchAnswer(provider, built, {
      clock: deps.clock,
      signal,
      headers: turn.headers,
      choice: job.stay?.choice(route),
    });
  } catch (error) {
    if (mayAskAgain(error)) return wholeFrom(deps, turn, job, signal);
    const shorter = await deps.conversations?.atWall(job, error);
    if (shorter !== undefined) return wholeFrom(deps, turn, shorter, signal);
    throw error;
  }
  const ttfbMs = performance.now() - job.exchange.startedMs;
  const read = readWhole(deps, provider, job, { text: asked.text, built });
  const finish = read.events.findLast((event) => event.type === "finish");
  let written: WrittenAnswer;
  try {
    written = writeWhole(job, provider, read);
  } catch (error) {
    // A failed attempt that cost tokens counts once, under the model that spent them.
    const failed = read.events.findLast((event) => event.type === "error");
    const usage = finish?.usage ?? failed?.usage;
    const errorCode = error instanceof ApiError ? error.apiCode : "provider_unavailable";
    if (usage !== undefined) spend(deps, job, turn, { usage, status: 502, errorCode, ttfbMs, isCall: true });
    if (mayAskAgain(error)) return wholeFrom(deps, turn, job, signal);
    const shorter = await deps.conversations?.atWall(job, error);
    if (shorter !== undefined) return wholeFrom(deps, turn, shorter, signal);
    throw error;
  }
  const usage = finish?.usage ?? estimateUsage(job.chat, outputText(read.events));
  turn.end({ outcome: "ok", label: "ok", usage, finishReason: finish?.rawReason });
  noteRoute(job, turn, built.dropped);
  if (read.lossless === undefined) {
    if (finish?.rawReason !== undefined) job.exchange.headers["x-sallyport-stop-reason"] = headerText(finish.rawReason);
  } else forwardHeaders(job, provider, asked.headers);
  spend(deps, job, turn, { usage, status: 200, errorCode: null, ttfbMs });
  if (written.body !== undefined) {
    const hidden = read.lossless !== undefined && built.hidesEncrypted === true;
    await keepAnswer(deps, job, written.body, { provider, hidden });
  }
  await holdAnswer(deps, job, { text: written.text, usage });
  rememberBeginning(job, written.text);
  rememberRecord(job);
  if (job.conversation !== undefined) deps.conversations?.answered(job, { text: written.text, usage });
  return new Response(written.text, { headers: { "content-type": "application/json" } });
}

interface WholeAnswer {
  events: ChatEvent[];
  /** The client's text, where both sides speak the same protocol. */
  lossless: string | undefined;
  /** What is stored of it, where that is more than the client gets. */
  answer?: Readonly<Record<string, unknown>> | undefined;
}

/** What a whole upstream answer says. Throws `UpstreamFault` when it is not one, so that another route may be tried. */
function readWhole(
  deps: GatewayDeps,
  provider: Provider,
  job: AdmittedRequest,
  { text, built }: { text: string; built: UpstreamRequest },
): WholeAnswer {
  try {
    if (isRelayed(job, provider)) {
      const result = provider.dialect.lossless.result(text, identityOf(deps, job, { provider, request: built }));
      noteAnswer(deps, job, provider, result.events);
      return { events: result.events, lossless: result.text, answer: result.answer };
    }
    const events = cutEvents(provider.dialect.events(JSON.parse(text)), built.cutAt ?? []);
    noteAnswer(deps, job, provider, events);
    const opening = openingOf(job);
    if (opening !== undefined) events.splice(events[0]?.type === "start" ? 1 : 0, 0, opening);
    return { events: restoreTools(job.chat, events, provider.dialect.toolNames), lossless: undefined };
  } catch (error) {
    throw faultOfReading(error);
  }
}

function noteAnswer(deps: GatewayDeps, job: AdmittedRequest, provider: Provider, events: readonly ChatEvent[]): void {
  const notes = answerNotesOf(deps, job, provider);
  if (notes !== undefined) for (const event of events) notes.push(event);
}

interface WrittenAnswer {
  text: string;
  /** The same, parsed, where it is to be kept. */
  body: Readonly<Record<string, unknown>> | undefined;
}

/** The client's text of it. Throws for an answer that reports a failure or cannot be said. */
function writeWhole(
  job: AdmittedRequest,
  provider: Provider,
  { events, lossless, answer }: WholeAnswer,
): WrittenAnswer {
  const failure = events.find((event) => event.type === "error");
  if (failure !== undefined) throw faultOfAnswer(failure);
  if (lossless !== undefined) {
    const body = job.keep === undefined ? undefined : (answer ?? (JSON.parse(lossless) as Record<string, unknown>));
    return { text: lossless, body };
  }
  try {
    const result = fold(events);
    result.usage ??= estimateUsage(job.chat, outputText(events));
    const body = job.format.encode(result, dressOf(job, provider));
    return { text: JSON.stringify(body), body };
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
