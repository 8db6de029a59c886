// The end of an answer, whether it was whole, streamed or made by a stage: its cost, what its headers say, and what stages keep.

import { editJson } from "../../base/json-edit.ts";
import { isRecord } from "../../base/json-object.ts";
import type { Stop } from "../../base/stop-signal.ts";
import type { ModelRoute } from "../../catalog/models.ts";
import { knownCostMicros } from "../../catalog/prices.ts";
import type { Usage } from "../../chat/event.ts";
import type { UsageRecord } from "../../store/usage/record.ts";
import type { Provider } from "../../upstream/provider.ts";
import type { RouteAttempt } from "../calls/route-call.ts";
import { type CallUsage, usageRecord } from "../usage/meter.ts";
import type {
  BodyMembers,
  ChatTurn,
  CompleteAnswer,
  EventListener,
  RoundEnd,
  StageRun,
  Target,
  TurnEnd,
} from "./stage.ts";

export interface AnswerDeps {
  readonly clock: { now(): number };
  record(usage: UsageRecord): void;
  /** Called when an answer could not be stored; the client gets it anyway. */
  keepFailed?(error: unknown, requestId: string): void;
}

/** The work of the stages for one request that asked for some; shared by nearly all requests, for which there is none. */
export const NO_RUNS: readonly StageRun[] = [];

/** Records the cost of one upstream call. If `isCall`, the call failed and the request continues with another one. */
export function spend(
  deps: AnswerDeps,
  turn: ChatTurn,
  attempt: RouteAttempt,
  spent: { usage: Usage; status: number; errorCode: string | null; ttfbMs: number | null; isCall?: true },
): void {
  const { exchange, caller, model } = turn;
  const { usage, status, errorCode, ttfbMs } = spent;
  const call: CallUsage = { model, route: attempt.route, usage, status, errorCode, ttfbMs };
  if (spent.isCall === true) call.isCall = true;
  else exchange.recorded = true;
  exchange.log["input_tokens"] = spent.usage.inputTokens;
  exchange.log["output_tokens"] = spent.usage.outputTokens;
  exchange.log["provider"] = attempt.route.provider;
  deps.record(
    usageRecord(call, {
      requestId: exchange.requestId,
      accountId: caller.accountId,
      keyId: caller.keyId,
      endpoint: exchange.path,
      stream: turn.chat.stream,
      startedMs: exchange.startedMs,
      nowMs: deps.clock.now(),
      failedRoutes: exchange.failedRoutes,
      askedMs: attempt.startedMs,
      answerId: turn.namedByRequest === true ? turn.format.idPrefix : turn.id,
      labels: exchange,
    }),
  );
}

/** Lets the stages keep what they need of a complete answer. Returns the members of it that are to be corrected. */
export async function answerCompleted(
  deps: AnswerDeps,
  runs: readonly StageRun[],
  answer: CompleteAnswer,
): Promise<BodyMembers | undefined> {
  let corrected: BodyMembers | undefined;
  for (let at = runs.length - 1; at >= 0; at--) {
    try {
      const members = await runs[at]?.complete?.(answer);
      if (members !== undefined) corrected = { ...corrected, ...members };
    } catch (error) {
      // The client has paid for the answer, so it gets it even if something cannot be kept.
      deps.keepFailed?.(error, answer.turn.exchange.requestId);
    }
  }
  return corrected;
}

/** The text of a whole answer with corrected members; those that it does not have stay away. */
export function correctedText(text: string, members: BodyMembers): string {
  return editJson(text, editsOf(membersOf(text), members, []));
}

/** A line of a stream with an object. U+2028 and U+2029, which JSON may hold as they are, end lines for `.` and `$` only. */
const DATA_LINE = /(?<=^|[\r\n])(data: ?)(\{[^\r\n]*\})(?=[\r\n]|$)/g;

