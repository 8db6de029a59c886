// Uses the dashboard in a real browser: on a phone and a desktop, light and dark.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { CHROMIUM, LAN_HOST, startBrowser, type TestBrowser } from "../support/browser.ts";
import { type FakeGithub, startFakeGithub } from "../support/identity-servers.ts";
import { mailTo } from "../support/outbox.ts";

let app: AccountsApp;
let github: FakeGithub;
let browser: TestBrowser;
let base: string;
let endless: ReturnType<typeof startEndless>;

const isMissing = CHROMIUM === undefined;
const SLOW_MS = 60_000;

beforeAll(async () => {
  if (isMissing) return;
  github = startFakeGithub();
  endless = startEndless();
  const config = {
    auth: { oauth: { github: github.config } },
    providers: { endless: { kind: "openai", base_url: endless.url, api_key: "k", discover: false } },
    models: [{ id: "endless", routes: [{ provider: "endless", model: "e" }] }],
  };
  [app, browser] = await Promise.all([startAccountsApp({ config }), startBrowser()]);
  base = `${app.app.url}/dashboard`;
}, SLOW_MS);
afterAll(async () => {
  await browser?.close();
  await app?.stop();
  await github?.stop();
  await endless?.stop();
});

/** A provider that begins an answer and never ends it; `left` resolves when its client has disconnected. */
function startEndless() {
  const left = Promise.withResolvers<void>();
  const chunk = { choices: [{ index: 0, delta: { content: "and so on" } }] };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      request.signal.addEventListener("abort", () => left.resolve());
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`)),
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, left: left.promise, stop: () => server.stop(true) };
}

const visitor = (options: { width?: number; dark?: boolean } = {}) =>
  browser.visitor({ address: freshAddress(), ...options });

async function signIn(page: Page, name: string): Promise<void> {
  await page.goto(`${base}/login`);
  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
}

const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

describe.skipIf(isMissing)("in a browser", () => {
  test.each([
    [390, false],
    [1440, true],
  ])(
    "at %i px: signs up, verifies, makes a key that works, revokes it, signs out",
    async (width, dark) => {
      const { page, complaints, context } = await visitor({ width, dark });
      const name = `visitor-${width}`;
      await page.goto(`${base}/keys`);
      await page.getByRole("link", { name: "Make an account" }).click();
      await page.getByRole("button", { name: "Create account" }).click();
      expect(await page.getByText("E-mail is missing.").isVisible()).toBe(true);
      await page.getByLabel("E-mail").fill(`${name}@example.com`);
      await page.getByLabel("Username").fill(name);
      await page.getByLabel("Password").fill("short");
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByText("at least 10 characters.").nth(1).waitFor();
      expect(await page.getByLabel("Password").evaluate((field) => field === document.activeElement)).toBe(true);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Create account" }).click();

      const code = page.getByLabel("Verification code");
      await code.waitFor();
      const mail = await mailTo(app.app.dataDir, `${name}@example.com`);
      await code.fill(/\b\d{6}\b/.exec(mail.text ?? "")?.[0] ?? "");
      await page.getByRole("button", { name: "Verify" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      expect(await fits(page)).toBe(true);

      if (width < 760) await page.getByRole("button", { name: "Menu" }).click();
      await page.getByRole("navigation").getByRole("link", { name: "Keys" }).click();
      await page.getByLabel("Name").fill("my program");
      await page.getByRole("button", { name: "Create key" }).click();
      const key = (await page.getByTestId("new-key").textContent()) ?? "";
      const ask = () =>
        app.ask("POST", "/v1/chat/completions", {
          as: key,
          body: { model: "demo-echo", messages: [{ role: "user", content: "hi" }] },
        });
      expect((await ask()).status).toBe(200);
      await page.getByRole("button", { name: "Done" }).click();
      expect(await page.content()).not.toContain(key);
      expect(await fits(page)).toBe(true);

      await page.getByRole("button", { name: "Revoke my program" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await page.getByText("is revoked.").waitFor();
      expect((await ask()).status).toBe(401);

      if (width < 760) await page.getByRole("button", { name: "Menu" }).click();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await page.goto(`${base}/keys`);
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "a question that is answered with no gives the focus back, and a new key is shown to nobody who signs in next",
    async () => {
      await app.addAccount("first-here");
      await app.addAccount("next-here");
      const { page, complaints, context } = await visitor();
      await signIn(page, "first-here");
      await page.getByRole("navigation").getByRole("link", { name: "Keys" }).click();
      await page.getByLabel("Name").fill("mine");
      await page.getByRole("button", { name: "Create key" }).click();
      const key = (await page.getByTestId("new-key").textContent()) ?? "";
      const revoke = page.getByRole("button", { name: "Revoke mine" });
      await revoke.click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
      await page.waitForFunction(() => document.activeElement?.textContent === "Revoke mine");
      await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
      await page.getByRole("tabpanel").getByText(key).waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      // In the same window, so no page is loaded again.
      await page.getByLabel("Username").fill("next-here");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("tabpanel").getByText("sk-…").waitFor();
      expect(await page.content()).not.toContain(key);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "signing in goes on to the page that was asked for, and a wrong password is told",
    async () => {
      await app.addAccount("regular");
      const { page, complaints, context } = await visitor();
      await page.goto(`${base}/keys`);
      await page.getByLabel("Username").fill("regular");
      await page.getByLabel("Password").fill("wrong");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").getByText("The user name or password is wrong.").waitFor();
      await page.getByLabel("Password").fill(PASSWORD);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Keys" }).waitFor();
      await page.goBack().catch(() => undefined);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "a forgotten password is set anew with the mail's link",
    async () => {
      await app.addAccount("absent");
      const { page, complaints, context } = await visitor({ width: 390 });
      await page.goto(`${base}/login`);
      await page.getByRole("link", { name: "Forgot password?" }).click();
      await page.getByLabel("E-mail").fill("absent@example.com");
      await page.getByRole("button", { name: "Send the link" }).click();
      const { text = "" } = await mailTo(app.app.dataDir, "absent@example.com");
      // In the window that already shows the page, so that only the fragment changes.
      await page.goto(/http\S+#token=\w+/.exec(text)?.[0] ?? "");
      await page.getByLabel("Password").fill("a brand new password");
      await page.getByRole("button", { name: "Set password" }).click();
      await page.getByLabel("Username").fill("absent");
      await page.getByLabel("Password").fill("a brand new password");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "somebody new comes through a provider, and comes back the same way",
    async () => {
      github.person = {
        id: 4242,
        login: "octo",
        emails: [{ email: "octo@example.com", primary: true, verified: true }],
      };
      const { page, complaints, context } = await visitor();
      await page.goto(`${base}/login`);
      await page.getByRole("link", { name: "Continue with GitHub" }).click();
      await page.getByText("You will sign in with GitHub.").waitFor();
      expect(await page.getByLabel("E-mail").inputValue()).toBe("octo@example.com");
      await page.getByLabel("Username").fill("octo");
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.goto(`${base}/keys`);
      await page.getByRole("link", { name: "Continue with GitHub" }).click();
      await page.getByRole("heading", { name: "Keys" }).waitFor();
      expect(page.url()).toBe(`${base}/keys`);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "a provider's answer that this tab did not ask for signs nobody in",
    async () => {
      const { page, context } = await visitor();
      await page.goto(`${base}?code=somebody-elses-code&provider=github&state=0`);
      await page.getByText("This sign-in was not started in this tab.").waitFor();
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "the playground streams, goes on, stops and shows its request in every format",
    async () => {
      await app.addAccount("player");
      const { page, complaints, context } = await visitor({ width: 390, dark: true });
      await signIn(page, "player");
      await page.goto(`${base}/playground`);
      // On a phone the settings are behind a button.
      await page.getByText("Settings", { exact: true }).click();
      await page.getByLabel("System prompt").fill("Be brief.");
      await page.getByLabel("Model", { exact: true }).selectOption("demo-echo");
      await page.getByLabel("Message", { exact: true }).fill("first words");
      await page.keyboard.press("Enter");
      await page.locator(".reply").getByText("first words").waitFor();
      await page.getByText(/\d+ in, \d+ out/).waitFor();
      await page.getByLabel("Model", { exact: true }).selectOption("endless");
      await page.getByLabel("Message", { exact: true }).fill("never mind");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("and so on").waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByText("stopped").waitFor();
      await endless.left;
      await page.getByText("This request as code").click();
      for (const [name, path] of [
        ["Chat completions", "/v1/chat/completions"],
        ["Responses", "/v1/responses"],
        ["Messages", "/v1/messages"],
      ] as const) {
        await page.getByRole("tab", { name }).click();
        await page.getByRole("tabpanel").getByText(`curl ${app.app.url}${path}`).waitFor();
      }
      expect(await fits(page)).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "the account page changes a password, links a provider, and deletes the account",
    async () => {
      github.person = { id: 99, login: "linker", emails: [] };
      await app.addAccount("settler");
      const { page, complaints, context } = await visitor();
      await signIn(page, "settler");
      await page.getByRole("link", { name: "Account" }).click();
      await page.getByLabel("Current password").fill("wrong one");
      await page.getByLabel("New password").fill("a much longer password");
      await page.getByRole("button", { name: "Change password" }).click();
      await page.getByText("The current password is wrong.").waitFor();
      await page.getByLabel("Current password").fill(PASSWORD);
      await page.getByRole("button", { name: "Change password" }).click();
      await page.getByText("Your password is changed.").waitFor();
      await page.getByRole("button", { name: "Link GitHub" }).click();
      // The message disappears after some seconds, so the button is checked.
      await page.getByRole("button", { name: "Unlink GitHub" }).waitFor();
      expect(page.url()).toBe(`${base}/account`);
      await page.getByRole("button", { name: "Unlink GitHub" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Unlink" }).click();
      await page.getByText("GitHub is unlinked.").waitFor();
      await page.getByText("This cannot be undone").click();
      await page.getByLabel("Type your username").fill("settler");
      await page.getByRole("button", { name: "Delete account" }).click();
      await page.getByRole("button", { name: "Delete permanently" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "over plain HTTP on a network: signs in, and copies a key without the browser's clipboard",
    async () => {
      // On a loopback address the gateway answers only under this machine's names and its configured ones.
      const open = await startAccountsApp({
        config: { server: { dashboard_url: `http://${LAN_HOST}/dashboard` }, providers: { demo: {} } },
      });
      await open.addAccount("neighbour");
      const { page, complaints, context } = await visitor();
      await page.goto(`http://${LAN_HOST}:${new URL(open.app.url).port}/dashboard/keys`);
      expect(await page.evaluate(() => isSecureContext)).toBe(false);
      await page.getByLabel("Username").fill("neighbour");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      // On the page before, "Name" would be part of the label "Username".
      await page.getByRole("heading", { name: "Keys" }).waitFor();
      await page.getByLabel("Name").fill("lan");
      await page.getByRole("button", { name: "Create key" }).click();
      const key = (await page.getByTestId("new-key").textContent()) ?? "";
      await page.getByRole("button", { name: "Copy the key" }).click();
      await page.getByText("Copied").waitFor();
      await page.getByRole("button", { name: "Done" }).click();
      await page.getByLabel("Name").focus();
      await page.keyboard.press("ControlOrMeta+V");
      expect(await page.getByLabel("Name").inputValue()).toBe(key);
      expect(complaints).toEqual([]);
      await context.close();
      await open.stop();
    },
    SLOW_MS,
  );

  test(
    "the keyboard gets everywhere it must",
    async () => {
      await app.addAccount("typist");
      const { page, context } = await visitor();
      await signIn(page, "typist");
      await page.keyboard.press("Tab");
      const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
      for (let i = 0; i < 12 && (await focused()) !== "Keys"; i++) await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Keys" }).waitFor();
      await context.close();
    },
    SLOW_MS,
  );
});
