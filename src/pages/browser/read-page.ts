// Waits until a shown page has settled, and captures what a reader would see: its HTML with frames and shadow roots, and a
// screenshot. Every step has a time limit, and every result a size limit.

import type { Frame, Page } from "playwright-core";
import { PageError } from "../page-error.ts";
import type { Activity } from "./activity.ts";
import { withFrames } from "./frames.ts";
import {
  DISMISS_CONSENT,
  FRAME_BODY,
  IS_WHOLE,
  PAGE_HEIGHT,
  SCROLL_THROUGH,
  SERIALIZE,
  WAIT_FOR_DRAWING,
  WAIT_FOR_IMAGES,
  WAIT_UNTIL_QUIET,
} from "./in-page.ts";
import { VIEWPORT } from "./open-page.ts";

/** Time reserved for reading the page after the wait. */
export const READING_MS = 1500;

/** Maximum height of a screenshot, as Chromium cannot draw taller images. */
const SCREENSHOT_HEIGHT_MAX = 16_000;
/** Maximum size of a screenshot; an image of noise at the largest dimensions would have 80 MB. */
const SCREENSHOT_BYTES_MAX = 32 * 1024 * 1024;
/** Interval at which a page is asked whether it is complete. Most pages are complete before the first time. */
const WHOLE_ASKED_MS = 500;
const FAILURES_MAX = 3;
const FAILURE_PAUSE_MS = 50;
/** Maximum wait for a page that keeps fetching. */
const SETTLING_MS_MAX = 8000;
/** Maximum wait for a page that shows only a loading indicator. */
const DRAWING_MS_MAX = 3000;
const QUIET = { quietMs: 250, maxMs: 5000 };
const SCROLL = { steps: 12, pauseMs: 60 };
const SCROLL_FOR_PICTURE = { steps: 25, pauseMs: 120 };
/** How often a list that loads more entries at its end is scrolled to its end. */
const SCROLLS_MAX = 3;
const IMAGES_WAIT_MS = 4000;
const FRAMES_MAX = 5;
const FRAMES_ASKED_MAX = 20;
const FRAME_CHARS_MAX = 500_000;
/** A page can settle before its frames have loaded. This is the additional time for all of them together. */
const FRAMES_ARRIVE_MS = 1000;
const FRAME_ASKED_MS = 50;
/** Frames with less text are skipped: they are counters, buttons or advertisements. */
const FRAME_TEXT_MIN = 100;
/** Time limit for a function inside the page, as it may hang. */
const STEP_TIMEOUT_MS = 10_000;

/** What reading a page depends on: the time left, the abort signal, and the page's network activity. */
export interface ReadLimits {
  readonly leftMs: () => number;
  readonly signal: AbortSignal;
  readonly activity: Activity;
}

/**
 * Resolves when the document is complete even if no event said so: a page that navigates to a download, a mail program or a
 * response without content stops loading and never fires its load event. Stops polling when `signal` aborts.
 */
export async function wholeDocument(page: Page, signal: AbortSignal): Promise<void> {
  const isWhole = () => page.evaluate<unknown>(call(IS_WHOLE, null)).catch(() => false);
  for (;;) {
    await Bun.sleep(WHOLE_ASKED_MS);
    if (signal.aborted) return;
    if (page.url().startsWith("http") && (await isWhole()) === true) return;
  }
}

/** What a page is shown for: its text alone, steps of the caller, or a screenshot. */
export type ShownFor = "text" | "steps" | "picture";

/** Waits until the page stops changing, within the time left. */
export async function settle(page: Page, reading: ReadLimits, purpose: ShownFor): Promise<void> {
  const { leftMs, signal, activity } = reading;
  const timeLeft = () => leftMs() - READING_MS;
  const step = async (source: string, argument: unknown, maxMs: number): Promise<unknown> => {
    if (timeLeft() <= 0) return undefined;
    const work = page.evaluate<unknown>(call(source, argument));
    const result = await within(Math.min(maxMs, timeLeft()), work).catch(() => undefined);
    signal.throwIfAborted();
    return result;
  };
  const quiet = async (): Promise<void> => {
    const endsMs = performance.now() + SETTLING_MS_MAX;
    let failures = 0;
    for (let isBusy = true; isBusy && performance.now() < endsMs && timeLeft() > 0; ) {
      isBusy = activity.isFetching();
      const isQuiet = await step(
        WAIT_UNTIL_QUIET,
        { ...QUIET, maxMs: Math.min(QUIET.maxMs, Math.max(1, timeLeft())) },
        QUIET.maxMs + 500,
      );
      // A page that navigates is asked again. A page that was closed is given up after a few failures.
      if (isQuiet !== true && ++failures > FAILURES_MAX) return;
      if (isQuiet !== true) await Bun.sleep(FAILURE_PAUSE_MS);
      // Data that arrived during the quiet period may be about to be rendered.
      isBusy ||= activity.isFetching();
    }
  };
  await quiet();
  // An application that has rendered nothing yet may be waiting for a timer or for an open channel.
  if ((await step(WAIT_FOR_DRAWING, DRAWING_MS_MAX, DRAWING_MS_MAX + 500)) === true) await quiet();
  const scrolling = { ...(purpose === "picture" ? SCROLL_FOR_PICTURE : SCROLL), isForText: purpose === "text" };
  // A list that loads more at its end must be scrolled again, to its new end.
  for (let round = 0, isFed = true; isFed && round < SCROLLS_MAX; round++) {
    const before = activity.count();
    const hasMoved = await step(SCROLL_THROUGH, scrolling, STEP_TIMEOUT_MS);
    // A page that fits on one screen, or that nothing watches, is not scrolled.
    if (hasMoved !== false) await quiet();
    isFed = hasMoved !== false && activity.count() > before;
  }
  if (purpose === "picture") await step(WAIT_FOR_IMAGES, IMAGES_WAIT_MS, IMAGES_WAIT_MS + 500);
  await step(DISMISS_CONSENT, null, STEP_TIMEOUT_MS);
}

