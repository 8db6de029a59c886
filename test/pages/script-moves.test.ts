import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { FakeClock } from "../../src/base/clock.ts";
import { type AddressGuard, createAddressGuard } from "../../src/net/address-guard.ts";
import { createFetch } from "../../src/net/fetch.ts";
import { createResolve } from "../../src/net/resolve.ts";
import { createBrowser } from "../../src/pages/browser/browser.ts";
import { LOCAL_EGRESS } from "../../src/pages/browser/egress.ts";
import { createRenderer, type Renderer } from "../../src/pages/browser/render.ts";
import { createConverter } from "../../src/pages/convert/convert.ts";
import { createLoader } from "../../src/pages/load.ts";
import { createRobotsJudge } from "../../src/pages/robots/judge.ts";
import { createRobots } from "../../src/pages/robots/robots.ts";
import { CHROMIUM } from "../support/browser.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";

const ARRIVED = `<!doctype html><title>New</title><main><h1>Moved here</h1><p>${"What the reader came for. ".repeat(8)}</p></main>`;
/** Pages without text that lead to /new by a script. A reader of the markup may or may not understand the script. */
const MOVES: readonly (readonly [path: string, html: string, drawn: boolean])[] = [
  ["/address", "<!doctype html><title>Old</title><script>window.location.href = '/new';</script>", false],
  ["/on-load", `<!doctype html><title>Old</title><body onload="location='/new'"></body>`, false],
  ["/replaced", `<!doctype html><title>Old</title><script>location.replace("/new")</script><body></body>`, false],
  ["/chosen", "<!doctype html><title>Old</title><script>if (navigator.language) location.href = '/new'</script>", true],
  ["/put-together", "<!doctype html><title>Old</title><script>location['hr' + 'ef'] = '/n' + 'ew'</script>", true],
  ["/elsewhere", '<!doctype html><title>Old</title><script src="/go.js"></script>', true],
  ["/late", "<!doctype html><title>Old</title><script>setTimeout(() => location.assign('/new'), 50)</script>", true],
];

let site: FakeSite;
let guard: AddressGuard;
let renderer: Renderer;
let drawings = 0;
const converter = createConverter(1);
const judge = createRobotsJudge(new FakeClock());

beforeAll(() => {
  site = startFakeSite({
    "/new": ARRIVED,
    "/go.js": () => new Response("location.href = '/new'", { headers: { "content-type": "text/javascript" } }),
    ...Object.fromEntries(MOVES.map(([path, html]) => [path, html])),
  });
  guard = createAddressGuard({ allowPrivateNetworks: false, allowHosts: [site.host], ports: [] }, createResolve());
  const browser = createBrowser({ executable: "", endpoint: "" });
  const real = createRenderer({ browser, guard, pagesMax: 1, egress: LOCAL_EGRESS });
  renderer = {
    ...real,
    render: (request) => {
      drawings++;
      return real.render(request);
    },
  };
});
beforeEach(() => {
  drawings = 0;
});
afterAll(async () => {
  await renderer.close();
  await site.stop();
  converter.close();
  judge.close();
});

function read(path: string) {
  const fetch = createFetch(guard);
  const userAgent = "Sallyport/1.0 (test)";
  const load = createLoader({
    fetch,
    converter,
    renderer,
    robots: createRobots({ fetch, clock: new FakeClock(), userAgent: () => userAgent, judge }),
    settings: () => ({ userAgent, pageBytesMax: 200_000, respectRobots: true, render: "auto" }),
  });
  return load({
    url: site.url + path,
    accountId: "account",
    markdown: true,
    html: false,
    links: false,
    screenshot: "none",
    onlyMainContent: true,
    documents: false,
    timeoutMs: 25_000,
  });
}

describe.skipIf(CHROMIUM === undefined)(
  "a page that a script leaves at once is replaced by the script's target",
  () => {
    for (const [path, , drawn] of MOVES)
      test(`${path}, ${drawn ? "shown in the browser" : "without the browser"}`, async () => {
        const page = await read(path);
        expect(page.markdown).toContain("What the reader came for.");
        expect([page.url, page.status, page.rendered]).toEqual([`${site.url}/new`, 200, drawn]);
        expect(drawings).toBe(drawn ? 1 : 0);
      }, 60_000);
  },
);
