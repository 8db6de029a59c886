// How the stages act on a turn: each prepares it once, adapts it to every route that is called, and may change it after a failure.

import type { AtOnce } from "../../base/at-once.ts";
import { type BodyText, isSameText } from "../../base/long-json.ts";
import { longStep } from "../../base/long-steps.ts";
import { platformSignal, type StopSignal } from "../../base/stop-signal.ts";
import { modelOnRoute } from "../../catalog/models.ts";
import type { UpstreamRequest } from "../../upstream/dialect.ts";
import type { RouteAttempt } from "../calls/route-call.ts";
import { NO_RUNS } from "./answer.ts";
import { buildRequest } from "./build.ts";
import type { GatewayDeps } from "./deps.ts";
import {
  type Change,
  type ChatTurn,
  changed,
  type Stage,
  type StageAnswer,
  type StageRun,
  type Target,
} from "./stage.ts";

/** A turn as the stages left it. */
export interface Prepared {
  readonly turn: ChatTurn;
  /** The work of the stages that the request needs. */
  readonly runs: readonly StageRun[];
  /** The answer of a stage in place of an upstream. */
  readonly made: StageAnswer | undefined;
  /** The place of its run. The runs above it see the answer. */
  readonly madeBy?: number;
  /** How many stages of the list were asked, if a stage answered before its end. */
  readonly walked?: number;
}

/** A stage may search the text of the request. The event loop gets a turn before each stage if the text is longer. */
const STEP_CHARS_MIN = 512 * 1024;

/** Opens the stages in the order of their list, each with the turn as those before left it, and lets them prepare. */
export function prepared(stages: readonly Stage[], turn: ChatTurn): AtOnce<Prepared> {
  const state = { turn, runs: NO_RUNS, made: undefined };
  // Such a request was decoded just now.
  return isLongRequest(turn) ? walkLater(stages, 0, state) : walk(stages, 0, state);
}

/** Whether a request is so long that it is worked on in steps. */
export const isLongRequest = ({ text }: Pick<ChatTurn, "text">): boolean => text.length >= STEP_CHARS_MIN;

// What few requests wait for stands in functions of its own: with a closure in the loop, each of its rounds would make an object for
// what the closure captures.
function walk(stages: readonly Stage[], from: number, state: Prepared): AtOnce<Prepared> {
  let now = state;
  const inSteps = isLongRequest(state.turn);
  for (let at = from; at < stages.length; at++) {
    if (inSteps && at > from) return walkLater(stages, at, now);
    const run = stages[at]!.open(now.turn);
    if (run === undefined) continue;
    const turn = hears(run) ? { ...now.turn, isHeard: true as const } : now.turn;
    now = { ...now, turn, runs: [...now.runs, run] };
    const found = run.prepare?.(now.turn);
    if (found instanceof Promise) return walkAfter(found, stages, at, now);
    now = after(now, found);
    if (now.made !== undefined) return endedBy(now.runs.length - 1, now, at + 1);
  }
  return now;
}

async function walkLater(stages: readonly Stage[], from: number, state: Prepared): Promise<Prepared> {
  await longStep(state.turn.exchange.startedMs);
  return walk(stages, from, state);
}

/** Goes on after the stage at a place, once it has prepared. */
async function walkAfter(
  found: Promise<Change | StageAnswer | undefined>,
  stages: readonly Stage[],
  at: number,
  soFar: Prepared,
): Promise<Prepared> {
  const next = after(soFar, await found);
  return next.made === undefined ? walk(stages, at + 1, next) : endedBy(soFar.runs.length - 1, next, at + 1);
}

function endedBy(madeBy: number, state: Prepared, walked: number): Prepared {
  const { isHeard, ...unheard } = state.turn;
  // The stage that answers does not hear its own answer.
  const turn = isHeard === true && state.runs.slice(0, madeBy).some(hears) ? state.turn : unheard;
  return { ...state, turn, madeBy, walked };
}

/** Whether a stage hears the answer, or may ask for another round. */
function hears(run: StageRun): boolean {
  return run.hears !== undefined || run.next !== undefined;
}

/**
 * The turn of a further round that the run at a place asks for: the runs below it act on the change, and the stages that an answer
 * before them had kept from acting are opened.
 */
export async function nextRound(
  stages: readonly Stage[],
  ready: Prepared,
  { at, change }: { at: number; change: Change },
): Promise<Prepared> {
  const { turn: last, runs, walked = stages.length } = ready;
  let now: Prepared = {
    turn: { ...changed(last, change), round: (last.round ?? 0) + 1 },
    runs,
    made: undefined,
    walked,
  };
  for (let below = at + 1; below < runs.length; below++) {
    now = after(now, await runs[below]!.round?.(now.turn));
    if (now.made !== undefined) return endedBy(below, now, walked);
  }
  return walk(stages, walked, { turn: now.turn, runs, made: undefined });
}

