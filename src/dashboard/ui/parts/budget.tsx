// Shows budgets: a bar of what is spent, the amounts, and when they renew.

import type { BudgetView, KeyView } from "../../contract.ts";
import { usd, When } from "./time.tsx";

/** An account's budget and how much of it is spent. */
export function BudgetText({ of: { usd: limit, spent_usd, period_days, resets_at, own } }: { of: BudgetView }) {
  return (
    <Spent
      {...{ limit, spent: spent_usd, resets_at }}
      period={`${periodText(period_days)}, all keys together${own ? " (set by the operator)" : ""}`}
    />
  );
}

/** A key's budget and how much of it is spent; nothing for a key without one. */
export function KeyBudget({ of: key }: { of: KeyView }) {
  const { budget_usd: limit, spent_usd: spent, budget_period_days: days, budget_resets_at: resets_at } = key;
  if (limit === null) return null;
  return <Spent {...{ limit, spent: spent ?? 0, resets_at }} period={periodText(days)} />;
}

/** What is spent of a budget, with a bar. */
export function Spent(props: { limit: number; spent: number; period: string; resets_at: string | null }) {
  const { limit, spent, period, resets_at } = props;
  return (
    <span class="budget">
      <Bar share={limit > 0 ? Math.min(1, spent / limit) : 1} />
      <span>
        {usd(spent)} of {usd(limit)}
        {period}
        {resets_at !== null && (
          <>
            , renews <When iso={resets_at} />
          </>
        )}
      </span>
    </span>
  );
}

/** From this share on, a budget is shown as nearly spent. */
const NEARLY = 0.8;
const BAR = { width: 96, height: 8 };

/** Screen readers have the amounts beside it. */
function Bar({ share }: { share: number }) {
  const kind = share >= 1 ? "spent" : share >= NEARLY ? "nearly" : "open";
  return (
    <svg {...BAR} aria-hidden="true" class={kind}>
      <rect {...BAR} rx={4} />
      <rect class="filled" width={share === 0 ? 0 : Math.max(3, share * BAR.width)} height={BAR.height} rx={4} />
    </svg>
  );
}

/** The period of a budget, as shown after its amount; empty for a budget that never renews. */
function periodText(days: number | null): string {
  if (days === null) return "";
  return days === 1 ? " per day" : ` per ${days} days`;
}
