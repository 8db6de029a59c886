// Every query of the rows of requests is served by an index or by the order of the row ids: the table grows to millions of rows, and
// each index costs every request.

import { expect, test } from "bun:test";
import { prefixedId } from "../../src/base/ids.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import type { SqliteStore } from "../../src/store/engine/open.ts";
import { type UsageStore, usageStore } from "../../src/store/usage/usage.ts";
import { freshStore } from "./support.ts";

const IN_ROW_ORDER = "SCAN usage";
const OLDER = "SEARCH usage USING INTEGER PRIMARY KEY (rowid<?)";
const NEWER = "SEARCH usage USING INTEGER PRIMARY KEY (rowid>?)";
const ACCOUNT = "SEARCH usage USING INDEX usage_account (account_id=?";
const ANSWER = prefixedId("x-");
const REQUEST = "SEARCH usage USING INDEX usage_request (request_id=?";

const QUERIES: readonly (readonly [string, string, (usage: UsageStore) => Promise<unknown>])[] = [
  ["the log", IN_ROW_ORDER, (usage) => usage.listLog({})],
  ["its next page", OLDER, (usage) => usage.listLog({ model: "m", outcome: "failed", sinceMs: 1 }, { beforeId: 9 })],
  ["an account's log", ACCOUNT, (usage) => usage.listLog({ accountId: "a", keyId: "k" })],
  ["its next page", ACCOUNT, (usage) => usage.listLog({ accountId: "a" }, { beforeId: 9 })],
  ["a request", REQUEST, (usage) => usage.listLog({ requestId: "r" })],
  ["new rows", NEWER, (usage) => usage.followLog({}, 9)],
  ["an account's new rows", ACCOUNT, (usage) => usage.followLog({ accountId: "a" }, 9)],
  ["a row", "SEARCH usage USING INTEGER PRIMARY KEY (rowid=?)", (usage) => usage.findLogRow(9)],
  ["an answer", "SEARCH usage USING INDEX usage_", (usage) => usage.findAnswer("a", ANSWER)],
  ["the last row", IN_ROW_ORDER, (usage) => usage.lastLogId()],
  ["the latest minutes", IN_ROW_ORDER, (usage) => usage.recentRows({ limit: 9 })],
  ["an account's latest minutes", ACCOUNT, (usage) => usage.recentRows({ accountId: "a", limit: 9 })],
  ["the oldest rows", IN_ROW_ORDER, (usage) => usage.deleteRowsBefore(9)],
];

/** A store that notes what it is asked. */
function watched() {
  const { store } = freshStore();
  const asked: string[] = [];
  for (const name of ["prepare", "query"] as const) {
    const own = store.sqlite[name].bind(store.sqlite) as (text: string) => never;
    store.sqlite[name] = ((text: string) => {
      asked.push(text);
      return own(text);
    }) as never;
  }
  return { store, plans: () => plansOf(store, [...asked]) };
}

/** The plans of what was asked of the rows of requests. */
function plansOf(store: SqliteStore, texts: readonly string[]): string[] {
  const plans = texts
    .filter((text) => /\busage\b/.test(text))
    .map((text) => {
      const steps = store.sqlite.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[];
      return steps.map(({ detail }) => detail);
    });
  return plans.flat().filter((detail) => /\busage\b|B-TREE/.test(detail));
}

test.each(QUERIES)("an index or the order of rows serves a query: %s: %s", async (_name, plan, ask) => {
  const { store, plans: read } = watched();
  await ask(usageStore(store));
  const plans = read();
  expect(plans.length).toBeGreaterThan(0);
  // A sorted answer in another order would be put in order anew, after all rows were read.
  for (const detail of plans) expect(detail).toStartWith(detail.includes("rowid=?") ? "SEARCH usage" : plan);
});

test("an answer is found by its whole id, or by its request", async () => {
  const { store, plans } = watched();
  await usageStore(store).findAnswer("a", ANSWER);
  expect(plans()).toEqual(["SEARCH usage USING INDEX usage_answer (answer_id=?)", `${REQUEST})`]);
});

test("the rows of a deleted account are found by it", async () => {
  const { store, plans } = watched();
  const account = await accountStore(store).createAccount({ username: "u", email: "u@x.example", tier: "free" });
  await accountStore(store).deleteAccount((account as { id: string }).id);
  expect(plans()).toEqual([expect.stringMatching(/^SEARCH usage USING .*INDEX usage_account/)]);
});

test("the table has no index besides those", () => {
  const { store } = watched();
  const indexes = store.sqlite
    .prepare("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'usage'")
    .all();
  const names = (indexes as { name: string }[]).map(({ name }) => name).sort();
  // `usage_answer` holds the answers whose ids are not made of their requests' ids.
  // `usage_uid` finds the row that failures of a key within a minute share, `usage_run` holds the rows of agent runs only.
  expect(names).toEqual(["usage_account", "usage_answer", "usage_request", "usage_run", "usage_uid"]);
});
