// What a node may spend of each budget while Redis is gone: its share of what was left when the share was made. A share of what
// is left at the moment would be one request more for every node as long as anything is left.

import type { Budget, Unwritten } from "./reservations.ts";

/** What shares need. */
export interface BudgetSharesOptions {
  readonly unwritten: Unwritten;
  /** The number of live nodes, including this one. */
  liveNodes(): number;
}

/** The shares of this node. */
export interface BudgetShares {
  /** The budget as this node sees it. */
  of(budget: Budget): Budget;
  /** A request ended that was admitted by shares. */
  ended(budgets: readonly Budget[]): void;
  /** Forgets all shares: budgets are shared again. */
  clear(): void;
}

/** What is left is divided anew after this time, when the others have written what they spent. */
const SHARE_MS = 10_000;

interface Share {
  atMs: number;
  /** What was left of the whole budget. */
  leftMicros: number;
  /** What this node had not written at that time. */
  pendingMicros: number;
  /** What it has written since. */
  writtenMicros: number;
  /** What its requests have cost since Redis was lost, up to this share, and how many have ended. */
  earlierMicros: number;
  requests: number;
}

/** Makes the shares of this node. */
export function budgetShares({ unwritten, liveNodes }: BudgetSharesOptions): BudgetShares {
  const shares = new Map<string, Share>();
  unwritten.whenWritten((spent) => {
    for (const { id, costMicros } of spent) {
      const share = shares.get(id);
      if (share !== undefined) share.writtenMicros += costMicros;
    }
  });
  const spentIn = (id: string, { writtenMicros, pendingMicros }: Share) =>
    writtenMicros + unwritten.pendingMicros(id) - pendingMicros;
  const shareOf = (budget: Budget): Share => {
    const nowMs = performance.now();
    const known = shares.get(budget.id);
    if (known !== undefined && nowMs - known.atMs < SHARE_MS) return known;
    const made: Share = {
      atMs: nowMs,
      leftMicros: budget.leftMicros(),
      pendingMicros: unwritten.pendingMicros(budget.id),
      writtenMicros: 0,
      earlierMicros: known === undefined ? 0 : known.earlierMicros + spentIn(budget.id, known),
      requests: known?.requests ?? 0,
    };
    shares.set(budget.id, made);
    return made;
  };
  const leftOf = (budget: Budget): number => {
    const leftMicros = budget.leftMicros();
    const nodes = liveNodes();
    if (nodes <= 1 || leftMicros <= 0) return leftMicros;
    const share = shareOf(budget);
    const spent = spentIn(budget.id, share);
    const rest = Math.max(1, Math.floor(share.leftMicros / nodes)) - spent;
    // A request is admitted if the rest covers half of what one costs: so the nodes together come closest to the limit.
    const costs = share.requests === 0 ? 0 : (share.earlierMicros + spent) / share.requests;
    return rest < costs / 2 ? 0 : Math.min(leftMicros, rest);
  };
  return {
    of: (budget) => ({ ...budget, leftMicros: () => leftOf(budget) }),
    ended(budgets) {
      for (const { id } of budgets) {
        const share = shares.get(id);
        if (share !== undefined) share.requests += 1;
      }
    },
    clear: () => shares.clear(),
  };
}
