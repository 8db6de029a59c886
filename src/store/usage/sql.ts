// The statements that write usage: one row for each request, and its roll-ups. They are prepared once.

import { type Store, step, steps } from "../engine/store.ts";
import { requireStorable, requireWhole } from "../values.ts";
import { addClasses, type ClassSums } from "./parts.ts";
import { AMOUNTS, dayOfHour, isFailure, type UsageDelta, type UsageRecord, type UsageSums } from "./record.ts";
import { rowStatements, type UsageRow, type Write } from "./row-statements.ts";
import { hasStorableNames, TEXT_COLUMNS } from "./storable-names.ts";

/** The columns that every usage roll-up sums. */
export const SUMS = [
  "requests",
  "errors",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "cost_micros",
  "unpriced",
] as const;
/** The upsert that adds a row's sums to those of the existing row. */
const adds = (table: string) => SUMS.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(", ");
const MARKS = SUMS.map(() => "?").join(", ");

/** Usage that is written together. */
export interface UsageBatch {
  /** Generated here. A batch that is retried keeps its id, so that it is written only once. */
  readonly id: string;
  /** Rows with a `uid`, which may also occur in other batches, come last, sorted by it. */
  readonly rows: readonly UsageRow[];
  /** Sums to add to the roll-ups, including those of the rows. */
  readonly sums: readonly UsageDelta[];
}

/** Builds the verb. */
export function writingUsage(store: Store) {
  const accountExists = store.statement("SELECT 1 FROM accounts WHERE id = ?");
  const write = {
    rows: rowStatements(store),
    rollups: rollupStatements(store),
    totals: totalStatements(store),
    spending: spendStatements(store),
    projects: projectStatements(store),
    labels: labelStatements(store),
    classes: classStatements(store),
    runs: runStatements(store),
  };
  return {
    /**
     * Writes a batch completely or not at all. Usage of a deleted account gets no rows and is counted without an account.
     */
    async writeUsage({ id, rows, sums }: UsageBatch): Promise<void> {
      for (const { record, isKeepable } of rows) if (isKeepable !== true) requireKeepable(record);
      for (const { lastAtMs, firstAtMs, costMicros } of sums) [lastAtMs, firstAtMs, costMicros].forEach(requireWhole);
      const named = accountsOf(rows, sums);
      await store.transaction(
        function* () {
          if (!(yield* step(() => store.isFirst(id)))) return;
          const known = new Set<string>();
          for (const accountId of named)
            if ((yield* step(() => accountExists.get([accountId]))) !== null) known.add(accountId);
          const writes: Write[] = [];
          const kept = known.size === named.size ? rows : rows.filter(({ record }) => known.has(record.accountId));
          writes.push(...write.rows(kept), ...write.runs(kept));
          for (const delta of sums) {
            const attributed = known.has(delta.accountId);
            const amounts = amountsOf(delta);
            const whose = attributed ? [delta.accountId, delta.keyId, delta.model] : ["", "", delta.model];
            writes.push(...write.rollups(delta, whose, amounts), ...write.totals(delta, attributed, amounts));
            // A project goes on without a member whose account is gone.
            writes.push(...write.projects(delta));
            if (attributed) writes.push(...write.spending(delta), ...write.labels(delta));
          }
          writes.push(...write.classes(sums));
          yield* steps(writes.sort(inOrder).map(({ run }) => run));
        },
        { sees: "row" },
      );
    },
  };
}

/** The accounts of a batch. */
function accountsOf(rows: readonly UsageRow[], sums: readonly UsageDelta[]): Set<string> {
  const named = new Set<string>();
  let last: string | undefined;
  for (const { record } of rows) {
    // Most rows that follow each other have the same.
    if (record.accountId !== last) named.add(record.accountId);
    last = record.accountId;
  }
  for (const { accountId } of sums) named.add(accountId);
  return named;
}

/** Throws TypeError unless every engine can store the record unchanged. */
function requireKeepable(record: UsageRecord): void {
  for (const name of AMOUNTS) requireWhole(record[name] ?? 0);
  if (hasStorableNames(record)) return;
  for (const name of TEXT_COLUMNS) requireStorable({ [name]: record[name] });
}

function inOrder(a: Write, b: Write): number {
  if (a.table !== b.table) return a.table - b.table;
  if (a.row === b.row) return 0;
  return a.row < b.row ? -1 : 1;
}

function amountsOf(d: UsageSums): number[] {
  return [
    d.requests,
    d.errors,
    d.inputTokens,
    d.outputTokens,
    d.cachedTokens,
    d.cacheWriteTokens,
    d.reasoningTokens,
    d.costMicros,
    d.unpriced,
  ];
}

