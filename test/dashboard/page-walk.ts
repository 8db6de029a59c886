// Walks the pages of the dashboard, which it reads from the list in ui/app.tsx.

import { join } from "node:path";
import type { Page, Request } from "playwright-core";

/** The pages' folder. */
export const UI = join(import.meta.dir, "../../src/dashboard/ui");

/** An address for a pattern that matches several; `ID` is replaced with an account's id. */
const EXAMPLES = ["/admin/accounts/ID", "/admin/decisions/judge-1.2.0"];
/** Pages for guests redirect members to the page that they wanted. */
export const GUEST = ["/login", "/signup", "/forgot"];

/** A page counts as loaded after this number of frames without a request in progress. */
const QUIET_FRAMES = 4;

/** The patterns of `ROUTES`, as written in the source. */
async function patterns(): Promise<RegExp[]> {
  const source = await Bun.file(join(UI, "app.tsx")).text();
  return [...source.matchAll(/path: \/(\^.*?\$)\/,/g)].map(([, pattern]) => new RegExp(pattern ?? "", ""));
}

/** An address for each page. */
export async function addresses(): Promise<string[]> {
  return (await patterns()).map((pattern) => {
    const plain = pattern.source.slice(1, -1).replaceAll("\\/", "/");
    if (/^[/\w-]*$/.test(plain)) return plain;
    // The object in the address does not exist. The page must say so, and fit into the window.
    const nothing = plain.replaceAll("[^/]+", "one-that-is-gone").replaceAll(/\(\?:\w+\)\?/g, "");
    const example = EXAMPLES.find((one) => pattern.test(one)) ?? nothing;
    if (!pattern.test(example)) throw new Error(`${pattern}: add an address of this page to EXAMPLES`);
    return example;
  });
}

/** Returns a function that waits until the page has its heading and its data. */
export function arrivals(page: Page): () => Promise<void> {
  const under = new Set<Request>();
  page.on("request", (request) => void under.add(request));
  page.on("requestfinished", (request) => void under.delete(request));
  page.on("requestfailed", (request) => void under.delete(request));
  return async () => {
    await page.getByRole("heading", { level: 1 }).waitFor();
    // An answer may lead to further requests.
    for (let quiet = 0; quiet < QUIET_FRAMES; quiet = under.size > 0 ? 0 : quiet + 1)
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  };
}
