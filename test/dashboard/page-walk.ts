// Walks the pages of the dashboard, by their list.

import { join } from "node:path";
import type { Page, Request } from "playwright-core";
import { PAGES, pageAt } from "../../src/dashboard/contract-pages.ts";

/** The pages' folder. */
export const UI = join(import.meta.dir, "../../src/dashboard/ui");

/** An address of a page whose path has a `*`; `ID` is replaced with an account's id. */
const EXAMPLES = ["/admin/accounts/ID", "/admin/decisions/judge-1.2.0"];
/** Pages for guests redirect members to the page that they wanted. */
export const GUEST = ["/login", "/signup", "/forgot"];

/** A page counts as loaded after this number of frames without a request in progress. */
const QUIET_FRAMES = 4;

/** An address for each page. */
export function addresses(): string[] {
  return Object.values(PAGES).map(({ paths: [path] }) => {
    if (!path.includes("*")) return path;
    const known = EXAMPLES.find((one) => PAGES_BY_PATH.get(pageAt(one)) === path);
    // Otherwise the object in the address does not exist. The page must say so, and fit into the window.
    return known ?? path.replaceAll("*", "one-that-is-gone");
  });
}

const PAGES_BY_PATH = new Map<string | undefined, string>(
  Object.entries(PAGES).map(
    ([
      name,
      {
        paths: [path],
      },
    ]) => [name, path],
  ),
);

/** Returns a function that waits until the page has its heading and its data. */
export function arrivals(page: Page): () => Promise<void> {
  const under = new Set<Request>();
  let begun = 0;
  page.on("request", (request) => {
    under.add(request);
    begun++;
  });
  page.on("requestfinished", (request) => void under.delete(request));
  page.on("requestfailed", (request) => void under.delete(request));
  return async () => {
    // An answer may lead to further requests.
    for (let before: number | undefined; before !== begun || under.size > 0; ) {
      before = begun;
      await page.evaluate(quietFrames, QUIET_FRAMES);
    }
  };
}

/** Resolves in the page when it shows a heading, some frames later. A locator would send its own library to every document. */
function quietFrames(frames: number): Promise<void> {
  return new Promise((resolve) => {
    let left = frames;
    const look = () => {
      if (document.querySelector("h1")?.checkVisibility() === true) left--;
      if (left < 0) resolve();
      else requestAnimationFrame(look);
    };
    look();
  });
}
