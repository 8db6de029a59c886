// Whether a page is still fetching what it draws with. A request that takes long counts as a channel that is kept open.

import type { Page, Request } from "playwright-core";

/** Kinds of requests whose answers become text. */
const DRAWING = new Set(["script", "xhr", "fetch"]);
/** Answers that come later than this are not waited for. */
const ANSWER_MS_MAX = 4000;

/** What a page has fetched, and fetches. */
export interface Activity {
  /** Some of it is in progress. */
  isFetching(): boolean;
  /** Requests so far. */
  count(): number;
}

/** Watches from now on. */
export function watchActivity(page: Page): Activity {
  const sinceMs = new Map<Request, number>();
  let count = 0;
  page.on("request", (request) => {
    if (!DRAWING.has(request.resourceType())) return;
    count++;
    sinceMs.set(request, performance.now());
  });
  const ended = (request: Request) => void sinceMs.delete(request);
  page.on("requestfinished", ended);
  page.on("requestfailed", ended);
  return {
    count: () => count,
    isFetching: () => {
      const nowMs = performance.now();
      for (const startMs of sinceMs.values()) if (nowMs - startMs < ANSWER_MS_MAX) return true;
      return false;
    },
  };
}
