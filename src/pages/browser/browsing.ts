// The steps that a caller wants done with a page in the browser before it is read: waiting, clicking, typing, scrolling, taking
// pictures. The requests that a step causes are checked like those of the page itself, and all steps share the page's time limit.

import type { Page } from "playwright-core";
import { PageError } from "../page-error.ts";
import { type PictureOptions, photograph, type ReadLimits, readHtml, within } from "./read-page.ts";

/** One step. */
export type BrowserAction =
  | { readonly type: "wait"; readonly milliseconds: number }
  | { readonly type: "wait for"; readonly selector: string }
  | ({ readonly type: "screenshot"; readonly fullPage: boolean } & PictureOptions)
  | { readonly type: "click"; readonly selector: string; readonly all: boolean }
  | { readonly type: "write"; readonly text: string }
  | { readonly type: "press"; readonly key: string }
  | { readonly type: "scroll"; readonly direction: "up" | "down"; readonly selector: string | undefined }
  | { readonly type: "scrape" }
  | { readonly type: "script"; readonly script: string }
  | { readonly type: "pdf"; readonly format: string; readonly landscape: boolean; readonly scale: number };

/** Options for showing a page. */
export interface Browsing {
  /** The page is shown in a browser even if its HTML could be read without one. */
  readonly mustShow: boolean;
  /** How long to wait after the page has settled. */
  readonly waitMs: number;
  readonly isMobile: boolean;
  /** A language tag as in `navigator.language`; if undefined, the browser's own is used. */
  readonly locale: string | undefined;
  readonly blocksAds: boolean;
  readonly actions: readonly BrowserAction[];
  /** Options of the screenshot that the caller requested as an output format. */
  readonly picture: PictureOptions;
  /** Headers that are sent with every request to the page's own origin. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The results of the steps. */
export interface Acted {
  /** Images as PNG or JPEG. */
  readonly screenshots: readonly Uint8Array[];
  readonly scrapes: readonly { readonly url: string; readonly html: string }[];
  readonly scriptReturns: readonly { readonly type: string; readonly value: unknown }[];
  readonly pdfs: readonly Uint8Array[];
}

/** Maximum size of the results of all steps together. */
const RESULT_BYTES_MAX = 64 * 1024 * 1024;
/** Maximum length of the result of one script, as JSON. */
const SCRIPT_CHARS_MAX = 1024 * 1024;
/** How long the effects of a click or key may take before the next step. */
const AFTER_STEP_MS = 100;
/** Maximum number of elements that one step with `all` clicks. */
const CLICKS_MAX = 50;

/** Performs the steps in order. Throws `PageError`. */
export async function act(
  page: Page,
  actions: readonly BrowserAction[],
  limits: ReadLimits & { readonly bytesMax: number; readonly check: () => void },
): Promise<Acted> {
  const acted: Mutable = { screenshots: [], scrapes: [], scriptReturns: [], pdfs: [] };
  let bytesLeft = RESULT_BYTES_MAX;
  const spend = (bytes: number) => {
    bytesLeft -= bytes;
    if (bytesLeft < 0) throw new PageError("too_large", "The results of the actions are larger than allowed.");
  };
  for (const [index, action] of actions.entries()) {
    limits.signal.throwIfAborted();
    limits.check();
    try {
      await within(limits.leftMs(), step(page, action, { ...limits, acted, spend }));
    } catch (error) {
      limits.signal.throwIfAborted();
      limits.check();
      if (error instanceof PageError && error.fault !== "timeout") throw error;
      throw asStepFailure(error, index, action);
    }
  }
  return acted;
}

type Mutable = { -readonly [Name in keyof Acted]: Acted[Name][number][] };

type Stepping = ReadLimits & {
  readonly bytesMax: number;
  readonly acted: Mutable;
  readonly spend: (bytes: number) => void;
};

async function step(page: Page, action: BrowserAction, at: Stepping): Promise<void> {
  const timeout = at.leftMs();
  switch (action.type) {
    case "wait":
      return pauseIn(page, action.milliseconds);
    case "wait for":
      return page.locator(`css=${action.selector}`).first().waitFor({ state: "visible", timeout });
    case "click":
      await click(page, action, timeout);
      return pauseIn(page, AFTER_STEP_MS);
    case "write":
      return page.keyboard.insertText(action.text);
    case "press":
      await page.keyboard.press(action.key);
      return pauseIn(page, AFTER_STEP_MS);
    case "scroll":
      await scroll(page, action);
      return pauseIn(page, AFTER_STEP_MS);
    default:
      return take(page, action, at);
  }
}

async function click(page: Page, action: { selector: string; all: boolean }, timeout: number): Promise<void> {
  const found = page.locator(`css=${action.selector}`);
  if (!action.all) return found.first().click({ timeout });
  const count = Math.min(CLICKS_MAX, await found.count());
  for (let index = 0; index < count; index++) await found.nth(index).click({ timeout });
}

async function scroll(
  page: Page,
  { direction, selector }: { direction: "up" | "down"; selector: string | undefined },
): Promise<void> {
  const sign = direction === "up" ? -1 : 1;
  const source = `({ selector, sign }) => {
    const found = selector === null ? null : document.querySelector(selector);
    if (selector !== null && found === null) throw new Error("nothing to scroll");
    if (found === null) window.scrollBy(0, sign * window.innerHeight);
    else found.scrollBy(0, sign * found.clientHeight);
  }`;
  await page.evaluate(`(${source})(${JSON.stringify({ selector: selector ?? null, sign })})`);
}

/** Performs a step that has a result. */
async function take(
  page: Page,
  action: Extract<BrowserAction, { type: "screenshot" | "scrape" | "script" | "pdf" }>,
  at: Stepping,
): Promise<void> {
  const { acted, spend } = at;
  if (action.type === "screenshot") {
    const picture = await photograph(page, at, action.fullPage ? "full" : "viewport", action);
    spend(picture.byteLength);
    acted.screenshots.push(picture);
  } else if (action.type === "scrape") {
    const html = await readHtml(page, at, at.bytesMax);
    spend(html.length);
    acted.scrapes.push({ url: page.url(), html });
  } else if (action.type === "pdf") {
    const { format, landscape, scale } = action;
    const bytes = new Uint8Array(await page.pdf({ format, landscape, scale }));
    spend(bytes.byteLength);
    acted.pdfs.push(bytes);
  } else {
    const value = await page.evaluate<unknown>(action.script);
    const text = JSON.stringify(value) ?? "null";
    if (text.length > SCRIPT_CHARS_MAX)
      throw new PageError("too_large", "The result of a script among the actions is larger than allowed.");
    spend(text.length);
    acted.scriptReturns.push({ type: value === null ? "null" : typeof value, value: JSON.parse(text) });
  }
}

/** Waits by Playwright's own clock, since the page's clock may be stopped. */
async function pauseIn(page: Page, ms: number): Promise<void> {
  await page.waitForTimeout(ms);
}

function asStepFailure(error: unknown, index: number, action: BrowserAction): PageError {
  const name = action.type === "wait for" ? "wait" : action.type;
  const isLate = error instanceof PageError || /Timeout/i.test(String(error));
  const text = isLate
    ? `actions[${index}] (${name}) did not finish in time.`
    : `actions[${index}] (${name}) could not be done on this page.`;
  return new PageError(isLate ? "timeout" : "action", text, { cause: error });
}
