// The public status page: what it shows, what it must not show, and that a browser renders it without scripts and
// without requests to other hosts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { createHealthDays, HEALTH_DAYS } from "../../src/status/health-days.ts";
import { type StatusPageFacts, statusHtml, statusPage } from "../../src/status/page.ts";
import { type AccountsApp, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;
const SLOW_MS = 60_000;

const model = (id: string, status: "healthy" | "degraded" | "unavailable" | "unknown") => ({
  id,
  status,
  last_checked: "",
});

function facts(over: Partial<StatusPageFacts> = {}): StatusPageFacts {
  return {
    nowMs: NOW,
    version: "1.2.3",
    uptimeSeconds: 93_784,
    maintenance: undefined,
    models: { models: [model("fast", "healthy")], refreshed_at: new Date(NOW).toISOString() },
    daysOf: () => [],
    totals: { total_tokens: 1_234_567, requests: 89, since: "2026-01-02T00:00:00.000Z" },
    leaderboard: { models: [], users: [] },
    ...over,
  };
}

const models = (...all: ReturnType<typeof model>[]) => ({ models: all, refreshed_at: new Date(NOW).toISOString() });

test.each([
  [[model("a", "healthy")], "✓ The model answers"],
  [[model("a", "healthy"), model("b", "healthy")], "✓ All 2 models answer"],
  [[model("a", "healthy"), model("b", "degraded")], "⚠ 1 of 2 models is degraded"],
  [[model("a", "unavailable"), model("b", "unavailable"), model("c", "degraded")], "✕ 2 of 3 models are unavailable"],
  [[model("a", "unknown"), model("b", "unavailable")], "✕ 1 of 2 models is unavailable"],
  [
    [model("a", "unknown"), model("b", "healthy"), model("c", "healthy")],
    "✓ 2 of 3 models answer; the others are unknown",
  ],
  [[model("a", "unknown")], "◌ The health of the model is unknown"],
  [[], "◌ No models are offered"],
])("%j is said in the title and on top", (all, said) => {
  const html = statusHtml(facts({ models: models(...all) }));
  expect(html).toContain(`<title>${said} · Status</title>`);
  expect(html.replace(/<[^>]+>/g, "")).toContain(said);
});

test("maintenance and a first check that is yet to come are said", () => {
  expect(statusHtml(facts({ maintenance: "Back at <noon>" }))).toContain("Back at &#60;noon&#62;");
  expect(statusHtml(facts({ maintenance: "" }))).toContain("Under maintenance");
  const unchecked = { models: [], refreshed_at: null };
  expect(statusHtml(facts({ models: unchecked }))).toContain("not been checked yet");
});

test("the bar of a day has colour, height and a label, and a share below 100 % is not shown as 100 %", () => {
  const day = (healthy: number, degraded: number, unavailable: number) => ({ healthy, degraded, unavailable });
  const days = [undefined, day(100, 0, 0), day(90, 10, 0), day(50, 0, 50)];
  const html = statusHtml(facts({ daysOf: () => days }));
  for (const kind of ["ok", "warn", "danger", "none"]) expect(html).toContain(`<path class="${kind}"`);
  expect(html).toContain("83.33 % available over 3 days");
  expect(statusHtml(facts({ daysOf: () => [day(99_999, 0, 1)] }))).toContain("99.99 % available over 1 day");
  expect(statusHtml(facts({ daysOf: () => [day(5, 0, 0)] }))).toContain("100 % available over 1 day");
});

test("names are text wherever they stand, and nothing is loaded from elsewhere", () => {
  const id = `"><script>alert(1)</script>`;
  const html = statusHtml(
    facts({
      models: models(model(id, "healthy")),
      leaderboard: {
        models: [{ model_id: id, total_tokens: 1, requests: 1 }],
        users: [{ rank: 1, user: id, total_tokens: 1 }],
      },
    }),
  );
  expect(html).not.toContain("<script");
  expect(html.match(/(?:src|href)="(?!data:|\/status")/g)).toBeNull();
  const policy = statusPage(facts()).headers.get("content-security-policy") ?? "";
  expect(policy).toStartWith("default-src 'none'; style-src 'sha256-");
  expect(policy).not.toContain("script-src");
});

