// Budgets as people read them.

import type { BudgetView } from "../../contract.ts";
import { usd, When } from "./time.tsx";

/** What an account may spend and has spent. */
export function BudgetText({ of: { usd: limit, spent_usd, period_days, resets_at, own } }: { of: BudgetView }) {
  return (
    <>
      {usd(spent_usd)} of {usd(limit)}
      {periodText(period_days)}, all keys together{own ? " (set by the operator)" : ""}
      {resets_at !== null && (
        <>
          , renews <When iso={resets_at} />
        </>
      )}
    </>
  );
}

/** How often a budget starts again, after its amount; nothing for one that never does. */
export function periodText(days: number | null): string {
  if (days === null) return "";
  return days === 1 ? " per day" : ` per ${days} days`;
}
