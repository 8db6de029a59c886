// Applies the rules of axe (WCAG 2.2 A and AA, and its best practices) to a page in a real browser.

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

/** The small edition: each document in which pages are judged receives and compiles it anew. */
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** The violations that axe finds, each with its place. */
export async function faults(page: Page): Promise<string[]> {
  // Injected with the debugger protocol, since the page itself may run only its own files. It stays as long as the document.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    // The colours on the way to another colour are nobody's choice.
    for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const { violations } = await axe.run({ runOnly: tags, resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
  });
}
