// Lets an agent run go on beyond a limit.

import { ApiError } from "../../../base/errors.ts";
import type { RunStore } from "../../../store/work/runs.ts";
import { type RunView, runViews } from "./view.ts";

/** The verbs of runs that their endpoints use. */
export type OwnedRuns = Pick<RunStore, "findRun" | "listRuns" | "routesOfRuns" | "allowRun">;

const MICROS_PER_USD = 1_000_000;
const MOST = 1_000_000_000;

/** Lets an account's run go on by the amounts in a body; without any, by as much as the limit. Throws 400 and 404. */
export async function allowOwnRun(
  runs: OwnedRuns,
  accountId: string,
  id: string,
  body: Readonly<Record<string, unknown>>,
): Promise<RunView> {
  const usd = amount(body, "usd", 1 / MICROS_PER_USD);
  const requests = amount(body, "requests", 1);
  if (requests !== undefined && !Number.isInteger(requests)) throw expected("requests", "a whole number");
  const micros = usd === undefined ? undefined : Math.round(usd * MICROS_PER_USD);
  const run = await runs.allowRun(accountId, id, { micros, requests });
  if (run === undefined) throw noRun();
  return (await runViews(runs, [run]))[0] as RunView;
}

/** What the audit log says of a run that was let go on: by which amounts, or by as much as its limit. */
export function allowedDetail({ id, name }: RunView, { usd, requests }: Readonly<Record<string, unknown>>) {
  return { run: id, name, usd: usd ?? undefined, requests: requests ?? undefined };
}

/** The error for a run that the caller does not have. */
export function noRun(): ApiError {
  return new ApiError("run_not_found", "You have no agent run of this id. It may have been deleted with its usage.");
}

function amount(body: Readonly<Record<string, unknown>>, name: string, least: number): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && value >= least && value <= MOST) return value;
  throw expected(name, "a number");
}

function expected(name: string, what: string): ApiError {
  return new ApiError("invalid_request", `${name}: expected ${what} above 0 and up to ${MOST}.`, { param: name });
}