function after(state: Prepared, found: Change | StageAnswer | undefined): Prepared {
  if (found === undefined) return state;
  if (!("answer" in found)) return { ...state, turn: changed(state.turn, found) };
  const { change } = found;
  return { ...state, turn: change === undefined ? state.turn : changed(state.turn, change), made: found };
}

/** The turn as the stages adapt it to one route, for a call that is no attempt at an answer. */
export async function adaptedTo({ turn, runs }: Prepared, target: Target, signal: AbortSignal): Promise<ChatTurn> {
  const steps = [turn];
  await adapt(steps, runs, { from: 0, target, signal });
  return steps.at(-1)!;
}

/** A turn as it is sent on one route. */
export interface SentTurn {
  readonly turn: ChatTurn;
  readonly built: UpstreamRequest<BodyText>;
}

/** How often one route is asked again with a changed turn; no stage needs more. */
const AGAIN_MAX = 4;

/** Asks one route with the turn as the stages adapt it, and again with what they change after a failure before content. */
export async function onRoute<T>(
  deps: Pick<GatewayDeps, "endUserOf" | "stages">,
  { turn, runs }: Prepared,
  attempt: RouteAttempt,
  { signal, call }: { signal: StopSignal; call(sent: SentTurn): Promise<T> },
): Promise<T> {
  // The turn as it was before each run, and after the last.
  const steps: ChatTurn[] = [pricedOn(turn, attempt)];
  if (runs.length > 0) await adapt(steps, runs, { from: 0, target: attempt, signal });
  const first = sentOf(deps, steps.at(-1)!, attempt);
  let sent = first instanceof Promise ? await first : first;
  for (let asked = 0; ; asked++) {
    try {
      return await call(sent);
    } catch (error) {
      const { built } = sent;
      callFailed(deps, turn, error);
      if (asked === AGAIN_MAX || !(await mayAskAgain(steps, runs, { error, attempt, built, signal }))) throw error;
      sent = await sentOf(deps, steps.at(-1)!, attempt);
      // Nothing that was refused is sent again unchanged.
      if (isSameText(sent.built.body, built.body)) throw error;
    }
  }
}

/** Tells the stages of a call that failed. */
export function callFailed({ stages }: Pick<GatewayDeps, "stages">, turn: ChatTurn, error: unknown): void {
  for (const stage of stages[turn.origin]) stage.failed?.(turn, error);
}

/** A turn that no stage adapts, as it is sent on a route. */
export function plainlySent(
  deps: Pick<GatewayDeps, "endUserOf">,
  turn: ChatTurn,
  attempt: RouteAttempt,
): AtOnce<SentTurn> {
  return sentOf(deps, pricedOn(turn, attempt), attempt);
}

/** The turn with the prices of its route. */
function pricedOn(turn: ChatTurn, { route }: Pick<RouteAttempt, "route">): ChatTurn {
  return route.prices === undefined ? turn : { ...turn, model: modelOnRoute(turn.model, route) };
}

function sentOf(deps: Pick<GatewayDeps, "endUserOf">, turn: ChatTurn, attempt: RouteAttempt): AtOnce<SentTurn> {
  const built = buildRequest(deps, turn, attempt);
  return built instanceof Promise ? sentLater(turn, built) : { turn, built };
}

async function sentLater(turn: ChatTurn, built: Promise<SentTurn["built"]>): Promise<SentTurn> {
  return { turn, built: await built };
}

async function adapt(
  steps: ChatTurn[],
  runs: readonly StageRun[],
  { from, target, signal }: { from: number; target: Target; signal: StopSignal },
): Promise<void> {
  for (let at = from; at < runs.length; at++) {
    const turn = steps[at]!;
    if (isLongRequest(turn) && runs[at]!.adapt !== undefined) await longStep(turn.exchange.startedMs);
    const change = await runs[at]!.adapt?.(turn, target, platformSignal(signal));
    steps[at + 1] = change === undefined ? turn : changed(turn, change);
  }
}

/** Whether a stage changed the turn after a failure. The stages below it adapt it again. */
async function mayAskAgain(
  steps: ChatTurn[],
  runs: readonly StageRun[],
  {
    error,
    attempt,
    built,
    signal,
  }: { error: unknown; attempt: RouteAttempt; built: UpstreamRequest<BodyText>; signal: StopSignal },
): Promise<boolean> {
  const { provider, route } = attempt;
  for (const [at, run] of runs.entries()) {
    const change = await run.again?.(steps[at + 1]!, { error, provider, route, built });
    if (change === undefined) continue;
    steps[at] = changed(steps[at]!, change);
    await adapt(steps, runs, { from: at, target: attempt, signal });
    return true;
  }
  return false;
}
