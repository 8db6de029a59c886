// With the colours of the system in place of the page's, selections stay visible and charts keep their series apart, in a real
// browser.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { DECISION_CONFIG, seedVersions } from "./decision-versions.ts";
import { arrivals } from "./page-walk.ts";
import { spend } from "./spent.ts";

const SLOW_MS = 90_000;
const MODELS = ["one", "two", "three", "four", "five", "six"];

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  let app: AccountsApp;
  let browser: TestBrowser;

  beforeAll(async () => {
    [app, browser] = await Promise.all([startAccountsApp({ config: DECISION_CONFIG }), startBrowser()]);
    await seedVersions(app.store);
    const { id: accountId } = await app.addAccount("reader", { admin: true });
    for (const model of MODELS) await spend(app, 1, { accountId, model });
  }, SLOW_MS);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  test.each(["light", "dark"] as const)(
    "%s: swatches, series, progress and selections differ",
    async (scheme) => {
      const { page, context } = await browser.visitor({ dark: scheme === "dark", address: freshAddress() });
      await page.emulateMedia({ colorScheme: scheme, forcedColors: "active" });
      const arrived = arrivals(page);
      const go = async (path: string) => {
        await page.goto(`${app.app.url}/dashboard${path}`);
        await arrived();
      };
      await go("/login");
      await page.getByLabel("Username").fill("reader");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      await go("/?span=7d");
      expect(await page.locator(".legend").first().locator(".swatch").count()).toBe(5);
      expect(await alike(page)).toEqual([]);
      for (const path of ["/admin/decisions/judge-1.0.0", "/playground", "/web", "/keys", "/log"]) {
        await go(path);
        expect([path, await alike(page)]).toEqual([path, []]);
      }
      await context.close();
    },
    SLOW_MS,
  );
});

/** Pairs of elements that the reader must tell apart and that look the same. */
function alike(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const wrong: string[] = [];
    const canvas = getComputedStyle(document.body).backgroundColor;
    const look = (element: Element, names: readonly string[]) => {
      const style = getComputedStyle(element);
      return names.map((name) => style.getPropertyValue(name)).join(" ");
    };
    for (const legend of document.querySelectorAll(".legend")) {
      const swatches = [...legend.querySelectorAll(".swatch")].map((one) =>
        look(one, ["background-color", "border-color"]),
      );
      if (new Set(swatches).size < swatches.length) wrong.push(`swatches: ${swatches.join(", ")}`);
      for (const one of legend.querySelectorAll(".swatch")) {
        const plain = [canvas, "rgba(0, 0, 0, 0)"];
        const isDrawn = look(one, ["border-style"]) !== "none";
        if (plain.includes(look(one, ["background-color"])) && !isDrawn)
          wrong.push(`a swatch is invisible: ${one.className}`);
      }
    }
    // A series has the colour of its swatch.
    for (const mark of document.querySelectorAll("figure.chart rect:not(.reach)")) {
      const swatch = mark.closest("figure")?.querySelector(`.swatch.${mark.getAttribute("class")}`);
      if (swatch && look(mark, ["fill"]) !== look(swatch, ["background-color"]))
        wrong.push(`a series has another colour than its swatch: ${mark.getAttribute("class")}`);
    }
    const main = document.querySelector("main");
    const progress = document.createElement("progress");
    progress.value = 0.5;
    main?.append(progress);
    // The parts of a progress bar inherit it; their own styles cannot be read.
    if (look(progress, ["forced-color-adjust"]) !== "none") wrong.push("the parts of a progress bar have one colour");
    progress.remove();
    const SHOWN = ["background-color", "border-color", "outline-style", "color", "text-decoration-line"];
    for (const name of ["aria-pressed", "aria-selected", "aria-current"]) {
      for (const chosen of document.querySelectorAll(`[${name}="true"], [${name}="page"]`)) {
        const other = [...(chosen.parentElement?.children ?? [])].find(
          (one) => one.tagName === chosen.tagName && !["true", "page"].includes(one.getAttribute(name) ?? ""),
        );
        if (other !== undefined && look(chosen, SHOWN) === look(other, SHOWN))
          wrong.push(`${name}: ${chosen.textContent} looks as ${other.textContent}`);
      }
    }
    return wrong;
  });
}
