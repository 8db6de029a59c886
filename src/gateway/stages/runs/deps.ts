// What the stage of agent runs needs.

import type { RunStop, RunStore } from "../../../store/work/runs.ts";
import type { RunSpending } from "./spending.ts";

/** A run that was stopped. */
export interface StoppedRun extends RunStop {
  readonly id: string;
  readonly accountId: string;
}

export interface RunsDeps {
  readonly store: Pick<RunStore, "enterRun" | "noteRunStop" | "noteRunDropped">;
  readonly spending: RunSpending;
  /** The name of the run in which an answer was given; undefined if it is not known. */
  nameOfAnswer(accountId: string, answerId: string): Promise<string | undefined>;
  readonly clock: { now(): number };
  /** The address of the page on which a run is allowed to go on. */
  pageOf(id: string): string;
  /** Called when a request was refused. */
  stopped(run: StoppedRun): void;
  /** Called when something of a run could not be noted. */
  noteFailed(error: unknown, requestId: string): void;
}
