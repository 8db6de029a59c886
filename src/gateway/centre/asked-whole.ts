// Asks a model's routes for a whole answer, and reads it.

import type { AtOnce } from "../../base/at-once.ts";
import { ApiError } from "../../base/errors.ts";
import type { BodyText } from "../../base/long-json.ts";
import type { StopSignal } from "../../base/stop-signal.ts";
import { type ChatEvent, failureOf, lastFinish } from "../../chat/event.ts";
import { fold } from "../../chat/fold.ts";
import type { ChatRequest } from "../../chat/request.ts";
import { cutEvents } from "../../chat/stop-cut.ts";
import { type NameRules, ToolRestorer } from "../../chat/tools.ts";
import { fetchAnswer, type ProviderAnswer } from "../../upstream/ask.ts";
import type { UpstreamRequest } from "../../upstream/dialect.ts";
import type { Provider } from "../../upstream/provider.ts";
import { tryRoutes } from "../calls/attempts.ts";
import type { RouteAttempt } from "../calls/route-call.ts";
import { faultOfAnswer, faultOfReading } from "../rules/policy.ts";
import { forwardHeaders, headerText, listenerOf, noteRemovedReasoning, noteRoute, spend } from "./answer.ts";
import { identityOf, isRelayed, openingOf } from "./build.ts";
import type { WholeDeps } from "./deps.ts";
import type { ChatTurn, EventListener, StageRun } from "./stage.ts";
import { tryOptions } from "./turn.ts";
import { onRoute, type Prepared, type SentTurn } from "./walk.ts";

/** The time that an answer has. */
export interface WholeDeadline {
  readonly signal: StopSignal;
  readonly remainingMs: () => number;
}

/** Asks a turn's routes for a whole answer until `take` accepts one. */
export function tryWhole<T>(
  deps: WholeDeps,
  ready: Prepared,
  { deadline, take }: { deadline: WholeDeadline; take(asked: AskedWhole): AtOnce<T> },
): Promise<T> {
  const { signal, remainingMs } = deadline;
  return tryRoutes(ready.turn.routes, deps, {
    ...tryOptions(ready.turn),
    signal,
    remainingMs,
    attempt: wholeAttempt(deps, ready, { signal, take }),
  });
}

/** Asks one route for a whole answer. */
export function wholeAttempt<T>(
  deps: WholeDeps,
  ready: Prepared,
  { signal, take }: Pick<WholeCall<T>, "signal" | "take">,
): (attempt: RouteAttempt) => Promise<T> {
  return (attempt) =>
    onRoute(deps, ready, attempt, {
      signal,
      call: (sent) => askWhole(deps, ready.runs, { attempt, sent, signal, take }),
    });
}

/** A whole answer of one route that was read. */
export interface AskedWhole {
  readonly turn: ChatTurn;
  readonly attempt: RouteAttempt;
  readonly built: UpstreamRequest<BodyText>;
  readonly answer: ProviderAnswer;
  readonly ttfbMs: number;
  readonly read: WholeAnswer;
}

interface WholeCall<T> {
  readonly attempt: RouteAttempt;
  readonly sent: SentTurn;
  readonly signal: StopSignal;
  take(asked: AskedWhole): AtOnce<T>;
}

async function askWhole<T>(
  deps: WholeDeps,
  runs: readonly StageRun[],
  { attempt, sent, signal, take }: WholeCall<T>,
): Promise<T> {
  const { provider, route, headers } = attempt;
  const { turn, built } = sent;
  const choice = turn.preference?.choice(route);
  const answer = await fetchAnswer(provider, built, { clock: deps.clock, signal, headers, choice });
  const taken = take(askedWhole(deps, runs, { attempt, sent, answer }));
  return taken instanceof Promise ? await taken : taken;
}

/** Reads what a route answered. Throws `UpstreamFault` if it is no answer, so that another route can be tried. */
export function askedWhole(
  deps: WholeDeps,
  runs: readonly StageRun[],
  { attempt, sent, answer }: { attempt: RouteAttempt; sent: SentTurn; answer: ProviderAnswer },
): AskedWhole {
  const { turn, built } = sent;
  const ttfbMs = performance.now() - turn.exchange.startedMs;
  const listener = listenerOf(runs, turn, attempt);
  const read = readWhole(deps, attempt.provider, turn, { text: answer.text, built, listener });
  return { turn, attempt, built, answer, ttfbMs, read };
}

/** Records what an answer cost that is not used, once, under the model that made it. */
export function spendUnused(deps: WholeDeps, { turn, attempt, read, ttfbMs }: AskedWhole, error: unknown): void {
  const finish = lastFinish(read.events);
  const failed = failureOf(read.events);
  const usage = finish?.usage ?? failed?.usage;
  if (usage === undefined) return;
  const { status, apiCode } = error instanceof ApiError ? error : UNAVAILABLE;
  spend(deps, turn, attempt, { usage, status, errorCode: apiCode, ttfbMs, isCall: true });
}

const UNAVAILABLE = { status: 502, apiCode: "provider_unavailable" } as const;

/** Throws if the answer reports a failure or cannot be read, so that another route is asked. */
export function readable(deps: WholeDeps, asked: AskedWhole): AskedWhole {
  try {
    const failure = failureOf(asked.read.events);
    if (failure !== undefined) throw faultOfAnswer(failure);
    fold(asked.read.events);
    return asked;
  } catch (error) {
    const fault = faultOfReading(error);
    spendUnused(deps, asked, fault);
    throw fault;
  }
}

/** Notes which route answered, and what its answer said beside the text. */
export function noteWhole(
  { turn, attempt, built, read, answer }: AskedWhole,
  finish: Extract<ChatEvent, { type: "finish" }> | undefined,
): void {
  noteRemovedReasoning(turn, finish?.reasoningRemoved);
  // A client of another protocol learns it from no other place.
  const isRemoved = read.lossless === undefined && finish?.reasoningRemoved !== undefined;
  noteRoute(turn, attempt, isRemoved ? [...built.dropped, "reasoning"] : built.dropped);
  if (read.lossless === undefined) {
    if (finish?.rawReason !== undefined)
      turn.exchange.headers["x-sallyport-stop-reason"] = headerText(finish.rawReason);
  } else forwardHeaders(turn, attempt.provider, answer);
}

interface WholeAnswer {
  events: ChatEvent[];
  /** The response text, if the client and the provider speak the same protocol. */
  lossless: string | undefined;
  /** The parsed answer to store, if it differs from what the client gets. */
  answer?: Readonly<Record<string, unknown>> | undefined;
}

function readWhole(
  deps: WholeDeps,
  provider: Provider,
  turn: ChatTurn,
  { text, built, listener }: { text: string; built: UpstreamRequest<BodyText>; listener: EventListener | undefined },
): WholeAnswer {
  try {
    if (isRelayed(turn, provider)) {
      // The listener takes the events below.
      const identity = identityOf(deps, turn, { provider, request: built, listener: undefined });
      const result = provider.dialect.lossless.result(text, identity);
      if (listener !== undefined) for (const event of result.events) listener.push(event);
      return { events: result.events, lossless: result.text, answer: result.answer };
    }
    const events = cutEvents(provider.dialect.events(JSON.parse(text)), built.cutAt ?? []);
    if (listener !== undefined) for (const event of events) listener.push(event);
    const opening = openingOf(turn);
    if (opening !== undefined) events.splice(events[0]?.type === "start" ? 1 : 0, 0, opening);
    return { events: restoreTools(turn.chat, events, provider.dialect.toolNames), lossless: undefined };
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
