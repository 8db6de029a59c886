// Finds the agent run to which a request belongs. Runs with a limit are stopped at it; of others it is noted what they cost.

import { lazily } from "../../../base/lazily.ts";
import type { CallerRuns } from "../../admission/run-limits.ts";
import type { ChatTurn, Stage, StageRun } from "../../centre/stage.ts";
import type { RunsDeps } from "./deps.ts";
import { runInHeaders } from "./names.ts";

/** Few requests belong to runs, so the code for them is loaded by the first one. */
const code = lazily(() => {
  const { limitedRun, createAnswerNames, createDropNotes }: typeof import("./run.ts") = require("./run.ts");
  return { limitedRun, createAnswerNames, createDropNotes };
});

/** Maximum number of runs without a limit that are remembered. */
const OPEN_MAX = 20_000;

/** A run without a limit, as this node knows it. */
interface OpenRun {
  readonly id: string;
  readonly startedAtMs: number;
  lastAtMs: number;
}

/** Creates the stage. */
export function createRunsStage(deps: RunsDeps): Stage {
  const unlimited = unlimitedRuns(deps);
  const noteDropped = lazily(() => code().createDropNotes(deps));
  const answers = lazily(() => code().createAnswerNames(deps));
  const settle: StageRun["settle"] = ({ turn }) => noteDropped()(turn);
  return {
    name: "runs",
    open(turn) {
      const { caller, connection } = turn;
      const { runs } = caller;
      if (runs === undefined || connection?.isWarmUp === true) return undefined;
      const named = runInHeaders(turn);
      if (runs.isLimited) return { ...code().limitedRun(deps, runs, { named, answers: answers() }), settle };
      return named === undefined ? undefined : { prepare: unlimited(runs, named), settle };
    },
  };
}

/** Notes to which run a request belongs, which costs a query for the first one only. */
function unlimitedRuns(deps: RunsDeps): (terms: CallerRuns, named: string) => NonNullable<StageRun["prepare"]> {
  const openRuns = new Map<string, OpenRun>();
  const begin = async ({ exchange, caller }: ChatTurn, { idleMs, ageMs }: CallerRuns, named: string) => {
    const { accountId, keyId } = caller;
    try {
      const entry = { accountId, keyId, name: named, idleMs, ageMs, requestsMax: 0, isCounted: false };
      const entered = await deps.store.enterRun(entry);
      if (entered === undefined) return;
      const { id, startedAtMs, lastAtMs } = entered.run;
      exchange.runId = id;
      if (openRuns.size >= OPEN_MAX) openRuns.delete(openRuns.keys().next().value as string);
      openRuns.set(`${accountId} ${named}`, { id, startedAtMs, lastAtMs });
    } catch (error) {
      // Nothing depends on it.
      deps.noteFailed(error, exchange.requestId);
    }
  };
  return (terms, named) => (turn) => {
    const { exchange, caller } = turn;
    const nowMs = deps.clock.now();
    const known = openRuns.get(`${caller.accountId} ${named}`);
    const { idleMs, ageMs } = terms;
    if (known === undefined || nowMs - known.lastAtMs >= idleMs || nowMs - known.startedAtMs >= ageMs)
      return begin(turn, terms, named).then(() => undefined);
    known.lastAtMs = nowMs;
    exchange.runId = known.id;
    return undefined;
  };
}
