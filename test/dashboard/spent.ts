// Requests of other days, as if they had been made.
import type { UsageRecord } from "../../src/store/usage/record.ts";
import { UsageTally } from "../../src/store/usage/record.ts";
import { usageStatements } from "../../src/store/usage/sql.ts";
import type { AccountsApp } from "../accounts/support.ts";
import { usageRecord } from "../store/records.ts";

const DAY_MS = 86_400_000;

/** Writes one request so many days ago. */
export function spend(app: AccountsApp, daysAgo: number, more: Partial<UsageRecord>): void {
  const record = usageRecord({ createdAtMs: app.clock.now() - daysAgo * DAY_MS, ...more });
  const tally = new UsageTally();
  tally.add(record);
  const statements = usageStatements(app.store);
  app.store.transaction(() => {
    statements.insertRow({ record, uid: crypto.randomUUID(), repeats: 1 });
    for (const delta of tally.values()) statements.addSums(delta, true);
  });
}
