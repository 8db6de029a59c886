// Shared by the commands that use the data directory: opens the database, parses times and prints rows.

import { systemClock } from "../base/clock.ts";
import { EXAMPLE } from "../config/presets.ts";
import type { Config } from "../config/schema.ts";
import { openDatabase } from "../store/engine/database.ts";
import type { Store } from "../store/engine/store.ts";
import type { Context } from "./command.ts";
import { CommandError, UsageError } from "./failure.ts";
import type { Flags } from "./flags.ts";
import { rowsText, type TableRow } from "./rows.ts";

/** A server writes in short batches; a command can wait for several of them. */
const BUSY_TIMEOUT_MS = 10_000;

/** The hint for a gateway without providers. */
export const ONLY_DEMO = `only the demo model answers: set ${EXAMPLE.variable} or another provider's variable, or add providers to the configuration`;

/** Runs `work` on the configured database and closes it. `create`: creates the database if there is none. */
export async function withStore<T>(
  context: Context,
  options: { readonly create: boolean },
  work: (store: Store, config: Config) => Promise<T>,
): Promise<T> {
  const config = context.config();
  const store = await openDatabase(config, { busyTimeoutMs: BUSY_TIMEOUT_MS, create: options.create });
  try {
    return await work(store, config);
  } finally {
    await store.close();
  }
}

/** An error with one line. */
export function failure(message: string): CommandError {
  return new CommandError(`sallyport: ${message}`);
}

/** The flag as milliseconds since the epoch; a date alone means its start in UTC. */
export function timeFlag(flags: Flags, name: string): number | undefined {
  const text = flags.text(name);
  if (text === undefined) return undefined;
  // Date.parse alone accepts much that is not ISO 8601.
  const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i.test(text);
  const timeMs = iso ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs)) throw new UsageError(`--${name}: expected an ISO 8601 time, got "${text}"`);
  return timeMs;
}

/** The current time, for rows that a command stores. */
export function nowMs(): number {
  return systemClock.now();
}

/** Prints one record: JSON with `--json`, else a line per field with a value. */
export function printRecord(context: Context, record: Readonly<Record<string, unknown>>): void {
  if (context.flags.has("json")) {
    context.out(`${JSON.stringify(record)}\n`);
    return;
  }
  const fields = Object.entries(record).filter(([, value]) => value !== null);
  const width = Math.max(...fields.map(([name]) => name.length));
  for (const [name, value] of fields) context.out(`${name.padEnd(width)}  ${value}\n`);
}

/**
 * Prints rows: a JSON array with `--json`, else a table for a person, with the values of `forPeople` if given. If there are no rows,
 * `none` goes to stderr, so that stdout only has data.
 */
export function printRows<R extends TableRow>(
  context: Context,
  rows: readonly R[],
  options: { readonly none: string; forPeople?(row: R): TableRow },
): void {
  if (context.flags.has("json")) context.out(`${JSON.stringify(rows)}\n`);
  else if (rows.length === 0) context.err(`${options.none}\n`);
  else context.out(rowsText(options.forPeople === undefined ? rows : rows.map(options.forPeople), context.outColumns));
}

/** A future time; a UsageError if it has passed. */
export function futureFlag(flags: Flags, name: string): number | undefined {
  const timeMs = timeFlag(flags, name);
  if (timeMs !== undefined && timeMs <= nowMs()) {
    throw new UsageError(`--${name}: expected a time in the future, got "${flags.text(name)}"`);
  }
  return timeMs;
}
