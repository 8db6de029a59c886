// `sallyport logs`: shows the request log in a terminal. It is read from the database, also while a server runs, and
// does not contain the content of requests.

import { systemClock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import type { LogRowView } from "../dashboard/contract-log.ts";
import { logFilterOf } from "../dashboard/server/log-query.ts";
import { logRowViews } from "../dashboard/server/log-view.ts";
import { accountStore } from "../store/access/accounts.ts";
import type { Store } from "../store/engine/store.ts";
import type { LogFilter, LogRow } from "../store/usage/log.ts";
import { LogFollower } from "../store/usage/log-follower.ts";
import { type UsageStore, usageStore } from "../store/usage/usage.ts";
import type { Command, Context } from "./command.ts";
import { UsageError } from "./failure.ts";
import { failure, withStore } from "./workspace.ts";

const ROWS = 50;
const ROWS_MAX = 1000;
const POLL_MS = 500;

/** The command. */
export const logsCommand: Command = {
  summary: "show the request log",
  examples: ["sallyport logs --status failed --span 24h", "sallyport logs --follow"],
  usage:
    "[--follow] [--id X] [--account EMAIL] [--key ID] [--model M] [--status S] [--error CODE] [--span 24h] [--limit N]",
  options: [
    { name: "follow", summary: "also print new requests, until Ctrl-C" },
    { name: "id", value: "X", summary: "requests with this id (header X-Request-ID)" },
    { name: "account", value: "EMAIL", summary: "requests of one account" },
    { name: "key", value: "ID", summary: "requests with one key" },
    { name: "model", value: "M", summary: "requests for one model; - for requests without a model" },
    { name: "status", value: "S", summary: "ok, failed, 4xx, 5xx or stopped" },
    { name: "error", value: "CODE", summary: "requests that ended with this error code" },
    { name: "span", value: "TIME", summary: "1h, 24h, 7d, 30d or 90d (default: everything that is kept)" },
    { name: "limit", value: "N", summary: `maximum number of requests, the latest ones (default ${ROWS})` },
  ],
  details: `With --json one list of objects is printed; with --json --follow one object a line. What requests and answers say is not kept:
see \`sallyport key debug\`.
`,
  async run(context) {
    const limit = context.flags.integer("limit", 1) ?? ROWS;
    if (limit > ROWS_MAX) throw new UsageError(`--limit: expected at most ${ROWS_MAX}`);
    const given = filterOf(context);
    return await withStore(context, { create: false }, async (store) => {
      const filter = { ...given, accountId: await accountIdOf(context, store) };
      const usage = usageStore(store);
      const last = await usage.lastLogId();
      const rows = (await latest(usage, filter, limit)).toReversed();
      const follow = context.flags.has("follow");
      await print(context, usage, rows, { whole: !follow });
      if (rows.length === 0 && !follow) context.err("No request matches.\n");
      if (follow) await followOn(context, usage, filter, Math.max(last, rows.at(-1)?.id ?? 0));
      return 0;
    });
  },
};

function filterOf({ flags }: Context): LogFilter {
  const query = new URLSearchParams();
  for (const [flag, name] of [["id", "request"], ...SAME_NAMES.map((one) => [one, one])] as const) {
    const text = flags.text(flag);
    if (text !== undefined) query.set(name, text);
  }
  try {
    return logFilterOf(query, systemClock);
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(`--${error.message.replace(/^request:/, "id:")}`);
    throw error;
  }
}

const SAME_NAMES = ["key", "model", "status", "error", "span"] as const;

async function accountIdOf({ flags }: Context, store: Store): Promise<string | undefined> {
  const email = flags.text("account");
  if (email === undefined) return undefined;
  const account = await accountStore(store).findAccountByEmail(email);
  if (account === undefined) throw failure(`there is no account with the e-mail address ${email}`);
  return account.id;
}

/** The newest matching rows. One query covers a part of the log, so a rare match may need several. */
async function latest(usage: UsageStore, filter: LogFilter, limit: number): Promise<LogRow[]> {
  const rows: LogRow[] = [];
  let beforeId: number | undefined;
  do {
    const page = await usage.listLog(filter, {
      limit: limit - rows.length,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    rows.push(...page.rows);
    beforeId = page.nextBeforeId ?? undefined;
  } while (beforeId !== undefined && rows.length < limit);
  return rows;
}

async function followOn(context: Context, usage: UsageStore, filter: LogFilter, afterId: number): Promise<void> {
  const stopping = Promise.withResolvers<void>();
  let isOver = false;
  const release = context.onInterrupt(() => {
    isOver = true;
    stopping.resolve();
  });
  const follower = new LogFollower({ usage, clock: systemClock }, { ...filter, sinceMs: undefined }, afterId);
  try {
    while (!isOver) {
      await print(context, usage, await follower.next(), { whole: false });
      await Promise.race([stopping.promise, Bun.sleep(POLL_MS)]);
    }
  } finally {
    release();
  }
}

/** `whole`: no further rows will follow. */
async function print(
  context: Context,
  usage: UsageStore,
  rows: readonly LogRow[],
  { whole }: { whole: boolean },
): Promise<void> {
  const deps = { usage, clock: systemClock, isPriced: () => false };
  const views = await logRowViews(deps, rows, { named: true });
  if (!context.flags.has("json")) for (const view of views) context.out(`${lineOf(view)}\n`);
  else if (whole) context.out(`${JSON.stringify(views)}\n`);
  else for (const view of views) context.out(`${JSON.stringify(view)}\n`);
}

/** One request in one line. */
function lineOf(row: LogRowView): string {
  const ending = row.stopped ? "stopped" : `${row.status}${row.error === null ? "" : ` ${row.error}`}`;
  const route = row.tries.map(({ provider, kind }) => (kind === "ok" ? provider : `${provider} (${kind})`)).join(" > ");
  const tokens = row.input_tokens + row.output_tokens === 0 ? "" : `${row.input_tokens}+${row.output_tokens} tokens`;
  return [
    `${row.created_at.slice(0, 19)}Z`,
    ending,
    row.repeats > 1 ? `x${row.repeats}` : "",
    subjectOf(row),
    route,
    `${row.account || "-"}/${row.key || "-"}`,
    tokens,
    row.cost_usd === null ? "cost unknown" : row.cost_usd > 0 ? `$${row.cost_usd}` : "",
    `${row.latency_ms} ms`,
    row.request_id,
  ]
    .filter((part) => part !== "")
    .map(printable)
    .join("  ");
}

/** The model, or the name that was asked for in vain, or the endpoint. */
function subjectOf({ model, asked_model: asked, endpoint }: LogRowView): string {
  return model || (asked === "" ? endpoint : JSON.stringify(asked));
}

/** Replaces control characters, since a client's text could otherwise move the cursor. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, "?");
}
