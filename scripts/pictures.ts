// Takes the pictures of the dashboard that the documents show: a gateway with the built-in models, an account with keys and
// some days of usage, and a real browser. Usage: `bun scripts/pictures.ts`. Run it when a page in a picture has changed. The
// pictures differ a little each time, by times and keys, so nothing compares them; they are kept small.

import { chromium, type Page } from "playwright-core";
import { findBrowser } from "../src/pages/browser/browser.ts";
import { type AccountsApp, PASSWORD, startAccountsApp } from "../test/accounts/support.ts";
import { spend } from "../test/dashboard/spent.ts";
import { type DashboardClient, dashboardClient } from "../test/dashboard/support.ts";

const DOCS = new URL("../docs/", import.meta.url).pathname;
const WINDOW = { width: 1280, height: 800 };
const QUALITY = 0.66;
const DAYS = 7;

const routed = (id: string, input: number, output: number) => ({
  ...{ id, routes: [{ provider: "demo", model: "demo-echo" }] },
  prices: { input, output },
});
const MODELS = [routed("assistant", 3, 15), routed("assistant-small", 0.4, 1.6), routed("drafts", 1, 4)];
const KEYS = [
  { name: "laptop", budget_usd: 6, budget_period_days: 30 },
  { name: "nightly build", budget_usd: 3, budget_period_days: 7, rpm: 30 },
  { name: "website", models: ["assistant-small"] },
];
const app = await startAccountsApp({
  config: { providers: { demo: { kind: "demo" } }, models: MODELS, health: { probe: "off" } },
});
await app.addAccount("ada", { tier: "pro", emailVerified: true });
const client = dashboardClient(app);
await client.post("/login", { username_or_email: "ada", password: PASSWORD });
const keys = await makeKeys(client);
await seed(app, client, keys);

const browser = await chromium.launch({ executablePath: findBrowser("") ?? "", args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: WINDOW, colorScheme: "light" });
const page = await context.newPage();
await page.goto(`${app.app.url}/dashboard/login`);
await page.getByLabel("Username").fill("ada");
await page.getByLabel("Password").fill(PASSWORD);
await page.getByRole("button", { name: "Sign in" }).click();
await page.getByRole("heading", { name: "Overview" }).waitFor();
await page
  .getByRole("button", { name: "7 d", exact: true })
  .or(page.getByRole("link", { name: "7 d" }))
  .click();
await take(page, "dashboard");
await open(page, "keys");
await take(page, "pictures/keys");
await open(page, "log");
await page
  .getByRole("button", { name: /^Details of/ })
  .nth(1)
  .click();
await take(page, "pictures/request-log");
await open(page, "playground");
await page.getByLabel("Model", { exact: true }).selectOption("assistant");
await page.getByLabel("Message", { exact: true }).fill("Which **three** colours has the flag of Estonia?");
await page.keyboard.press("Enter");
await page.getByText("in total").waitFor();
await take(page, "pictures/playground");
await browser.close();
await app.stop();

async function open(at: Page, path: string): Promise<void> {
  await at.goto(`${app.app.url}/dashboard/${path}`);
  await at.getByRole("heading", { level: 1 }).waitFor();
}

async function makeKeys(by: DashboardClient): Promise<{ id: string; key: string }[]> {
  const made: { id: string; key: string }[] = [];
  for (const key of KEYS) made.push((await by.post("/keys", key)).json);
  return made;
}

/** Usage of the last days, and requests that are in the log. */
async function seed(
  { ask }: AccountsApp,
  by: DashboardClient,
  made: readonly { id: string; key: string }[],
): Promise<void> {
  const accountId = (await by.get("/session")).json.profile.id as string;
  for (let hour = 0; hour < DAYS * 24; hour++)
    for (const [at, { id: model, prices }] of MODELS.entries())
      for (let nth = 0; nth < (hour * 7 + at * 3) % 5; nth++) {
        const [inputTokens, outputTokens] = [2400 + nth * 310, 420 + nth * 95];
        await spend(app, hour / 24, {
          ...{
            accountId,
            keyId: made[(nth + hour) % made.length]?.id ?? "",
            model,
            provider: "demo",
            inputTokens,
            outputTokens,
          },
          ...{ cachedTokens: 900, latencyMs: 900 + nth * 140, ttfbMs: 260 + nth * 30 },
          costMicros: inputTokens * prices.input + outputTokens * prices.output,
        });
      }
  const chat = (at: number, model: string) =>
    ask("POST", "/v1/chat/completions", {
      as: made[at]?.key ?? "",
      body: { model, messages: [{ role: "user", content: "Summarise the minutes of the meeting." }] },
    });
  for (const [at, model] of [
    [0, "assistant"],
    [1, "drafts"],
    [2, "assistant-small"],
    [1, "asistant"],
    [0, "assistant"],
  ] as const)
    await chat(at, model);
}

/** Saves what the window shows as WebP, which the browser itself can write from a PNG. */
async function take(of: Page, name: string): Promise<void> {
  await of.waitForLoadState("networkidle");
  const png = (await of.screenshot({ animations: "disabled" })).toString("base64");
  const blank = await context.newPage();
  const webp = await blank.evaluate(
    async ([data, quality]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
      canvas.getContext("2d")?.drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", quality).replace(/^.*,/, "");
    },
    [png, QUALITY] as const,
  );
  await blank.close();
  const bytes = Buffer.from(webp, "base64");
  await Bun.write(`${DOCS}${name}.webp`, bytes);
  process.stdout.write(`docs/${name}.webp  ${(bytes.length / 1000).toFixed(1)} KB\n`);
}
