// Checks every page of the dashboard's list (contract-pages.ts) in a real browser: axe finds no violation, nothing is wider
// than the window, a heading names the page, the keyboard reaches every control, and nothing moves while the page
// loads. A page whose path names an object may have an example in EXAMPLES.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { bundle } from "../../src/dashboard/server/bundle.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { faults } from "../support/axe.ts";
import { CHROMIUM, startBrowser, type TestBrowser } from "../support/browser.ts";
import { DECISION_CONFIG, seedVersions } from "./decision-versions.ts";
import { addresses, arrivals, GUEST, UI } from "./page-walk.ts";
import { spend } from "./spent.ts";

const SLOW_MS = 240_000;

const NAME = "a-member-with-a-name-of-some-length-that-must-fit";
/** Further addresses of pages that show several kinds of things. */
const MORE = ["/admin/decisions/judge-1.1.0"];
/** The headings of pages that would be missing, or be others, without what was stored for them. */
const HEADINGS: Readonly<Record<string, string>> = {
  "/admin": "Gateway",
  "/admin/accounts": "Accounts",
  "/admin/accounts/ID": NAME,
  "/admin/models": "Models",
  "/admin/decisions": "Decisions",
  "/admin/decisions/judge-1.1.0": "judge-1.1.0",
  "/admin/decisions/judge-1.2.0": "judge-1.2.0",
};

const HEIGHT = 844;
/** How axe sees every page: as on a desktop, and as on a phone at night. */
const LOOKS = [
  { width: 1440, media: { colorScheme: "light", reducedMotion: "no-preference" } },
  { width: 390, media: { colorScheme: "dark", reducedMotion: "reduce" } },
] as const;
/** The limit of layout shift that counts as good: https://web.dev/articles/cls */
const SHIFT_MAX = 0.1;

test("each page has an address of its own", () => {
  const found = addresses();
  expect(found.length).toBeGreaterThan(15);
  expect(found).toContain("/admin/accounts/ID");
  expect(new Set(found).size).toBe(found.length);
});