/** The HTML of the page as it is now. Throws `PageError` `too_large`. */
export async function readHtml(page: Page, { leftMs }: ReadLimits, bytesMax: number): Promise<string> {
  const ask = () => page.evaluate<unknown>(call(SERIALIZE, bytesMax));
  // If the page navigates while it is read, it is read once more.
  const html = await within(Math.min(STEP_TIMEOUT_MS, leftMs()), ask().catch(ask));
  if (typeof html !== "string" || Buffer.byteLength(html) > bytesMax)
    throw new PageError("too_large", "The page is larger than allowed.");
  const bodies = new Map<string, string>();
  const frames = page.frames().filter((frame) => frame.parentFrame() === page.mainFrame());
  let room = bytesMax - Buffer.byteLength(html);
  const arrivedByMs = performance.now() + Math.min(FRAMES_ARRIVE_MS, leftMs() / 2);
  for (const frame of frames.slice(0, FRAMES_ASKED_MAX)) {
    if (bodies.size >= FRAMES_MAX || leftMs() < 200) break;
    const found = await within(Math.min(1000, leftMs()), readFrame(frame, arrivedByMs)).catch(() => undefined);
    if (found === undefined || Buffer.byteLength(found.body) > room) continue;
    bodies.set(found.number, found.body);
    room -= Buffer.byteLength(found.body);
  }
  return withFrames(html, bodies);
}

/** A frame's number and body, if it has text. */
async function readFrame(frame: Frame, arrivedByMs: number): Promise<{ number: string; body: string } | undefined> {
  const element = await frame.frameElement();
  const number = await element.getAttribute("data-frame-number");
  if (number === null || !/^\d{1,4}$/.test(number)) return undefined;
  const isComing = /^(?:https?:|[^:]+$)/i.test((await element.getAttribute("src")) ?? "");
  while (isComing && isBlank(frame) && performance.now() < arrivedByMs) await Bun.sleep(FRAME_ASKED_MS);
  const body = await frame.evaluate<unknown>(call(FRAME_BODY, FRAME_CHARS_MAX));
  const isWorth = typeof body === "string" && body.replace(/<[^<>]*>/g, "").trim().length > FRAME_TEXT_MIN;
  return isWorth ? { number, body } : undefined;
}

/** Whether the frame's address has not loaded yet. */
function isBlank(frame: Frame): boolean {
  return frame.url() === "" || frame.url() === "about:blank";
}

/** Options of a screenshot. */
export interface PictureOptions {
  /** The quality of a JPEG; if absent, the screenshot is a PNG. */
  readonly quality?: number | undefined;
  /** The size of the window for the screenshot. */
  readonly viewport?: { readonly width: number; readonly height: number } | undefined;
}

/** Takes a screenshot as PNG, or as JPEG if a quality is given. Throws `PageError` `too_large`. */
export async function photograph(
  page: Page,
  { leftMs }: Pick<ReadLimits, "leftMs">,
  extent: "viewport" | "full",
  { quality, viewport }: PictureOptions = {},
): Promise<Uint8Array> {
  const timeout = leftMs();
  if (viewport !== undefined) await within(timeout, page.setViewportSize(viewport));
  const width = page.viewportSize()?.width ?? VIEWPORT.width;
  const height = Number(await page.evaluate<unknown>(call(PAGE_HEIGHT, null)).catch(() => 0)) || VIEWPORT.height;
  const whole = { x: 0, y: 0, width, height: Math.min(SCREENSHOT_HEIGHT_MAX, Math.max(1, height)) };
  const picture = await page.screenshot({
    ...(quality === undefined ? { type: "png" } : { type: "jpeg", quality }),
    timeout,
    ...(extent === "full" ? { fullPage: true, clip: whole } : {}),
  });
  if (picture.byteLength > SCREENSHOT_BYTES_MAX)
    throw new PageError("too_large", "The picture of the page is larger than allowed.");
  return picture;
}

function call(source: string, argument: unknown): string {
  return `(${source})(${JSON.stringify(argument)})`;
}

/** Returns the result of `work`. Throws `PageError` `timeout` if it takes longer than `ms`. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new PageError("timeout", "The page did not answer in time.")), Math.max(1, ms));
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
