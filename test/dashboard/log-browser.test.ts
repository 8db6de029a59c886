// The overview and the request log in a real browser: on a phone and a desktop, light and dark, with the keyboard, and
// during a restart.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AddressInfo, connect, createServer } from "node:net";
import type { Page } from "playwright-core";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { dashboardClient } from "./support.ts";

let app: AccountsApp;
let browser: TestBrowser;
let key: string;
const failing = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("{}", { status: 503 }) });

const isMissing = CHROMIUM === undefined;
const SLOW_MS = 90_000;
const LONG_MODEL = "a-model-with-a-name-that-is-longer-than-any-column-would-be-20260101";

beforeAll(async () => {
  if (isMissing) return;
  const bad = { kind: "openai", base_url: `http://127.0.0.1:${failing.port}/v1`, api_key: "k", discover: false };
  const config = {
    usage: { flush: "5ms" },
    providers: { bad: { ...bad, retry: { attempts: 1 }, breaker: { failures: 1000 } }, demo: { kind: "demo" } },
    models: [
      {
        id: LONG_MODEL,
        routes: [
          { provider: "bad", model: "b", priority: 1 },
          { provider: "demo", model: "demo-echo", priority: 2 },
        ],
      },
    ],
  };
  [app, browser] = await Promise.all([startAccountsApp({ config }), startBrowser()]);
  await app.addAccount("watcher", { admin: true });
  await app.addAccount("newcomer");
  const client = dashboardClient(app);
  await client.post("/login", { username_or_email: "watcher", password: PASSWORD });
  ({ key } = (await client.post("/keys", { name: "laptop", rpm: 20 })).json);
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
  await failing.stop(true);
});

const ask = (model: string, requestId: string) =>
  app.ask("POST", "/v1/chat/completions", {
    as: key,
    body: { model, messages: [{ role: "user", content: "words that nobody keeps" }] },
    headers: { "x-request-id": requestId },
  });

async function signIn(page: Page, name: string, url = app.app.url): Promise<string> {
  const base = `${url}/dashboard`;
  await page.goto(`${base}/login`);
  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  return base;
}