test("the first page has at most 150 KB, compressed, and what is opened later is loaded later", async () => {
  const { script, style, files } = await bundle();
  const first = new Set([script, style]);
  const text = async (name: string) =>
    Buffer.from(Bun.gunzipSync((await files.get(name)!.bytes()) as Uint8Array<ArrayBuffer>)).toString();
  for (const name of first) {
    if (!name.endsWith(".js")) continue;
    for (const [, chunk] of (await text(name)).matchAll(/(?:^|[;}])import[^(;]*?"[^"]*\/([\w.-]+\.js)"/g))
      first.add(chunk ?? "");
  }
  let bytes = 0;
  for (const name of first) bytes += (await files.get(name)!.bytes()).byteLength;
  expect(bytes).toBeLessThanOrEqual(150_000);
  // Each lazily loaded page is a separate file.
  const source = await Bun.file(join(UI, "app.tsx")).text();
  const lazy = [...source.matchAll(/lazy\(\(\) => import\("([^"]+)"\)/g)];
  expect(lazy.length).toBeGreaterThan(8);
  expect([...files.keys()].filter((name) => name.endsWith(".js") && !first.has(name)).length).toBeGreaterThanOrEqual(
    lazy.length,
  );
  // Pages for operators are not part of the files that everybody loads.
  expect(source).not.toMatch(/^import .*pages\/admin\//m);
});

describe.skipIf(CHROMIUM === undefined)("in a browser", () => {
  let app: AccountsApp;
  let browser: TestBrowser;
  let accountId: string;

  beforeAll(async () => {
    [app, browser] = await Promise.all([startAccountsApp({ config: DECISION_CONFIG }), startBrowser()]);
    await seedVersions(app.store);
    accountId = (await app.addAccount(NAME, { admin: true })).id;
    await spend(app, 1, { accountId, model: "some-model" });
  }, SLOW_MS);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  async function open(options: { width: number; dark: boolean }) {
    const visitor = await browser.visitor({ ...options, address: freshAddress() });
    const { page } = visitor;
    const arrived = arrivals(page);
    const urlOf = (path: string) => `${app.app.url}/dashboard${path.replace("ID", accountId)}`;
    const go = async (path: string) => {
      await page.goto(urlOf(path));
      await arrived();
    };
    /** Goes to a page as the browser's Back does, which loads no new document. */
    const turnTo = async (path: string, title: string) => {
      await page.evaluate((url) => {
        history.pushState(null, "", url);
        dispatchEvent(new PopStateEvent("popstate"));
      }, urlOf(path));
      await page.waitForFunction((wanted) => document.title === wanted, title);
      await arrived();
    };
    const signIn = async () => {
      await go("/login");
      await page.getByLabel("Username").fill(NAME);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
    };
    return { ...visitor, go, turnTo, signIn };
  }

  // Loading a page takes longer than looking at it, so each walk looks at everything that it can.
  test.each([
    { width: 1440, dark: false, others: [1100, 768], further: [unreachedBy, unmarkedIn], judged: LOOKS },
    // Movement is watched from the start of a page on.
    { width: 390, dark: true, others: [360, 320], reducedMotion: "reduce", further: [movingIn], judged: [] },
  ] as const)(
    "at $width px, dark: $dark: every page fits, has its heading, does not jump, and axe knows no fault with $judged.length looks",
    async ({ width, dark, others, further, judged, ...motion }) => {
      const { page, complaints, context, go, turnTo, signIn } = await open({ width, dark });
      await page.emulateMedia(motion);
      const all = [...addresses(), ...MORE];
      const found: Record<string, string[]> = {};
      const titles = new Map<string, string>();
      const look = async (path: string) => {
        await page.setViewportSize({ width, height: HEIGHT });
        await go(path);
        titles.set(path, await page.title());
        found[path] = [...(await jumps(page)), ...(await wrongIn(page))];
        const heading = HEADINGS[path];
        if (heading !== undefined && (await page.getByRole("heading", { name: heading, level: 1 }).count()) !== 1)
          found[path].push(`no heading ${heading}`);
        if (!GUEST.includes(path)) for (const one of further) found[path].push(...(await one(page)));
        await page.emulateMedia({ colorScheme: dark ? "light" : "dark" });
        for (const other of others) {
          await page.setViewportSize({ width: other, height: HEIGHT });
          found[path].push(...(await wrongIn(page)).map((wrong) => `${wrong} at ${other} px`));
        }
        await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
      };
      // The rules of axe are compiled anew for each document, so the pages are opened once more in a single one.
      const judge = async (paths: readonly string[]) => {
        if (judged.length > 0) await go(paths[0] ?? "/");
        // What a page shows at first may depend on the width, so it is turned to anew for each look.
        for (const look of judged) {
          await page.setViewportSize({ width: look.width, height: HEIGHT });
          await page.emulateMedia(look.media);
          for (const path of paths) {
            await turnTo(path, titles.get(path) ?? "");
            found[path]?.push(...(await faults(page)).map((fault) => `${fault} at ${look.width} px`));
          }
        }
        await page.emulateMedia({ colorScheme: dark ? "dark" : "light", ...motion });
      };
      const [guests, members] = [true, false].map((isGuest) => all.filter((one) => GUEST.includes(one) === isGuest));
      for (const path of guests ?? []) await look(path);
      await judge(guests ?? []);
      await signIn();
      for (const path of members ?? []) await look(path);
      await judge(members ?? []);
      expect(Object.fromEntries(Object.entries(found).filter(([, wrong]) => wrong.length > 0))).toEqual({});
      expect(Object.keys(found)).toHaveLength(all.length);
      expect(complaints).toEqual([]);
      await context.close();
    },
    SLOW_MS,
  );
});

/** With reduced motion nothing moves. */
async function movingIn(page: Page): Promise<string[]> {
  const animations = await page.evaluate(() => document.getAnimations().length);
  return animations === 0 ? [] : [`${animations} animations in spite of reduced motion`];
}

/** With forced colours the entry of the menu that is chosen still stands out. */
async function unmarkedIn(page: Page): Promise<string[]> {
  await page.emulateMedia({ forcedColors: "active" });
  const chosen = await page.evaluate(() => {
    const entry = document.querySelector('nav [aria-current="page"]');
    const other = document.querySelector('nav a:not([aria-current="page"])');
    if (entry === null || other === null) return true;
    const look = (element: Element) => {
      const { backgroundColor, borderColor, outlineStyle, color } = getComputedStyle(element);
      return [backgroundColor, borderColor, outlineStyle, color].join();
    };
    return look(entry) !== look(other);
  });
  await page.emulateMedia({ forcedColors: "none" });
  return chosen ? [] : ["with forced colours the menu's entry looks like the others"];
}

/** Faults that no page may have: a part that is wider than the window, no first-level heading, or more than one. */
function wrongIn(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const wrong: string[] = [];
    if (document.documentElement.scrollWidth > innerWidth) {
      const wide = [...document.querySelectorAll("main *")].find(
        (one) => one.getBoundingClientRect().right > innerWidth + 1,
      );
      wrong.push(`wider than the window: ${wide?.tagName} ${wide?.className}`);
    }
    // A long name must not push the button beside it out of the menu, nor a long code the last column out of its table.
    const boxes = innerWidth > 1400 ? ".foot, .table-card" : ".foot";
    for (const box of document.querySelectorAll(boxes))
      if (box.scrollWidth > box.clientWidth) wrong.push(`a part of ${box.className} is hidden`);
    const headings = document.querySelectorAll("h1");
    if (headings.length !== 1 || headings[0]?.textContent === "") wrong.push(`${headings.length} headings`);
    if (!document.title.includes("·")) wrong.push(`title ${document.title}`);
    return wrong;
  });
}

/** The layout shift of a page while it was loaded, if it is large enough to be noticed. */
async function jumps(page: Page): Promise<string[]> {
  const sum = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const observer = new PerformanceObserver((list) => {
          const shifts = list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[];
          resolve(shifts.reduce((all, { value, hadRecentInput }) => all + (hadRecentInput ? 0 : value), 0));
          observer.disconnect();
        });
        observer.observe({ type: "layout-shift", buffered: true });
        // The observer is not called if nothing has shifted.
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(0)));
      }),
  );
  return sum > SHIFT_MAX ? [`jumps by ${sum.toFixed(2)}`] : [];
}

