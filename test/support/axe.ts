// axe's rules (WCAG 2.2 A and AA, and its best practices) over a page in a real browser.

import axe from "axe-core";
import type { Page } from "playwright-core";

/** What axe finds, each with where. */
export async function faults(page: Page): Promise<string[]> {
  // Through the debugger: the page itself may run nothing but its own files.
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await axe.run({ runOnly: tags });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
  });
}