/** The same for the frames of a stream: an event at its end carries the whole answer. */
export function correctedFrames(text: string, members: BodyMembers): string {
  return text.replace(DATA_LINE, (line, start: string, data: string) => {
    const response = membersOf(data)?.["response"];
    const edits = isRecord(response) ? editsOf(response, members, ["response"]) : [];
    return edits.length === 0 ? line : start + editJson(data, edits);
  });
}

function editsOf(answer: BodyMembers | undefined, members: BodyMembers, path: readonly string[]) {
  return Object.entries(members).flatMap(([name, value]) =>
    answer?.[name] == null || answer[name] === value ? [] : [{ path: [...path, name], value }],
  );
}

function membersOf(text: string): BodyMembers | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Tells the stages that the answer is over. */
export function answerSettled(runs: readonly StageRun[], end: TurnEnd): void {
  for (let at = runs.length - 1; at >= 0; at--) runs[at]?.settle?.(end);
}

/** What one round of an answer cost. */
export function roundEnd({ model }: ChatTurn, attempt: RouteAttempt | undefined, usage: Usage | undefined): RoundEnd {
  const costMicros = usage === undefined ? undefined : knownCostMicros(model.prices, usage);
  return { route: attempt?.route, usage, costMicros };
}

/**
 * Starts the checks that run beside a call; undefined for nearly all requests, which have none. A refusal aborts the call with its
 * reason.
 */
export function gatesOf(runs: readonly StageRun[], turn: ChatTurn, stop: Stop): Promise<unknown> | undefined {
  const gates = runs.flatMap((run) => run.gate?.(turn, stop.platform) ?? []);
  if (gates.length === 0) return undefined;
  const everyGate = Promise.all(gates);
  everyGate.catch((error: unknown) => stop.abort(error));
  return everyGate;
}

/** What listens to an answer; there is one at most. */
export function listenerOf(runs: readonly StageRun[], turn: ChatTurn, target: Target): EventListener | undefined {
  for (const run of runs) {
    const listener = run.listener?.(turn, target);
    if (listener !== undefined) return listener;
  }
  return undefined;
}

/** Tells the client which route answered and which parameters were dropped. */
export function noteRoute(turn: ChatTurn, attempt: RouteAttempt, dropped: readonly string[]): void {
  const { headers } = turn.exchange;
  headers["x-sallyport-route"] = nameOfRoute(attempt.route);
  if (turn.dropped.length === 0 && dropped.length === 0) return;
  headers["x-sallyport-dropped"] = headerText([...new Set([...turn.dropped, ...dropped])].join(", "));
}

const routeNames = new WeakMap<ModelRoute, string>();

function nameOfRoute(route: ModelRoute): string {
  let name = routeNames.get(route);
  if (name === undefined) {
    name = headerText(`${route.provider}/${route.model}`);
    routeNames.set(route, name);
  }
  return name;
}

/** Writes into the log line how many reasoning items of the history the provider left out. */
export function noteRemovedReasoning(turn: ChatTurn, count: number | undefined): void {
  if (count !== undefined && count > 0) turn.exchange.log["reasoning_removed"] = count;
}

/** Forwards those response headers of the provider that clients of the same protocol use. */
export function forwardHeaders(turn: ChatTurn, { dialect }: Provider, upstream: { readonly headers: Headers }): void {
  if (dialect.familyHeaders !== undefined)
    Object.assign(turn.exchange.headers, dialect.familyHeaders(upstream.headers));
}

const VISIBLE = /^[\x20-\x7e]*$/;

/** Encodes a text as a header value. Only visible ASCII is allowed there, so all else is percent-encoded. */
export function headerText(text: string): string {
  if (text.length <= 1000 && VISIBLE.test(text)) return text;
  // Unpaired surrogates, which upstreams and clients may send, cannot be encoded.
  return text
    .slice(0, 1000)
    .toWellFormed()
    .replace(/[^\x20-\x7e]+/g, encodeURIComponent)
    .slice(0, 1000);
}