function rollupStatements({ statement }: Store) {
  const daily = statement(
    `INSERT INTO usage_daily (day, account_id, key_id, model, ${SUMS.join(", ")}) VALUES (?, ?, ?, ?, ${MARKS})
     ON CONFLICT (day, account_id, key_id, model) DO UPDATE SET ${adds("usage_daily")}`,
  );
  const hourly = statement(
    `INSERT INTO usage_hourly (hour, account_id, key_id, model, ${SUMS.join(", ")}) VALUES (?, ?, ?, ?, ${MARKS})
     ON CONFLICT (hour, account_id, key_id, model) DO UPDATE SET ${adds("usage_hourly")}`,
  );
  const latency = statement(
    `INSERT INTO usage_latency (unit, start, account_id, key_id, model, status_class, bucket, requests, first_bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (unit, start, account_id, key_id, model, status_class, bucket)
     DO UPDATE SET requests = usage_latency.requests + excluded.requests,
       first_bytes = usage_latency.first_bytes + excluded.first_bytes`,
  );
  return (d: UsageDelta, whose: readonly string[], sums: readonly number[]): Write[] => {
    const day = dayOfHour(d.hour);
    const group = whose.join("\n");
    const buckets = [...d.latency.values()].flatMap(({ statusClass, bucket, requests, firstBytes }) =>
      [["hour", d.hour] as const, ["day", day] as const].map(([unit, start]) => ({
        table: 3,
        row: `${unit} ${start}\n${group}\n${statusClass} ${bucket}`,
        run: () => latency.run([unit, start, ...whose, statusClass, bucket, requests, firstBytes]),
      })),
    );
    return [
      { table: 1, row: `${day}\n${group}`, run: () => daily.run([day, ...whose, ...sums]) },
      { table: 2, row: `${d.hour}\n${group}`, run: () => hourly.run([d.hour, ...whose, ...sums]) },
      ...buckets,
    ];
  };
}

function totalStatements({ statement }: Store) {
  const model = statement(
    `INSERT INTO usage_models (model, first_at, last_at, ${SUMS.join(", ")}) VALUES (?, ?, ?, ${MARKS})
     ON CONFLICT (model) DO UPDATE SET ${adds("usage_models")},
       first_at = CASE WHEN excluded.first_at < usage_models.first_at THEN excluded.first_at ELSE usage_models.first_at END,
       last_at = CASE WHEN excluded.last_at > usage_models.last_at THEN excluded.last_at ELSE usage_models.last_at END`,
  );
  const account = statement(
    `INSERT INTO usage_accounts (account_id, ${SUMS.join(", ")}) VALUES (?, ${MARKS}) ON CONFLICT (account_id) DO UPDATE SET ${adds("usage_accounts")}`,
  );
  return (d: UsageDelta, attributed: boolean, sums: readonly number[]): Write[] => {
    const writes: Write[] = [];
    // Public statistics are about models, so web tools and requests without a model are left out.
    if (d.model !== "")
      writes.push({ table: 4, row: d.model, run: () => model.run([d.model, d.firstAtMs, d.lastAtMs, ...sums]) });
    if (attributed) writes.push({ table: 5, row: d.accountId, run: () => account.run([d.accountId, ...sums]) });
    return writes;
  };
}

/**
 * Sets what is spent of a budget. Windows have a fixed length and are counted from the time when the budget was set. The first request
 * after the end of a window begins the window that contains the request. `SET` reads the old values of every column. The cast makes
 * the division an integer division, since a number of JavaScript is bound as a double.
 */
const spends = (start: string, period: string) =>
  `spent_micros = CASE WHEN $at >= ${start} + ${period} THEN $cost ELSE spent_micros + $cost END,
   ${start} = CASE WHEN $at >= ${start} + ${period}
     THEN ${start} + (CAST($at AS BIGINT) - ${start}) / ${period} * ${period}
     ELSE ${start} END`;

function spendStatements({ statement }: Store) {
  const key = statement(
    `UPDATE api_keys SET
       last_used_at = CASE WHEN last_used_at > $at THEN last_used_at ELSE $at END,
       ${spends("budget_window_start", "budget_period_ms")}
     WHERE id = $id`,
  );
  const accountBudget = statement(
    `UPDATE account_budgets SET ${spends("window_start", "period_ms")} WHERE account_id = $id`,
  );
  return ({ keyId, accountId, lastAtMs: at, costMicros: cost }: UsageDelta): Write[] => {
    const writes: Write[] = [{ table: 6, row: keyId, run: () => key.run({ id: keyId, at, cost }) }];
    if (cost > 0) writes.push({ table: 7, row: accountId, run: () => accountBudget.run({ id: accountId, at, cost }) });
    return writes;
  };
}