/** The keys between two looks at what they reached. */
const TABS_AT_ONCE = 10;

/** The numbers of the controls that had the focus, and those that did not show it. */
interface Seen {
  readonly reached: string[];
  readonly plain: string[];
}

/** Controls of a page that Tab does not reach, or that look the same with the focus. */
async function unreachedBy(page: Page): Promise<string[]> {
  const count = await page.evaluate(() => {
    const controls = [...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter(
      (one) =>
        one instanceof HTMLElement &&
        one.checkVisibility({ visibilityProperty: true }) &&
        !(one as HTMLButtonElement).disabled &&
        one.tabIndex >= 0 &&
        // Only one radio button of a group is reached with Tab.
        !(one instanceof HTMLInputElement && one.type === "radio"),
    );
    for (const [index, one] of controls.entries()) (one as HTMLElement).dataset["stop"] = String(index);
    const seen: Seen = { reached: [], plain: [] };
    (globalThis as unknown as { seen: Seen }).seen = seen;
    document.addEventListener("focusin", ({ target }) => {
      const stop = target instanceof HTMLElement ? target.dataset["stop"] : undefined;
      if (!(target instanceof HTMLElement) || stop === undefined || seen.reached.includes(stop)) return;
      seen.reached.push(stop);
      const { outlineStyle, boxShadow } = getComputedStyle(target);
      if (outlineStyle === "none" && boxShadow === "none")
        seen.plain.push(`no focus to see: ${target.tagName} ${target.textContent?.trim().slice(0, 30)}`);
    });
    document.body.tabIndex = -1;
    document.body.focus();
    return controls.length;
  });
  let seen: Seen = { reached: [], plain: [] };
  for (let presses = 0; presses < count * 2 + 10 && seen.reached.length < count; presses += TABS_AT_ONCE) {
    for (let press = 0; press < TABS_AT_ONCE; press++) await page.keyboard.press("Tab");
    seen = await page.evaluate(() => (globalThis as unknown as { seen: Seen }).seen);
  }
  const missed = await page.evaluate(
    (stops) =>
      [...document.querySelectorAll<HTMLElement>("[data-stop]")]
        .filter((one) => !stops.includes(one.dataset["stop"] ?? ""))
        .map((one) => `not reached: ${one.tagName} ${one.textContent?.trim().slice(0, 30)}`),
    seen.reached,
  );
  return [...seen.plain, ...missed];
}
