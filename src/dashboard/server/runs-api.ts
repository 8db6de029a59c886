// An account's own agent runs: list, show one with its calls, let it go on.

import { allowedDetail, allowOwnRun, noRun } from "../../gateway/endpoints/runs/allow.ts";
import { runViews } from "../../gateway/endpoints/runs/view.ts";
import type { RunStore } from "../../store/work/runs.ts";
import type { RunDetails, RunPage, RunRow } from "../contract-runs.ts";
import { type Endpoint, member } from "./endpoint.ts";
import type { KeysApiDeps } from "./keys-api.ts";
import { type LogViewDeps, logRowViews } from "./log-view.ts";

export interface RunsApiDeps extends LogViewDeps, Pick<KeysApiDeps, "note"> {
  readonly runs: Pick<RunStore, "findRun" | "listRuns" | "routesOfRuns" | "allowRun" | "listRunCalls">;
}

const PAGE = 50;

/** The endpoints of agent runs. */
export function runsApi(deps: RunsApiDeps): Endpoint[] {
  const { runs } = deps;
  return [
    member("GET", "/runs", async ({ who, query }): Promise<RunPage> => {
      const before = query.get("before") ?? undefined;
      const rows = await runs.listRuns(who.account.id, { before, limit: PAGE });
      return { data: await runViews(runs, rows), next: rows.length < PAGE ? null : (rows.at(-1)?.id ?? null) };
    }),

    member("GET", "/runs/:id", async ({ who, params }): Promise<RunDetails> => {
      const run = await runs.findRun(who.account.id, params["id"] ?? "");
      if (run === undefined) throw noRun();
      const [[view], rows] = await Promise.all([runViews(runs, [run]), runs.listRunCalls(run.id)]);
      return { run: view as RunRow, calls: await logRowViews(deps, rows, { named: false }) };
    }),

    member("POST", "/runs/:id/allow", async (visit): Promise<RunRow> => {
      const body = await visit.body();
      const run = await allowOwnRun(runs, visit.who.account.id, visit.params["id"] ?? "", body);
      await deps.note("run_allowed", visit, allowedDetail(run, body));
      return run;
    }),
  ];
}