function projectStatements({ statement }: Store) {
  const project = statement(`UPDATE projects SET ${spends("budget_window_start", "budget_period_ms")} WHERE id = $id`);
  return ({ labels }: UsageDelta): Write[] => {
    if (labels === undefined) return [];
    return [...labels.values()]
      .filter(({ label, costMicros }) => label.kind === "project" && costMicros > 0)
      .map(({ label: { name: id }, lastAtMs: at, costMicros: cost }) => ({
        ...{ table: 10, row: id },
        run: () => project.run({ id, at, cost }),
      }));
  };
}

function labelStatements({ statement }: Store) {
  const label = statement(
    `INSERT INTO usage_labels (unit, start, kind, name, account_id, key_id, model, ${SUMS.join(", ")})
     VALUES (?, ?, ?, ?, ?, ?, ?, ${MARKS})
     ON CONFLICT (unit, start, kind, name, account_id, key_id, model) DO UPDATE SET ${adds("usage_labels")}`,
  );
  return ({ labels, hour, accountId, keyId, model }: UsageDelta): Write[] => {
    if (labels === undefined) return [];
    const slots = [["hour", hour] as const, ["day", dayOfHour(hour)] as const];
    return [...labels.values()].flatMap((sums) =>
      slots.map(([unit, start]) => {
        const place = [unit, start, sums.label.kind, sums.label.name, accountId, keyId, model];
        return { table: 8, row: place.join("\n"), run: () => label.run([...place, ...amountsOf(sums)]) };
      }),
    );
  };
}

function classStatements({ statement }: Store) {
  const addClass = statement(
    `INSERT INTO usage_classes (day, provider, model, service, class, amount, unpriced, cost_micros)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (day, provider, model, service, class) DO UPDATE SET
       amount = usage_classes.amount + excluded.amount, unpriced = usage_classes.unpriced + excluded.unpriced,
       cost_micros = usage_classes.cost_micros + excluded.cost_micros`,
  );
  return (deltas: readonly UsageDelta[]): Write[] => {
    const days = new Map<number, Map<string, ClassSums>>();
    for (const { hour, classes } of deltas) {
      if (classes === undefined) continue;
      const day = dayOfHour(hour);
      const ofDay = days.get(day) ?? new Map<string, ClassSums>();
      days.set(day, ofDay);
      addClasses(ofDay, classes.values());
    }
    return [...days].flatMap(([day, classes]) =>
      [...classes.values()].map((sums) => {
        const place = [day, sums.provider, sums.model, sums.service, sums.class];
        const amounts = [sums.amount, sums.unpriced, sums.costMicros];
        return { table: 9, row: place.join("\n"), run: () => addClass.run([...place, ...amounts]) };
      }),
    );
  };
}

/** What the rows of one agent run add to it. */
interface RunSums {
  requests: number;
  input: number;
  output: number;
  cached: number;
  cost: number;
  at: number;
}

function runStatements({ statement }: Store) {
  const add = statement(
    `UPDATE agent_runs SET requests = requests + $requests, input_tokens = input_tokens + $input,
       output_tokens = output_tokens + $output, cached_tokens = cached_tokens + $cached, cost_micros = cost_micros + $cost,
       last_at = CASE WHEN last_at > $at THEN last_at ELSE $at END
     WHERE id = $id`,
  );
  /** Adds up the rows of each run. */
  return (rows: readonly UsageRow[]): Write[] => {
    const runs = new Map<string, RunSums>();
    for (const { record, uid, repeats } of rows) {
      const { runId } = record;
      // Requests that share a row may belong to any run.
      if (runId === undefined || uid !== null) continue;
      const sums = runs.get(runId) ?? { requests: 0, input: 0, output: 0, cached: 0, cost: 0, at: 0 };
      runs.set(runId, sums);
      // What was refused was no step of the run.
      sums.requests += isFailure(record) && record.provider === "" ? 0 : repeats;
      sums.input += record.inputTokens;
      sums.output += record.outputTokens;
      sums.cached += record.cachedTokens;
      sums.cost += record.costMicros;
      sums.at = Math.max(sums.at, record.createdAtMs);
    }
    return [...runs].map(([id, sums]) => ({ table: 10, row: id, run: () => add.run({ id, ...sums }) }));
  };
}
