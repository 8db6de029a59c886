// An account's storage quota, through the running program: uploads, stored answers and crawls share one limit.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { accountStore } from "../../../src/store/access/accounts.ts";
import { keyStore } from "../../../src/store/access/keys.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../../accounts/support.ts";
import { dashboardClient } from "../../dashboard/support.ts";
import { startSite } from "./storage-site.ts";

const LIMIT = 64 * 1024;
const FILE = 16 * 1024;

const PNG = Buffer.alloc(FILE);
PNG.set(Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64"));

let app: AccountsApp;
const site = startSite();
beforeAll(async () => {
  app = await startAccountsApp({
    config: {
      limits: { storage_per_account: "64KiB" },
      web: { allow_hosts: [site.host], render: "never" },
      tiers: { premium: { rpm: 10_000 } },
    },
  });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
});

/** A key of a new account. */
async function somebody(name: string): Promise<string> {
  const { id } = await app.addAccount(name, { tier: "premium", emailVerified: true });
  return (await keyStore(app.store).createKey({ accountId: id, name: "k" })).key;
}
async function upload(as: string): Promise<{ status: number; code: string | undefined; id: string }> {
  const body = new FormData();
  body.set("file", new Blob([PNG]), "a.png");
  const headers = { authorization: `Bearer ${as}` };
  const answer = await fetch(`${app.app.url}/v1/files`, { method: "POST", body, headers });
  const json = (await answer.json()) as { id: string; error?: { code: string } };
  return { status: answer.status, code: json.error?.code, id: json.id };
}
const respond = async (as: string, chars: number): Promise<string> => {
  const body = { model: "demo-echo", input: [{ role: "user", content: `${"x".repeat(chars)} end` }] };
  const { status, json } = await app.ask("POST", "/v1/responses", { as, body });
  expect(status).toBe(200);
  return json.id;
};
const isKept = async (as: string, id: string) => (await app.ask("GET", `/v1/responses/${id}`, { as })).status === 200;
const usedBy = async (name: string) => {
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: name, password: PASSWORD });
  return (await client.get("/session")).json.profile.storage as { used_bytes: number; limit_bytes: number };
};

test("of simultaneous uploads, as many are stored as fit; deleting one makes room", async () => {
  const as = await somebody("uploader");
  const answers = await Promise.all(Array.from({ length: 16 }, () => upload(as)));
  const stored = answers.filter(({ status }) => status === 200);
  expect(stored).toHaveLength(LIMIT / FILE);
  const refused = answers.filter(({ status }) => status !== 200).map(({ status, code }) => `${status} ${code}`);
  expect(new Set(refused)).toEqual(new Set(["413 request_too_large"]));
  expect(await usedBy("uploader")).toEqual({ used_bytes: LIMIT, limit_bytes: LIMIT });
  expect((await app.ask("DELETE", `/v1/files/${stored[0]?.id}`, { as })).status).toBe(200);
  expect((await upload(as)).status).toBe(200);
});

test("the oldest answers are deleted for newer ones and for files, and are then unknown", async () => {
  const as = await somebody("talker");
  const ids: string[] = [];
  for (let turn = 0; turn < 8; turn++) ids.push(await respond(as, 6000));
  const kept = await Promise.all(ids.map((id) => isKept(as, id)));
  expect([kept[0], kept.at(-1)]).toEqual([false, true]);
  const { used_bytes } = await usedBy("talker");
  expect(used_bytes).toBeGreaterThan(LIMIT / 2);
  expect(used_bytes).toBeLessThanOrEqual(LIMIT);
  for (let file = 0; file < 3; file++) expect((await upload(as)).status).toBe(200);
  expect(await isKept(as, ids.at(-2) ?? "")).toBe(false);
  // Files are never deleted to make room. An answer that does not fit beside them is sent but not stored.
  expect((await upload(as)).status).toBe(200);
  expect(await isKept(as, await respond(as, 6000))).toBe(false);
});

test("a crawl that exceeds the limit ends with an error, and none starts while there is no room", async () => {
  const as = await somebody("crawler");
  const body = { url: `${site.origin}/`, limit: 20 };
  const { json } = await app.ask("POST", "/v1/crawl", { as, body });
  let job = json;
  while (!["failed", "completed"].includes(job.status)) {
    await Bun.sleep(20);
    job = (await app.ask("GET", `/v1/crawl/${json.id}`, { as })).json;
  }
  expect([job.status, JSON.stringify(job)]).toEqual(["failed", expect.stringContaining("storage is used up")]);
  expect(site.asked()).toBeLessThan(20);
  const next = await app.ask("POST", "/v1/crawl", { as, body });
  expect([next.status, next.json.error.code]).toEqual([413, "request_too_large"]);
  expect((await upload(as)).status).toBe(413);
});

test("deleting an account removes its stored size", async () => {
  const as = await somebody("leaver");
  await upload(as);
  const leaver = await accountStore(app.store).findAccountByEmail("leaver@example.com");
  await accountStore(app.store).deleteAccount(leaver?.id ?? "");
  const left = await app.store.statement("SELECT * FROM account_storage WHERE account_id = ?").all([leaver?.id ?? ""]);
  expect(left).toEqual([]);
});
