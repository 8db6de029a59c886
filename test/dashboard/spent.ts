// Usage of earlier days, written directly to the store.

import { type UsageRecord, UsageTally } from "../../src/store/usage/record.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import type { AccountsApp } from "../accounts/support.ts";
import { usageRecord } from "../store/records.ts";

const DAY_MS = 86_400_000;

/** Stores a request of this many days ago. */
export async function spend(app: AccountsApp, daysAgo: number, more: Partial<UsageRecord>): Promise<void> {
  const record = usageRecord({ createdAtMs: app.clock.now() - daysAgo * DAY_MS, ...more });
  const tally = new UsageTally();
  tally.add(record);
  await usageStore(app.store).writeUsage({
    id: crypto.randomUUID(),
    rows: [{ record, uid: crypto.randomUUID(), repeats: 1 }],
    sums: [...tally.values()],
  });
}
