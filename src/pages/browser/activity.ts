// Tells whether a page is still fetching what it renders. A request that runs for long is taken for an open channel and is not
// waited for.

import type { Page, Request } from "playwright-core";

/** Types of requests whose responses may become text of the page. */
const DRAWING = new Set(["script", "xhr", "fetch"]);
/** A response that takes longer than this is not waited for. */
const ANSWER_MS_MAX = 4000;

/** The network activity of a page. */
export interface Activity {
  /** Whether a request is in progress. */
  isFetching(): boolean;
  /** Number of requests so far. */
  count(): number;
}

/** Starts watching the requests of a page. */
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
