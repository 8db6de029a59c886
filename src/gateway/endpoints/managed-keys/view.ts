// How keys are shown to those who manage them.

import { isoTime } from "../../../base/iso-time.ts";
import { isTierId } from "../../../catalog/tiers.ts";
import { type RunLimitsView, runLimitsView } from "../../../http/run-limits.ts";
import type { KeyInfo } from "../../../store/access/key-rows.ts";
import { dayStarts, type KeySpending, type OwnKeyView, ownKeyView } from "../own-key/key-view.ts";
import type { ManagedKeysDeps } from "./deps.ts";

/** A key: what `GET /v1/key` says of it, and what its manager needs. */
export interface ManagedKeyView extends OwnKeyView {
  readonly object: "key";
  /** The beginning and the end of its secret. */
  readonly label: string;
  readonly account: string;
  readonly project: string | null;
  readonly budget_period: string | null;
  /** Its own limits of agent runs, beside those of the plan and the project. */
  readonly runs: RunLimitsView;
  readonly addresses: readonly string[] | null;
  readonly disabled: boolean;
  readonly passthrough: boolean;
  readonly no_store: boolean;
  readonly management: string | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  /** Until this time the secret before the last rotation works too. */
  readonly old_secret_until: string | null;
}

/** A key with what it has spent. */
export interface KnownKey {
  readonly row: KeyInfo;
  readonly view: ManagedKeyView;
  readonly spending: KeySpending;
}

/** Looks up what these keys have spent, and describes them. */
export async function describeKeys(deps: ManagedKeysDeps, rows: readonly KeyInfo[]): Promise<KnownKey[]> {
  const { keys, writer, clock, grants } = deps;
  const nowMs = clock.now();
  const spent = await writer.readBetweenWrites(async () => {
    const sums = await keys.spendingOfKeys(
      rows.map(({ id }) => id),
      dayStarts(nowMs),
    );
    const byId = new Map(sums.map((sum) => [sum.keyId, sum]));
    return new Map(
      rows.map(({ id }) => {
        const pending = writer.pendingCostMicros(id);
        const { allMicros = 0, sinceMicros = [] } = byId.get(id) ?? {};
        const [dayMicros = 0, weekMicros = 0, monthMicros = 0] = sinceMicros;
        return [
          id,
          {
            allMicros: allMicros + pending,
            dayMicros: dayMicros + pending,
            weekMicros: weekMicros + pending,
            monthMicros: monthMicros + pending,
          },
        ];
      }),
    );
  });
  const tiers = new Map<string, Awaited<ReturnType<typeof tierOf>>>();
  const out: KnownKey[] = [];
  for (const row of rows) {
    const tier = tiers.get(row.accountId) ?? (await tierOf(deps, row.accountId));
    tiers.set(row.accountId, tier);
    const spending = spent.get(row.id) ?? { allMicros: 0, dayMicros: 0, weekMicros: 0, monthMicros: 0 };
    const grant = grants()[tier];
    const own = ownKeyView({ ...row, account: { tier }, budgets: undefined, limits: undefined }, row, {
      ...{ clock, planRpm: grant.rpm, spending },
    });
    const limits = { tpm: row.tpm ?? grant.tpm ?? null, parallel: row.parallel ?? grant.parallel ?? null };
    out.push({ row, spending, view: viewOf(row, { ...own, ...limits }, nowMs) });
  }
  return out;
}

async function tierOf({ accounts }: ManagedKeysDeps, accountId: string) {
  const tier = (await accounts.findAccount(accountId))?.tier;
  return isTierId(tier) ? tier : "free";
}

function viewOf(row: KeyInfo, own: OwnKeyView, nowMs: number): ManagedKeyView {
  return {
    object: "key",
    ...own,
    label: `${row.prefix}…${row.lastFour}`,
    account: row.accountId,
    project: row.projectId,
    budget_period: row.budgetPeriodMs === null ? null : durationText(row.budgetPeriodMs),
    runs: runLimitsView(row),
    addresses: row.addresses,
    disabled: row.disabled,
    passthrough: row.passthrough,
    no_store: row.noStore,
    management: row.management,
    created_at: isoTime(row.createdAtMs),
    last_used_at: isoTime(row.lastUsedAtMs),
    old_secret_until: row.previousUntilMs !== null && row.previousUntilMs > nowMs ? isoTime(row.previousUntilMs) : null,
  };
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** The duration in its largest whole unit, as it is written in requests. */
function durationText(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms % size === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}
