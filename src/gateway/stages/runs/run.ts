// A request of an agent run: it is counted, its tool calls are looked through for a loop, and it is refused beyond a limit.

import { ApiError } from "../../../base/errors.ts";
import type { Budget } from "../../../shared-state/reservations.ts";
import type { AgentRun, RunStop } from "../../../store/work/runs.ts";
import type { CallerRuns } from "../../admission/run-limits.ts";
import { beforeShortening, type Change, type ChatTurn, type StageRun } from "../../centre/stage.ts";
import type { RunsDeps } from "./deps.ts";
import { conversationOf } from "./names.ts";
import { repeatsOf } from "./repeats.ts";

const MICROS_PER_USD = 1_000_000;

/** The work for a request whose run has a limit. `named`: the run that its headers name. */
export function limitedRun(
  deps: RunsDeps,
  terms: CallerRuns,
  { named, answers }: { named: string | undefined; answers: AnswerNames },
): Omit<StageRun, "settle"> {
  let run: AgentRun | undefined;
  let looked: ChatTurn["chat"]["messages"] | undefined;
  const enter = async (turn: ChatTurn, isCounted: boolean) => {
    const { accountId, keyId } = turn.caller;
    const { idleMs, ageMs, requests: requestsMax } = terms;
    const name = named ?? (await answers.continued(turn)) ?? conversationOf(turn);
    if (named === undefined && turn.format.storesAnswers === true) answers.note(turn, name);
    return deps.store.enterRun({ accountId, keyId, name, idleMs, ageMs, requestsMax, isCounted });
  };
  const refuseRepeats = async (turn: ChatTurn) => {
    const { messages } = beforeShortening(turn).chat;
    if (looked === messages || terms.repeats === 0) return;
    looked = messages;
    if (repeatsOf(messages, terms.repeats) < terms.repeats) return;
    run ??= (await enter(turn, false))?.run;
    if (run === undefined) return;
    const most = terms.repeats + run.allowedRepeats;
    const spent = repeatsOf(messages, most);
    if (spent >= most) throw await refusal(deps, turn, run, { limit: "repeats", most: terms.repeats, spent });
  };
  return {
    async prepare(turn): Promise<Change | undefined> {
      await refuseRepeats(turn);
      // A request that is asked of several models is one.
      const entered = await enter(turn, turn.exchange.runId === undefined);
      if (entered === undefined) return undefined;
      ({ run } = entered);
      const { id, admitted: spent } = run;
      const wasIn = turn.exchange.runId === id;
      turn.exchange.runId = id;
      if (!entered.isAdmitted && !wasIn) {
        throw await refusal(deps, turn, run, { limit: "requests", most: terms.requests, spent });
      }
      if (terms.micros === 0) return undefined;
      await deps.spending.know(run);
      return { why: "runs", runBudget: budgetOf(deps, turn, run, terms.micros) };
    },
    async adapt(turn) {
      // The history that was inserted since.
      await refuseRepeats(turn);
      return undefined;
    },
  };
}

/** Maximum number of answers whose run is remembered. */
const ANSWERS_MAX = 10_000;

/** The names of the runs in which stored answers were given, since a client continues from one without any other name. */
export interface AnswerNames {
  /** The name of the run that a request continues; undefined if it continues none that is known. */
  continued(turn: ChatTurn): Promise<string | undefined>;
  note(turn: ChatTurn, name: string): void;
}

/** Creates the memory of this node; other nodes find a run by the usage row of the answer. */
export function createAnswerNames({ nameOfAnswer }: Pick<RunsDeps, "nameOfAnswer">): AnswerNames {
  const names = new Map<string, string>();
  const placeOf = ({ caller }: ChatTurn, id: string) => `${caller.accountId} ${id}`;
  return {
    async continued(turn) {
      const id = turn.body["previous_response_id"];
      if (typeof id !== "string" || id === "") return undefined;
      return names.get(placeOf(turn, id)) ?? (await nameOfAnswer(turn.caller.accountId, id.slice(0, ID_CHARS)));
    },
    note(turn, name) {
      if (names.size >= ANSWERS_MAX) names.delete(names.keys().next().value as string);
      names.set(placeOf(turn, turn.id), name);
    },
  };
}

/** No answer has a longer id. */
const ID_CHARS = 200;

function budgetOf(deps: RunsDeps, turn: ChatTurn, run: AgentRun, micros: number): Budget {
  const { id } = run;
  const { spending } = deps;
  return {
    id,
    of: "run",
    leftMicros: () => micros + run.allowedMicros - spending.micros(id),
    refresh: () => spending.refresh(run),
    refused() {
      const stop: RunStop = { limit: "usd", most: micros, spent: spending.micros(id) };
      const error = refusal(deps, turn, run, stop);
      error.catch((problem: unknown) => deps.noteFailed(problem, turn.exchange.requestId));
      return errorOf(deps, run, stop);
    },
  };
}

/** Notes that a run was stopped, and returns the error for its client. */
async function refusal(deps: RunsDeps, turn: ChatTurn, run: AgentRun, stop: RunStop): Promise<ApiError> {
  const { id, accountId } = run;
  turn.exchange.runId = id;
  await deps.store.noteRunStop(id, stop);
  deps.stopped({ ...stop, most: stop.most + allowedOf(run, stop.limit), id, accountId });
  return errorOf(deps, run, stop);
}

function errorOf(deps: RunsDeps, run: AgentRun, { limit, most, spent }: RunStop): ApiError {
  const page = deps.pageOf(run.id);
  const reached = {
    usd: `has cost $${usd(spent)}, and its limit is $${usd(most + run.allowedMicros)}`,
    requests: `has made ${spent} requests, which is its limit`,
    repeats: `has made the same tool calls ${spent} times in a row, and seems to go round in circles`,
  };
  const message = `This agent run is paused: it ${reached[limit]}. Let it go on at ${page}, then send the request again.`;
  return new ApiError("run_limit_reached", message, {
    details: { run: run.id, limit, spent: limit === "usd" ? spent / MICROS_PER_USD : spent },
  });
}

/** Dollars with at least two digits behind the point. */
function usd(micros: number): string {
  return (micros / MICROS_PER_USD).toFixed(6).replace(/(\.\d\d\d*?)0+$/, "$1");
}

/** Maximum number of runs of which it is remembered what was noted as dropped. */
const NOTED_MAX = 5000;

/** Creates the function that notes what was dropped from the request of a turn; each name is written once for a run. */
export function createDropNotes({ store, noteFailed }: RunsDeps): (turn: ChatTurn) => void {
  const noted = new Map<string, ReadonlySet<string>>();
  return ({ exchange }) => {
    const { runId, headers, log, requestId } = exchange;
    if (runId === undefined) return;
    const removed = log["reasoning_removed"];
    const reasoning = typeof removed === "number" ? removed : 0;
    const before = noted.get(runId);
    const names = headers["x-sallyport-dropped"]?.split(", ").filter((name) => before?.has(name) !== true) ?? [];
    if (reasoning === 0 && names.length === 0) return;
    if (before === undefined && noted.size >= NOTED_MAX) noted.delete(noted.keys().next().value as string);
    noted.set(runId, new Set([...(before ?? []), ...names]));
    store.noteRunDropped(runId, { reasoning, names }).catch((error: unknown) => noteFailed(error, requestId));
  };
}

/** What the owner allowed beyond a limit. */
function allowedOf({ allowedMicros, allowedRequests, allowedRepeats }: AgentRun, limit: RunStop["limit"]): number {
  return { usd: allowedMicros, requests: allowedRequests, repeats: allowedRepeats }[limit];
}
