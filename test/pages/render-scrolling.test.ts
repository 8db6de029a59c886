// A page is scrolled through only where something on it may react to that.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAddressGuard } from "../../src/net/address-guard.ts";
import { createResolve } from "../../src/net/resolve.ts";
import { createBrowser } from "../../src/pages/browser/browser.ts";
import { LOCAL_EGRESS } from "../../src/pages/browser/egress.ts";
import { createRenderer, type Renderer } from "../../src/pages/browser/render.ts";
import { CHROMIUM } from "../support/browser.ts";
import { type FakeSite, html, startFakeSite } from "../support/fake-site.ts";
import { whileSteady } from "../support/real-time.ts";

let site: FakeSite;
let renderer: Renderer;

const SEEN = "came into view";
const FRAME = 'width="500" height="300"';
/** Below ten screens, since frames load when they are near; `show` writes there, once the page is scrolled to it. */
const tall = (more: string) =>
  html(`<!doctype html><div style="height:9000px">top</div><div id="late">waiting</div>
    <script>const late = document.getElementById("late"); const show = () => { late.textContent = "${SEEN}"; };
    const look = () => { if (late.getBoundingClientRect().top < innerHeight) show(); };</script>${more}`);
const script = (code: string) => tall(`<script>${code}</script>`);
const seenInFrame = `${SEEN}, in a frame whose text is long enough to be read with the page that it is on. `.repeat(2);

/** What may react to scrolling. */
const WATCHED = {
  "a listener of the window": script(`addEventListener("scroll", look)`),
  "a listener of the document": script(`document.addEventListener("scroll", look, { capture: true })`),
  "a listener for the end of scrolling": script(`document.addEventListener("scrollend", look)`),
  "a handler of the window": script("onscroll = look"),
  "a handler of the document": script("document.onscroll = look"),
  "a handler of the body": script(`document.body.setAttribute("onscroll", "look()")`),
  "an observer": script("new IntersectionObserver((all) => { if (all.at(-1).isIntersecting) show(); }).observe(late)"),
  "an interval": script("setInterval(look, 20)"),
  "a chain of timers": script("const ask = () => { look(); setTimeout(ask, 20); }; ask()"),
  "a handler for the end of scrolling": script("document.onscrollend = look"),
  "a handler of the window for the end of scrolling": script("onscrollend = look"),
  "a chain of idle times": script("const ask = () => { look(); requestIdleCallback(ask); }; ask()"),
  "a chain of tasks": script("const ask = () => { look(); scheduler.postTask(ask, { delay: 50 }); }; ask()"),
  "a timer that brings text while it is scrolled": script("setTimeout(show, 600)"),
  "a task that brings text while it is scrolled": script("scheduler.postTask(show, { delay: 600 })"),
  "an observer in a frame in a shadow": script(
    `const host = document.body.appendChild(document.createElement("div")); host.attachShadow({ mode: "open" }).innerHTML = '<iframe src="/observing" width="500" height="300"></iframe>'`,
  ),
  "a handler of contents that are drawn in view": script(
    `late.outerHTML = '<div id="skipped" style="content-visibility:auto;contain-intrinsic-size:1px 500px"><p id="inner">waiting</p></div>'; skipped.oncontentvisibilityautostatechange = ({ skipped: isOut }) => { if (!isOut) inner.textContent = "${SEEN}"; }`,
  ),
  "an attribute for contents that are drawn in view": script(
    `late.outerHTML = '<div oncontentvisibilityautostatechange="if (!event.skipped) inner.textContent = \\'${SEEN}\\'" style="content-visibility:auto;contain-intrinsic-size:1px 500px"><p id="inner">waiting</p></div>'`,
  ),
  "animation frames": script("const ask = () => { look(); requestAnimationFrame(ask); }; ask()"),
  "contents that are drawn in view": script(
    `late.outerHTML = '<div id="skipped" style="content-visibility:auto;contain-intrinsic-size:1px 500px"><p id="inner">waiting</p></div>'; skipped.addEventListener("contentvisibilityautostatechange", ({ skipped: isOut }) => { if (!isOut) inner.textContent = "${SEEN}"; })`,
  ),
  "an observer in a frame": tall(`<iframe src="/observing" ${FRAME}></iframe>`),
  "an observer of a new frame's own kind": script(
    `const frame = document.body.appendChild(document.createElement("iframe")); new frame.contentWindow.IntersectionObserver((all) => { if (all.at(-1).isIntersecting) show(); }, { root: document }).observe(late)`,
  ),
} as const;
const NAMES = Object.keys(WATCHED) as (keyof typeof WATCHED)[];

