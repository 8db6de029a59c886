// A page that is shown for its text alone is laid out as in a window, and nothing of it is drawn.

import { describe, expect, test } from "bun:test";
import { createBrowser } from "../../src/pages/browser/browser.ts";
import { openUnseen, VIEWPORT } from "../../src/pages/browser/open-page.ts";
import { CHROMIUM } from "../support/browser.ts";

const RED = `<body style="margin:0"><div style="width:1280px;height:3000px;background:red">red</div></body>`;
/** What a page can ask of the window that it is in. */
const LOOK = `[innerWidth, innerHeight, screen.width, devicePixelRatio, visualViewport.width, visualViewport.scale, visualViewport.pageTop,
  scrollY,
  document.body.firstElementChild.getBoundingClientRect().top, document.elementFromPoint(9, 9).tagName, document.visibilityState]`;
const IN_VIEW = `new Promise((resolve) => new IntersectionObserver(([entry], observer) => { observer.disconnect(); resolve(entry.intersectionRect.height); })
  .observe(document.body.firstElementChild))`;

describe.skipIf(CHROMIUM === undefined)("a page that nobody sees", () => {
  test("is laid out and observed as if it were seen, and not drawn", async () => {
    const shared = createBrowser({ executable: "", endpoint: "" });
    try {
      const opened = await openUnseen(await shared.get(), {});
      const page = await opened.newPage();
      const session = await opened.context.newCDPSession(page);
      const picture = async (html: string) => {
        await page.setContent(html);
        await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
        return (await session.send("Page.captureScreenshot", { format: "png" })).data;
      };
      const empty = await picture("<body></body>");
      expect(await picture(RED)).toBe(empty);
      const { width, height } = VIEWPORT;
      expect(await page.evaluate<unknown>(LOOK)).toEqual([
        width,
        height,
        width,
        1,
        width,
        1,
        0,
        0,
        0,
        "DIV",
        "visible",
      ]);
      expect(await page.evaluate<unknown>(IN_VIEW)).toBe(height);
    } finally {
      await shared.close();
    }
  }, 30_000);
});
