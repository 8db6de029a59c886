// The limits of an extraction: the jobs and storage of its account, its time, and the budget of its key.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { jobStore } from "../../src/store/work/jobs.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { honest, linesPage, modelConfig, type ScriptedModel, startModel } from "./extract-script.ts";
import { webConfig } from "./support.ts";

let site: FakeSite;
let model: ScriptedModel;
let app: TestApp;
const clock = new FakeClock(Date.now());

const items = Array.from({ length: 4 }, (_, n) => `/item/${n}`);
const SCHEMA = { type: "object", properties: { item: { type: "array", items: { type: "string" } } } };
const INPUT = {
  prompt: "Every item.",
  schema: SCHEMA,
  systemPrompt: "",
  allowExternalLinks: false,
  documents: false,
  onlyMainContent: false,
};
const config = (more: object = {}) => ({ ...webConfig([site.host]), ...modelConfig(model), ...more });

beforeAll(async () => {
  site = startFakeSite(Object.fromEntries(items.map((path) => [path, linesPage(path, [`Item: number ${path}`])])));
  model = startModel();
  app = await startTestApp({ config: config(), clock });
});
afterAll(async () => {
  await app.stop();
  await site.stop();
  await model.upstream.stop();
});
beforeEach(() => {
  model.script(honest);
  model.asked.length = 0;
});

interface Answer {
  job_id: string;
  data: unknown;
  error: { code: string; message: string };
}

async function extract(paths: readonly string[], key = app.key): Promise<{ http: number; json: Answer }> {
  const body = { urls: paths.map((path) => site.url + path), prompt: "Every item.", schema: SCHEMA };
  const response = await app.post("/v1/extract", body, { authorization: `Bearer ${key}` });
  return { http: response.status, json: (await response.json()) as Answer };
}

test("questions wait for each other if the budget suffices for one at a time", async () => {
  const store = await app.openStore();
  const { key } = await keyStore(store).createKey({ accountId: app.accountId, name: "poor", budgetMicros: 2000 });
  await store.close();
  let [running, most] = [0, 0];
  model.script(async (asked) => {
    most = Math.max(most, ++running);
    await Bun.sleep(20);
    running--;
    return honest(asked);
  });
  const { http, json } = await extract(items, key);
  expect([http, json.data]).toEqual([200, { item: expect.arrayContaining(items.map((path) => `number ${path}`)) }]);
  expect([most, model.asked.length]).toEqual([1, items.length]);
}, 60_000);

test("a job is deleted when its time has passed", async () => {
  const { json } = await extract(items.slice(0, 1));
  const poll = async () => (await app.call(`/v1/extract/${json.job_id}`)).status;
  expect(await poll()).toBe(200);
  clock.advance(24 * 3_600_000 + 1);
  expect(await poll()).toBe(404);
});

test("the number of an account's running jobs, and its storage, are limited", async () => {
  const store = await app.openStore();
  const jobs = jobStore(store);
  // The jobs are of a kind that no worker runs.
  const job = (n: number) => ({ id: `job_${n}`, kind: "none", accountId: app.accountId, input: {}, deadlineAtMs: 0 });
  for (let n = 0; n < 100; n++) await jobs.createJob(job(n));
  const full = await extract(items);
  expect([full.http, full.json.error.code]).toEqual([429, "rate_limit_exceeded"]);
  for (let n = 0; n < 100; n++)
    await jobs.cancelJob({ kind: "none", accountId: app.accountId, id: `job_${n}`, ttlMs: 60_000 });
  await store.close();
  await app.reconfigure(config({ limits: { storage_per_account: "1KiB" } }));
  const { http, json } = await extract(items);
  expect([http, json.error.code]).toEqual([413, "request_too_large"]);
  await app.reconfigure(config());
  expect((await extract(items)).http).toBe(200);
});

test("a job continues after a restart with its key, and fails if the key is no longer valid", async () => {
  const store = await app.openStore();
  const { id: keyId } = await keyStore(store).createKey({ accountId: app.accountId, name: "k" });
  const begin = (id: string) =>
    jobStore(store).createJob({
      id,
      kind: "extract",
      accountId: app.accountId,
      input: { ...INPUT, urls: [site.url + items[0]], keyId, requestId: "r" },
      deadlineAtMs: clock.now() + 600_000,
    });
  const ended = async (id: string) => {
    for (;;) {
      const answer = (await (await app.call(`/v1/extract/${id}`)).json()) as { status: string };
      if (answer.status !== "processing") return answer;
      await Bun.sleep(20);
    }
  };
  const held = Promise.withResolvers<void>();
  model.script(async (asked) => {
    await held.promise;
    return honest(asked);
  });
  const asked = model.upstream.next();
  await begin("extract_stopped");
  await asked;
  await app.restart(config());
  held.resolve();
  expect(await ended("extract_stopped")).toMatchObject({ status: "completed", data: { item: ["number /item/0"] } });
  await keyStore(store).revokeKey(keyId);
  await begin("extract_revoked");
  await store.close();
  expect(await ended("extract_revoked")).toMatchObject({ status: "failed", error_code: "invalid_api_key" });
}, 60_000);
