// Decision models in the dashboard's admin area, through the HTTP edge and in a real browser.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { decisionStore } from "../../src/store/decisions/decisions.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { DECISION_CONFIG, seedVersions } from "./decision-versions.ts";
import { type DashboardClient, dashboardClient } from "./support.ts";

const LONG = "an-organisation/a-decision-model-with-quite-a-long-name-2026-11-preview";
const SLOW_MS = 60_000;
let app: AccountsApp;
let boss: DashboardClient;

beforeAll(async () => {
  app = await startAccountsApp({ config: DECISION_CONFIG });
  await seedVersions(app.store);
  // Drift is read when the program starts.
  await app.app.restart(DECISION_CONFIG);
  await app.addAccount("boss", { admin: true });
  await app.addAccount("member");
  boss = await signedIn("boss");
});
afterAll(() => app.stop());

async function signedIn(name: string): Promise<DashboardClient> {
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: name, password: PASSWORD });
  return client;
}

const aliases = async () =>
  Object.fromEntries((await decisionStore(app.store).listDecisionAliases()).map((one) => [one.alias, one.version]));

test("to who is no admin there is nothing", async () => {
  const member = await signedIn("member");
  const before = await aliases();
  for (const ask of [
    () => member.get("/admin/decisions"),
    () => member.get("/admin/decisions/version?id=judge-1.0.0"),
    () => member.post("/admin/decisions/promote", { version: "judge-1.1.0", alias: "judge-latest" }),
  ]) {
    const { status, json } = await ask();
    expect([status, json.error.code]).toEqual([404, "route_not_found"]);
  }
  expect(await aliases()).toEqual(before);
});

test("every version is listed with what is known against it", async () => {
  const { data } = (await boss.get("/admin/decisions")).json;
  const rows = Object.fromEntries(data.map((row: { id: string }) => [row.id, row]));
  expect(Object.keys(rows).sort()).toEqual([LONG, "judge-1.0.0", "judge-1.1.0", "judge-1.2.0"]);
  expect(rows["judge-1.0.0"]).toMatchObject({
    name: "House judge",
    aliases: ["judge-latest", "judge-stable"],
    backend: "logprobs",
    routes: [{ provider: "sim", model: "open-weights-instruct-9b-q4" }],
    calibration: "prior",
    measured: null,
    unfit: null,
  });
  expect(rows["judge-1.1.0"]).toMatchObject({ calibration: "fitted", drifted: true, worse: null });
  expect(rows["judge-1.1.0"].measured.log_loss).toBeLessThan(rows["judge-1.2.0"].measured.log_loss);
  expect(rows["judge-1.2.0"]).toMatchObject({ drifted: false, worse: expect.stringContaining("log-loss") });
  expect(rows[LONG].tier).toBe("pro");
});

test("a version is shown with what it was measured at and made of", async () => {
  const { json } = await boss.get("/admin/decisions/version?id=judge-1.1.0");
  expect(json.measurement).toMatchObject({ from: "judge-1.0.0", fit_rows: 420, dataset: { rows: 840 } });
  expect(json.measurement.reports.map(({ type }: { type: string }) => type)).toEqual([
    "all",
    "noul",
    "choice",
    "score",
  ]);
  const [all] = json.measurement.reports;
  expect(all.bins).toHaveLength(15);
  expect(all.before.log_loss).toBeGreaterThan(all.after.log_loss);
  expect(all.after.ece_by_chance[0]).toBeLessThanOrEqual(all.after.ece_by_chance[1]);
  expect(json.parameters[0]).toMatchObject({ type: "choice", options: "2", temperature: 1.31, bias: null });
  // The stored hash is not the one of this program's prompts.
  expect([json.input_price, json.notes]).toEqual([null, [expect.stringContaining("release with other prompts")]]);
  expect(json.sightings.map((one: { fingerprint: string }) => one.fingerprint)).toEqual(["fp_1a2b", "fp_9f8e"]);
  expect((await boss.get(`/admin/decisions/version?id=${encodeURIComponent(LONG)}`)).json).toMatchObject({
    id: LONG,
    input_price: 0.5,
    notes: [],
    measurement: null,
    parameters: [],
  });
  expect((await boss.get("/admin/decisions/version?id=nope")).json.error.code).toBe("model_not_found");
});