/** Shows the farthest place to which it was scrolled. Events of an animation tell it the time, which need no timer. */
const MEASURED = `<!doctype html><style>@keyframes beat { to { opacity: 0.9 } } #out { animation: beat 10ms infinite }</style>
  <div id="out" data-farthest="0">text</div><div style="height:4000px">tall</div><img loading="lazy" src="/a.png">
  <script>const out = document.getElementById("out"); let beats = 0;
  out.addEventListener("animationiteration", () => { out.dataset.beats = ++beats; out.dataset.farthest = Math.max(out.dataset.farthest, scrollY); });
  out.addEventListener("scroll", () => 0); setTimeout(() => 0); setInterval(() => 0, 5000); requestAnimationFrame(() => 0);
  document.body.prepend(document.createElement("iframe"));</script>`;

const OBSERVING = `<!doctype html><p id="in">waiting</p><script>new IntersectionObserver((all) => { if (all.at(-1).isIntersecting) document.getElementById("in").textContent = ${JSON.stringify(seenInFrame)}; }).observe(document.getElementById("in"))</script>`;

beforeAll(() => {
  site = startFakeSite({
    ...Object.fromEntries(NAMES.map((name, index) => [`/${index}`, () => WATCHED[name].clone()])),
    "/observing": () => html(OBSERVING),
    "/framed": () => tall(`<iframe loading="lazy" src="/frame?plain"></iframe>`),
    "/shadowed": () =>
      script(`late.attachShadow({ mode: "open" }).innerHTML = '<iframe loading="LAZY" src="/frame?shadow"></iframe>'`),
    "/frame": () => html("<!doctype html><p>frame</p>"),
    "/measured": () => html(MEASURED),
    "/measured-beside": () => html(`${MEASURED}<iframe sandbox="allow-scripts" src="/observing" ${FRAME}></iframe>`),
  });
  const guard = createAddressGuard(
    { allowPrivateNetworks: false, allowHosts: [site.host], ports: [] },
    createResolve(),
  );
  renderer = createRenderer({
    browser: createBrowser({ executable: "", endpoint: "" }),
    guard,
    pagesMax: 2,
    egress: LOCAL_EGRESS,
  });
});
afterAll(async () => {
  await renderer.close();
  await site.stop();
});

const render = async (path: string, screenshot: "none" | "viewport" = "none") => {
  const shown = await renderer.render({
    url: site.url + path,
    accountId: "a",
    timeoutMs: 15_000,
    signal: new AbortController().signal,
    screenshot,
    userAgent: "test",
    bytesMax: 1_000_000,
  });
  return shown.html;
};
const number = (text: string, name: string) => Number(new RegExp(`data-${name}="([\\d.]+)"`).exec(text)?.[1]);

describe.skipIf(CHROMIUM === undefined)("a page", () => {
  test.each(NAMES)(
    "with %s is scrolled through",
    async (name) => {
      const path = `/${NAMES.indexOf(name)}`;
      await whileSteady(async () =>
        expect((await render(path)).replace(/<script>.*?<\/script>/gs, "")).toContain(SEEN),
      );
    },
    60_000,
  );
  test.each([
    ["/framed", "/frame?plain"],
    ["/shadowed", "/frame?shadow"],
  ])(
    "with a frame that loads in view (%s) is scrolled through",
    async (path, frame) => {
      await render(path);
      expect(site.count(frame)).toBe(1);
    },
    60_000,
  );
  test("that nothing watches is not scrolled, except for a picture", async () => {
    const [read, seen] = [await render("/measured"), await render("/measured", "viewport")];
    expect([number(read, "beats") > 0, number(read, "farthest")]).toEqual([true, 0]);
    expect(number(seen, "farthest")).toBeGreaterThan(900);
  }, 60_000);
  test("with a frame of another origin, of which nothing is known, is scrolled through", async () => {
    expect(number(await render("/measured-beside"), "farthest")).toBeGreaterThan(900);
  }, 60_000);
});
