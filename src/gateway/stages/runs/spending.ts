// What agent runs with a limit have cost: read once, and kept current with every write of usage, so that a request needs no query.

import type { Spending } from "../../../store/usage/spending.ts";
import type { AgentRun, RunStore } from "../../../store/work/runs.ts";

/** How the cost of runs is found. */
export interface RunSpendingDeps {
  readonly runs: Pick<RunStore, "findRun">;
  /** The cost of a run that is not yet written to the database. */
  pendingMicros(id: string): number;
  /** Calls `listener` with the amounts at the moment at which they are no longer pending. */
  whenWritten(listener: (spent: readonly Spending[]) => void): void;
  /** Runs `read` at a time when no spending is being written. */
  readBetweenWrites<T>(read: () => Promise<T>): Promise<T>;
}

/** The cost of runs. */
export interface RunSpending {
  /** Makes the cost of a run known. */
  know(run: Pick<AgentRun, "id" | "accountId">): Promise<void>;
  /** Reads it again, for what other nodes have spent. */
  refresh(run: Pick<AgentRun, "id" | "accountId">): Promise<void>;
  /** The cost of a run that is known, in micro-dollars. */
  micros(id: string): number;
}

/** Maximum number of runs whose cost is remembered. */
const RUNS_MAX = 20_000;

/** Creates it. */
export function createRunSpending({
  runs,
  pendingMicros,
  whenWritten,
  readBetweenWrites,
}: RunSpendingDeps): RunSpending {
  const costs = new Map<string, number>();
  whenWritten((spent) => {
    for (const { id, costMicros } of spent) {
      const cost = costs.get(id);
      if (cost !== undefined) costs.set(id, cost + costMicros);
    }
  });
  const refresh = ({ id, accountId }: Pick<AgentRun, "id" | "accountId">) =>
    readBetweenWrites(async () => {
      const run = await runs.findRun(accountId, id);
      costs.delete(id);
      if (costs.size >= RUNS_MAX) costs.delete(costs.keys().next().value as string);
      costs.set(id, run?.costMicros ?? 0);
    });
  return {
    know: async (run) => (costs.has(run.id) ? undefined : refresh(run)),
    refresh,
    micros: (id) => (costs.get(id) ?? 0) + pendingMicros(id),
  };
}
