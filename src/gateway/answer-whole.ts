// The answer to a request that does not stream.

import { ApiError } from "../base/errors.ts";
import type { ChatEvent } from "../chat/event.ts";
import { fold } from "../chat/fold.ts";
import type { ChatRequest } from "../chat/request.ts";
import { ToolRestorer } from "../chat/tools.ts";
import { callProvider, readAnswer } from "../upstream/call.ts";
import { UpstreamFault } from "../upstream/fault.ts";
import { type Turn, tryRoutes } from "./attempts.ts";
import { forwardHeaders, headerText, keepAnswer, noteRoute, restKey, spend } from "./books.ts";
import type { GatewayDeps } from "./deps.ts";
import { buildRequest, dressOf, identityOf, isLossless, type Job } from "./job.ts";
import { estimateUsage } from "./meter.ts";

/** Answers without a stream: the first route that gives a whole, readable answer. */
export async function answerWhole(deps: GatewayDeps, request: Request, job: Job): Promise<Response> {
  const deadlineMs = performance.now() + deps.requestTimeoutMs();
  const abort = new AbortController();
  const onGone = () => abort.abort(new ApiError("request_timeout", "The client went away."));
  const timer = setTimeout(
    () => abort.abort(new ApiError("provider_timeout", "The provider did not answer in time.")),
    deps.requestTimeoutMs(),
  );
  request.signal.addEventListener("abort", onGone, { once: true });
  try {
    return await tryRoutes(job.routes, deps, {
      signal: abort.signal,
      remainingMs: () => deadlineMs - performance.now(),
      attempt: (turn) => wholeFrom(deps, turn, job, abort.signal),
    });
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", onGone);
  }
}

async function wholeFrom(deps: GatewayDeps, turn: Turn, job: Job, signal: AbortSignal): Promise<Response> {
  const { provider, route } = turn;
  const fitted = (await deps.fitImages?.(job, provider, signal)) ?? job;
  const built = buildRequest(fitted, provider, route.model);
  const secret = provider.keys.take(deps.clock.now());
  let response: Response;
  let text: string;
  try {
    response = await callProvider(provider, built, { signal, secret, headers: job.upstreamHeaders });
    text = await readAnswer(provider, response, signal);
  } catch (error) {
    restKey(deps, turn, secret, error);
    throw error;
  }
  const ttfbMs = performance.now() - job.exchange.startedMs;
  const answer = readWhole(turn, { job, text });
  turn.permit.settle("ok");
  noteRoute(job, turn, built.dropped);
  if (answer.stopReason !== undefined) job.exchange.headers["x-sallyport-stop-reason"] = headerText(answer.stopReason);
  if (isLossless(job, provider)) forwardHeaders(job, response.headers);
  const usage = answer.usage ?? estimateUsage(job.chat, answer.outputText());
  spend(deps, job, turn, { usage, status: 200, errorCode: null, ttfbMs });
  if (answer.body !== undefined) await keepAnswer(deps, job, answer.body);
  return new Response(answer.text, { headers: { "content-type": "application/json" } });
}

/** The client's text of a whole upstream answer. Throws `UpstreamFault` when it is not one, so that another route may be tried. */
function readWhole(turn: Turn, { job, text }: { job: Job; text: string }) {
  const { provider } = turn;
  let events: ChatEvent[];
  let lossless: string | undefined;
  let body: Record<string, unknown> | undefined;
  try {
    if (isLossless(job, provider)) {
      const result = provider.dialect.lossless.result(text, identityOf(job));
      events = result.events;
      lossless = result.text;
    } else events = restoreTools(job.chat, provider.dialect.events(JSON.parse(text)));
    const failure = events.find((event) => event.type === "error");
    if (failure !== undefined) throw new UpstreamFault("unavailable", failure.message);
    if (lossless === undefined) {
      const result = fold(events);
      result.usage ??= estimateUsage(job.chat, outputOf(events));
      body = job.format.encode(result, dressOf(job, false));
      lossless = JSON.stringify(body);
    } else if (job.keep !== undefined) body = JSON.parse(lossless) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof UpstreamFault || (error instanceof ApiError && error.apiCode !== "provider_unavailable"))
      throw error;
    throw new UpstreamFault("unavailable", "The provider's answer cannot be read.", { cause: error });
  }
  const finish = events.findLast((event) => event.type === "finish");
  const translated = !isLossless(job, provider);
  return {
    text: lossless,
    body,
    usage: finish?.usage,
    stopReason: translated ? finish?.rawReason : undefined,
    outputText: () => outputOf(events),
  };
}

function restoreTools(chat: ChatRequest, events: ChatEvent[]): ChatEvent[] {
  const restorer = new ToolRestorer(chat);
  if (restorer.idle) return events;
  const out: ChatEvent[] = [];
  for (const event of events) restorer.push(event, out);
  return out;
}

function outputOf(events: readonly ChatEvent[]): string {
  return events.map((event) => ("text" in event ? event.text : "")).join("");
}