/** A proxy with a fixed address, since the program has another port after a restart. */
function startDoor() {
  const server = createServer((near) => {
    const far = connect(Number(new URL(app.app.url).port), "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stop: () => server.close() };
}

const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

/** Neither in the colours of the visitor nor in the others has the page a fault, and it fits. */
async function soundIn(page: Page, dark: boolean): Promise<void> {
  for (const isDark of [!dark, dark]) {
    await page.emulateMedia({ colorScheme: isDark ? "dark" : "light" });
    expect([isDark, await faults(page), await fits(page)]).toEqual([isDark, [], true]);
  }
}
const details = (page: Page) => page.getByRole("button", { name: /^Details of/ });

describe.skipIf(isMissing)("in a browser", () => {
  test(
    "who has sent nothing is led to a first request, which appears by itself",
    async () => {
      const { page, complaints, context } = await browser.visitor({ address: freshAddress() });
      const base = await signIn(page, "newcomer");
      await page.getByText("No request in the last 24 hours.").waitFor();
      await page.getByRole("link", { name: "create a key" }).click();
      await page.getByLabel("Name").fill("first");
      await page.getByRole("button", { name: "Create key" }).click();
      const own = (await page.getByTestId("new-key").textContent()) ?? "";
      await page.goto(base);
      await page.getByText("No request in the last 24 hours.").waitFor();
      const body = { model: "demo-echo", messages: [{ role: "user", content: "hi" }] };
      expect((await app.ask("POST", "/v1/chat/completions", { as: own, body })).status).toBe(200);
      await page.getByRole("region", { name: "By model" }).getByRole("link", { name: "demo-echo" }).waitFor();
      await page.getByRole("cell", { name: "unknown" }).first().waitFor();
      await page.goto(`${base}/log?status=stopped`);
      await page.getByText("No request in this span matches").waitFor();
      await page.getByRole("button", { name: "Clear filters" }).click();
      await details(page).waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test.each([
    [1440, false],
    [390, true],
  ] as const)(
    "at %i px, dark %p and then the other way: from the overview to one request and its route",
    async (width, dark) => {
      const id = `seen-${width}`;
      await ask(LONG_MODEL, id);
      await ask("nowhere", `${id}-none`);
      const { page, complaints, context } = await browser.visitor({ width, dark, address: freshAddress() });
      const base = await signIn(page, "watcher");
      const models = page.getByRole("region", { name: "By model" });
      await models.getByRole("link", { name: LONG_MODEL }).waitFor();
      for (const measure of ["Tokens", "Errors", "Cost", "Latency"]) {
        await page.getByRole("button", { name: measure, exact: true }).click();
        expect(new URL(page.url()).searchParams.get("measure")).toBe(measure);
        await page.getByRole("img", { name: new RegExp(`^${measure}`) }).waitFor();
      }
      for (const span of ["1 h", "7 d", "90 d"]) {
        await page.getByRole("button", { name: span, exact: true }).click();
        await models.getByRole("link", { name: LONG_MODEL }).waitFor();
      }
      await soundIn(page, dark);
      await page.getByRole("button", { name: "All accounts" }).click();
      await page.getByRole("region", { name: "By key" }).getByText("watcher").waitFor();
      // The selection is in the address, so a reload shows the same rows.
      await page.reload();
      await page.getByRole("region", { name: "By key" }).getByText("watcher").waitFor();
      await models.getByRole("link", { name: LONG_MODEL }).click();
      await page.getByRole("heading", { name: "Request log" }).waitFor();
      expect(await page.getByLabel("Model").inputValue()).toBe(LONG_MODEL);
      await page.getByLabel("Request id").fill(id);
      await page.keyboard.press("Enter");
      const tries = page.getByRole("list", { name: "Tries" });
      await tries.getByText("unavailable (503)").waitFor();
      await tries.getByText("answered").waitFor();
      await page.getByText("demo answered after another route failed.").waitFor();
      expect(await page.content()).not.toContain("words that nobody keeps");
      await soundIn(page, dark);
      await page.goto(`${base}/log?error=model_not_found&request=${id}-none`);
      await page.getByText("The gateway refused the request before calling a provider").waitFor();
      // The code has one line beside the time.
      const badge = page.getByText("404 model_not_found");
      expect(await badge.evaluate((shown) => shown.getBoundingClientRect().height)).toBeLessThan(30);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "the live view tells what comes, keeps its place while something is read, and outlives a restart",
    async () => {
      const { page, context } = await browser.visitor({ address: freshAddress() });
      await ask("demo-echo", "live-0");
      const door = startDoor();
      const base = await signIn(page, "watcher", door.url);
      await page.goto(`${base}/log?request=none`);
      await page.getByText("No request in this span matches").waitFor();
      await page.getByRole("button", { name: "Clear filters" }).click();
      await details(page).first().waitFor();
      const before = await details(page).count();
      // With the keyboard.
      await page.getByRole("button", { name: "Live" }).focus();
      await page.keyboard.press("Enter");
      await page.locator(".dot.on").waitFor();
      await ask("demo-echo", "live-1");
      await page.locator("tr.fresh").waitFor();
      await details(page).first().focus();
      await page.keyboard.press("Enter");
      await page.getByText("live-1", { exact: true }).waitFor();
      await ask("demo-echo", "live-2");
      await page.getByRole("button", { name: "Show 1 new" }).waitFor();
      await app.app.restart();
      await ask("demo-echo", "live-3");
      await page.getByRole("button", { name: "Show 2 new" }).click();
      await page.waitForFunction((rows) => document.querySelectorAll("button.disclose").length >= rows, before + 3);
      expect(await page.locator("tr.fresh").count()).toBe(3);
      await context.close();
      door.stop();
    },
    SLOW_MS,
  );
});