describe("the health of models by day", () => {
  const memory = () => {
    let value: unknown;
    let broken = false;
    return {
      breakDown: (is: boolean) => {
        broken = is;
      },
      size: () => JSON.stringify(value ?? {}).length,
      readSetting: async () => {
        if (broken) throw new Error("the database is away");
        return structuredClone(value);
      },
      changeSetting: async <T>(_: string, change: (value: unknown) => T): Promise<T> => {
        if (broken) throw new Error("the database is away");
        const next = change(structuredClone(value));
        value = structuredClone(next);
        return next;
      },
    };
  };
  let clock = new FakeClock(NOW);
  const record = (store: ReturnType<typeof memory>, problems: unknown[] = []) =>
    createHealthDays({ clock, store, problem: (error) => void problems.push(error) });

  test("is counted, survives a restart, and is forgotten after 90 days", async () => {
    clock = new FakeClock(NOW);
    const store = memory();
    const first = record(store);
    first.count([model("a", "healthy"), model("b", "degraded")]);
    first.count([model("a", "unavailable")]);
    expect(first.daysOf("a").at(-1)).toEqual({ healthy: 1, degraded: 0, unavailable: 1 });
    await first.save();
    clock.advance(DAY_MS);
    const second = record(store);
    await second.start();
    second.count([model("a", "healthy")]);
    await second.stop();
    const days = second.daysOf("a");
    expect(days).toHaveLength(HEALTH_DAYS);
    expect(days.slice(-2)).toEqual([
      { healthy: 1, degraded: 0, unavailable: 1 },
      { healthy: 1, degraded: 0, unavailable: 0 },
    ]);
    expect(days.slice(0, -2).every((day) => day === undefined)).toBe(true);
    clock.advance((HEALTH_DAYS - 1) * DAY_MS);
    second.count([model("c", "healthy")]);
    await second.save();
    expect(second.daysOf("a").filter(Boolean)).toHaveLength(1);
    expect(second.daysOf("b").filter(Boolean)).toEqual([]);
  });

  test("of two nodes is added up", async () => {
    const store = memory();
    const nodes = [record(store), record(store)];
    for (const node of nodes) node.count([model("a", "healthy")]);
    for (const node of nodes) await node.save();
    expect(nodes[1]!.daysOf("a").at(-1)).toEqual({ healthy: 2, degraded: 0, unavailable: 0 });
  });

  test("is not lost while it cannot be written, and is told of", async () => {
    const store = memory();
    const problems: unknown[] = [];
    const one = record(store, problems);
    one.count([model("a", "healthy")]);
    store.breakDown(true);
    await one.save();
    expect(problems).toHaveLength(1);
    expect(one.daysOf("a").at(-1)).toEqual({ healthy: 1, degraded: 0, unavailable: 0 });
    store.breakDown(false);
    await one.save();
    const next = record(store);
    await next.start();
    expect(next.daysOf("a").at(-1)).toEqual({ healthy: 1, degraded: 0, unavailable: 0 });
  });

  test("stays small with many models", async () => {
    const store = memory();
    const one = record(store);
    one.count(Array.from({ length: 5000 }, (_, n) => model(`model-${n}`, "healthy")));
    await one.save();
    expect(store.size()).toBeLessThan(10_000);
  });
});

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  let app: AccountsApp;
  let browser: TestBrowser;
  beforeAll(async () => {
    const hidden = { id: "hidden-model", visibility: "hidden", routes: [{ provider: "upstream-of-mine", model: "x" }] };
    const providers = {
      demo: { kind: "demo" },
      "upstream-of-mine": { kind: "openai", base_url: "http://127.0.0.1:9/v1" },
    };
    const config = { health: { probe: "models" }, providers, models: [hidden] };
    [app, browser] = await Promise.all([startAccountsApp({ config }), startBrowser()]);
    const body = { model: "demo-echo", messages: [{ role: "user", content: "hello" }] };
    await app.ask("POST", "/v1/chat/completions", { as: app.app.key, body });
  }, SLOW_MS);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  test.each([
    [390, true],
    [1440, false],
  ])(
    "at %i px it fits, has no fault that axe knows, and asks for nothing but itself",
    async (width, dark) => {
      const { page, complaints, context } = await browser.visitor({ width, dark });
      const asked: string[] = [];
      page.on("request", (request) => void (request.url().startsWith("data:") || asked.push(request.url())));
      await page.goto(`${app.app.url}/status`);
      expect(asked).toEqual([`${app.app.url}/status`]);
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Status");
      expect(await page.locator("section code").first().textContent()).toContain("demo");
      const text = (await page.textContent("body")) ?? "";
      for (const secret of ["hidden-model", "upstream-of-mine", "127.0.0.1", "tester"])
        expect(text).not.toContain(secret);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      expect(await faults(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});