test.each([
  ["a version that is worse", { version: "judge-1.2.0", alias: "judge-latest" }, 400, "version"],
  ["no such version", { version: "judge-7.0.0", alias: "judge-latest" }, 404, "version"],
  ["a version for an alias", { version: "judge-1.1.0", alias: "judge-1.0.0" }, 400, "alias"],
  ["an alias that cannot be one", { version: "judge-1.1.0", alias: "two words" }, 400, "alias"],
  ["no alias", { version: "judge-1.1.0" }, 400, "alias"],
])("%s is not promoted, and the refusal names its field", async (_what, body, status, param) => {
  const before = await aliases();
  const refused = await boss.post("/admin/decisions/promote", body);
  expect([refused.status, refused.json.error.param]).toEqual([status, param]);
  expect(await aliases()).toEqual(before);
});

test("an alias is moved, at once, and the account's events say so", async () => {
  const { json } = await boss.post("/admin/decisions/promote", { version: "judge-1.1.0", alias: "judge-stable" });
  expect(json).toEqual({ version: "judge-1.1.0", alias: "judge-stable", before: "judge-1.0.0" });
  const listed = (await app.ask("GET", "/v1/systemone/models", { as: app.app.key })).json;
  expect(JSON.stringify(listed)).toContain("judge-stable");
  const shown = (await boss.get("/admin/decisions/version?id=judge-1.1.0")).json;
  expect(shown.aliases).toEqual(["judge-stable"]);
  const { data } = (await boss.get("/events")).json;
  expect(data[0]).toMatchObject({
    event: "decision_promoted",
    detail: { version: "judge-1.1.0", alias: "judge-stable", before: "judge-1.0.0" },
  });
  expect(data.map(({ event }: { event: string }) => event)).toContain("decision_promotion_refused");
});

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, SLOW_MS);
  afterAll(() => browser?.close());

  test.each([
    [390, "judge-narrow"],
    [1440, "judge-wide"],
  ])(
    "at %i px an operator looks at a version and points an alias to it",
    async (width, alias) => {
      const { page, complaints, context } = await browser.visitor({ width, address: freshAddress() });
      const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
      await page.goto(`${app.app.url}/dashboard/admin/decisions/judge-1.1.0`);
      await page.getByLabel("Username").fill("boss");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      // After the sign-in, the requested page is shown.
      await page.getByRole("heading", { name: "judge-1.1.0" }).waitFor();
      await page.goto(`${app.app.url}/dashboard/admin/decisions`);
      await page.getByRole("heading", { name: "Decisions" }).waitFor();
      await page.getByRole("link", { name: LONG }).waitFor();
      expect(await fits()).toBe(true);

      await page.getByRole("link", { name: "judge-1.1.0" }).click();
      await page.getByRole("heading", { name: "judge-1.1.0" }).waitFor();
      const diagram = page.getByRole("img", { name: "Choice: accuracy by stated probability" });
      await diagram.waitFor();
      expect(await diagram.locator("circle").count()).toBe(30);
      expect(await fits()).toBe(true);

      await page.getByText("release with other prompts").waitFor();
      await page.getByLabel("Move alias to this version").fill("judge-1.0.0");
      await page.getByRole("button", { name: "Promote" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Promote" }).click();
      await page.getByText("is a version, not an alias").waitFor();
      await page.getByLabel("Move alias to this version").fill(alias);
      await page.getByRole("button", { name: "Promote" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Promote" }).click();
      await page.getByText(`${alias} points to judge-1.1.0.`).waitFor();
      expect((await aliases())[alias]).toBe("judge-1.1.0");

      await page.goto(`${app.app.url}/dashboard/admin/decisions/judge-1.2.0`);
      await page.getByText("No alias is moved to it").waitFor();
      expect(await page.getByRole("button", { name: "Promote" }).count()).toBe(0);
      await page.goto(`${app.app.url}/dashboard/admin/decisions/${encodeURIComponent(LONG)}`);
      await page.getByText("No measurements.").waitFor();
      await page.getByText("$0.5 per million input tokens").waitFor();
      expect(await fits()).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
