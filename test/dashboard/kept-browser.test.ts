// The input of every field of every page in the list of contract-pages.ts survives a restart of the server, a reload, and a sign-in
// after the session has ended. Passwords are not stored.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { sessionStore } from "../../src/store/access/sessions.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { DECISION_CONFIG, seedVersions } from "./decision-versions.ts";
import { addresses, arrivals, GUEST } from "./page-walk.ts";
import { dashboardClient } from "./support.ts";

const SLOW_MS = 240_000;
const NAME = "typist";

/** A version with the form that moves an alias to it. */
const MOVABLE = "/admin/decisions/judge-1.1.0";

/** Pages with fields; the walk must include them. */
const WITH_FIELDS = [
  "/keys",
  "/log",
  "/models",
  "/playground",
  "/web",
  "/account",
  "/admin/accounts",
  "/admin/accounts/ID",
  "/admin/models",
  MOVABLE,
  "/admin/audit",
  "/admin/config",
];

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  let app: AccountsApp;
  let browser: TestBrowser;
  let accountId: string;

  beforeAll(async () => {
    [app, browser] = await Promise.all([startAccountsApp({ config: DECISION_CONFIG }), startBrowser()]);
    await seedVersions(app.store);
    accountId = (await app.addAccount(NAME, { admin: true, emailVerified: true })).id;
  }, SLOW_MS);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  async function open() {
    const visitor = await browser.visitor({ address: freshAddress() });
    const { page } = visitor;
    const arrived = arrivals(page);
    const go = async (path: string) => {
      await page.goto(`${app.app.url}/dashboard${path.replace("ID", accountId)}`);
      await arrived();
    };
    const signIn = async () => {
      await page.getByLabel("Username or e-mail").fill(NAME);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
    };
    return { ...visitor, arrived, go, signIn };
  }

  const endSessions = () => sessionStore(app.store).revokeAllSessions(accountId);

  test(
    "every field of every page for members survives a restart, a reload and an ended session",
    async () => {
      const { page, context, arrived, go, signIn } = await open();
      await go("/login");
      await signIn();
      const walked: string[] = [];
      const lost: Record<string, unknown> = {};
      for (const path of [...addresses(), MOVABLE].filter((one) => !GUEST.includes(one))) {
        await go(path);
        const typed = await typeEverywhere(page, walked.length);
        if (Object.keys(typed).length === 0) continue;
        walked.push(path);
        // A filter is applied when its field loses the focus.
        await page.getByRole("heading", { level: 1 }).click();
        await app.app.restart(undefined, "kept");
        const after: Record<string, unknown> = { restart: await differences(page, typed) };
        const address = page.url();
        await endSessions();
        await page.reload();
        await page.getByRole("heading", { name: "Sign in" }).waitFor();
        await signIn();
        await arrived();
        after["sign-in"] = await differences(page, typed);
        if (page.url() !== address) after["address"] = page.url();
        await page.reload();
        await arrived();
        after["reload"] = await differences(page, typed);
        if (Object.values(after).some((wrong) => JSON.stringify(wrong) !== "{}")) lost[path] = after;
      }
      expect(lost).toEqual({});
      expect(walked).toEqual(expect.arrayContaining(WITH_FIELDS));
      await context.close();
    },
    SLOW_MS,
  );

  test.each(GUEST)(
    "%s: the input of a guest survives a restart and a reload",
    async (path) => {
      const { page, context, arrived, go } = await open();
      await go(path);
      const typed = await typeEverywhere(page, 1);
      expect(Object.keys(typed).length).toBeGreaterThan(0);
      await app.app.restart(undefined, "kept");
      expect(await differences(page, typed)).toEqual({});
      await page.reload();
      await arrived();
      expect(await differences(page, typed)).toEqual({});
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "a form that changes a key is open again, with its text, after it was sent with an ended session",
    async () => {
      const client = dashboardClient(app);
      await client.post("/login", { username_or_email: NAME, password: PASSWORD });
      await client.post("/keys", { name: "old-name" });
      const { page, context, go, signIn } = await open();
      await go("/login");
      await signIn();
      await go("/keys");
      await page.getByRole("button", { name: "Edit old-name" }).click();
      const name = page.getByRole("form", { name: "Edit old-name" }).getByLabel("Name");
      await name.fill("new-name");
      await endSessions();
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("You are signed out.").waitFor();
      await signIn();
      await name.waitFor();
      expect(await name.inputValue()).toBe("new-name");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("The key new-name is changed.").waitFor();
      // Input that was sent is deleted.
      await page.reload();
      await page.getByRole("button", { name: "Edit new-name" }).waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("");
      await context.close();
    },
    SLOW_MS,
  );

  test(
    "signing out deletes the input, and no password is stored",
    async () => {
      const { page, context, go, signIn } = await open();
      const stored = () => page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }));
      await go("/login");
      await signIn();
      await go("/account");
      await page.getByLabel("Current password").fill("a typed password");
      // A password that is shown has an input of another type.
      await page.getByRole("button", { name: "Show" }).first().click();
      await page.getByLabel("Current password").fill("a shown password");
      expect(await stored()).not.toMatch(/a (typed|shown) password/);
      await go("/keys");
      await page.getByLabel("Name").fill("a private note");
      expect(await stored()).toContain("a private note");
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(await stored()).not.toContain("a private note");
      expect(await stored()).not.toContain("a typed password");
      await context.close();
    },
    SLOW_MS,
  );
});

const FIELDS = 'input:not([type="checkbox"], [type="radio"], [type="file"], [type="password"], [readonly]), textarea';

/** Opens every `details` element and writes into each field. Returns the texts by the index of the field. */
async function typeEverywhere(page: Page, seed: number): Promise<Record<string, string>> {
  const typed: Record<string, string> = {};
  const tabs = page.getByRole("tablist", { name: "What to try" }).getByRole("tab");
  // The tab that was selected last is selected again.
  for (let tab = 0; tab < Math.max(1, await tabs.count()); tab++) {
    if ((await tabs.count()) > 0) await tabs.nth(tab).click();
    await page.evaluate(() => {
      for (const one of document.querySelectorAll("main details")) (one as HTMLDetailsElement).open = true;
    });
    const fields = page.locator("main").locator(FIELDS);
    for (let at = 0; at < (await fields.count()); at++) {
      const field = fields.nth(at);
      if (!(await field.isVisible())) continue;
      const type = await field.getAttribute("type");
      const text = type === "number" ? "1" : type === "date" ? "2031-02-03" : `typed ${seed} ${at}`;
      await field.fill(text);
      typed[String(at)] = text;
    }
  }
  return typed;
}

/** Fields with another text than expected: label → text. */
function differences(page: Page, typed: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  return page.evaluate(
    ({ wanted, fields }) => {
      const all = [...document.querySelectorAll<HTMLInputElement>(fields)].filter(
        (one) => one.closest("main") !== null,
      );
      const wrong: Record<string, string> = {};
      for (const [at, text] of Object.entries(wanted)) {
        const field = all[Number(at)];
        const isFolded = field?.closest("details:not([open])") != null;
        if (field?.value === text && !isFolded) continue;
        wrong[`${field?.labels?.[0]?.textContent} #${at}`] = isFolded ? "folded" : (field?.value ?? "gone");
      }
      return wrong;
    },
    { wanted: typed, fields: FIELDS },
  );
}
