// Shows budgets as text.

import type { BudgetView } from "../../contract.ts";
import { usd, When } from "./time.tsx";

/** An account's budget and how much of it is spent. */
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

/** The period of a budget, as shown after its amount; empty for a budget that never renews. */
export function periodText(days: number | null): string {
  if (days === null) return "";
  return days === 1 ? " per day" : ` per ${days} days`;
}
