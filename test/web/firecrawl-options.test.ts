// Every page option for Firecrawl's clients: with it the answer differs from the answer without it.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readActions } from "../../src/web/firecrawl/actions.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { CHROMIUM } from "../support/browser.ts";
import { startFakeDns } from "../support/fake-dns.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { pdfOf, shown } from "../support/pdf.ts";
import { webConfig } from "./support.ts";

type Json = Record<string, unknown>;

interface Answer {
  readonly status: number;
  readonly json: { data?: Json & { metadata: Json }; error?: string; code?: string; param?: string };
}

/** The part of an answer that is checked. */
type See = (answer: Answer) => unknown;

interface Row {
  readonly name: string;
  readonly path: string;
  readonly option: Json;
  /** Options in both requests. */
  readonly beside?: Json;
  readonly see: See;
  readonly without: unknown;
  readonly with: unknown;
}

const DOT =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let site: FakeSite;
let app: TestApp;
let browsing: TestApp;

const echo = (name: string) => (request: Request) => html(page(request.headers.get(name) ?? "no such header"));

const FRAMED = `<!doctype html><html lang="en"><head><title>Framed</title></head><body>
  <nav><a href="/menu">Menu of the site</a></nav>
  <main><h1>Framed</h1><p>This is the text of the page, and it is long enough to be taken for the main content of it.</p>
  <p class="note">A note that may be left out of the text, in a sentence that is long enough to be one.</p>
  <p><img src="/pictures/lamp.png" alt="A lamp" width="400" height="300"> <a href="/inside">inside</a></p>
  <p><img src="${DOT}" alt="A dot" width="400" height="300"></p></main>
  <footer><p>Imprint of the company that made this page and is responsible for it.</p></footer></body></html>`;

/** A page whose text changes when something is done with it. */
const LIVE = `<!doctype html><html lang="en"><head><title>Live</title><meta name="viewport" content="width=device-width"></head>
  <body style="min-height:4000px"><main><h1>Live</h1><p>This is a page that changes when something is done with it, and says so here:</p>
  <p id="said">nothing was done</p><button id="go">Go</button><input id="field">
  <div id="box" style="height:50px;overflow:auto"><div style="height:500px">box</div></div>
  <script>
    const said = document.getElementById("said");
    const say = (text) => { said.textContent = text; };
    document.getElementById("go").onclick = () => { say("it was clicked"); const p = document.createElement("p"); p.id = "late"; p.textContent = "late"; document.body.append(p); };
    document.getElementById("field").oninput = (event) => say("written: " + event.target.value);
    document.getElementById("field").onkeydown = (event) => { if (event.key === "Enter") say("entered"); };
    document.getElementById("box").onscroll = () => say("box scrolled");
    say("width " + innerWidth + ", touch " + navigator.maxTouchPoints + ", language " + navigator.language);
  </script></main></body></html>`;

const LATE = `<!doctype html><html lang="en"><head><title>Late</title></head><body><main><h1>Late</h1>
  <p>This page has a text that is long enough for a page, and something more that comes later by itself.</p><p id="said">early</p>
  <script>setTimeout(() => { document.getElementById("said").textContent = "late"; }, 3000);</script></main></body></html>`;

beforeAll(async () => {
  site = startFakeSite({
    "/framed": FRAMED,
    "/agent": echo("user-agent"),
    "/language": echo("accept-language"),
    "/secret": echo("x-secret"),
    "/live": LIVE,
    "/late": LATE,
    "/hangs": () => new Promise<Response>(() => undefined),
    "/paper.pdf": () =>
      new Response(pdfOf(shown("A paper that is read.")), { headers: { "content-type": "application/pdf" } }),
  });
  app = await startTestApp({ config: webConfig([site.host], { allow_caller_data: [site.host] }) });
  browsing = await startTestApp({
    config: webConfig([site.host], {
      ...{ render: "auto", actions_script: true, respect_robots: false, allow_caller_data: [site.host] },
    }),
  });
});
afterAll(async () => {
  await app.stop();
  await browsing.stop();
  await site.stop();
});

async function ask(gateway: TestApp, path: string, body: Json): Promise<Answer> {
  const response = await gateway.post("/v2/scrape", { url: site.url + path, ...body });
  return { status: response.status, json: (await response.json()) as Answer["json"] };
}

async function differs(gateway: TestApp, { path, option, beside = {}, see, ...row }: Row): Promise<void> {
  const [without, given] = [await ask(gateway, path, beside), await ask(gateway, path, { ...beside, ...option })];
  expect([see(without), see(given)], JSON.stringify(given.json).slice(0, 600)).toEqual([row.without, row.with]);
  expect(row.without).not.toEqual(row.with);
}

const has =
  (member: string): See =>
  ({ json }) =>
    json.data?.[member] !== undefined;
const says =
  (text: string | RegExp, member = "markdown"): See =>
  ({ json }) =>
    typeof text === "string"
      ? String(json.data?.[member]).includes(text)
      : (text.exec(String(json.data?.[member]))?.[0] ?? null);
const warns: See = ({ json }) => json.data?.["warning"] ?? null;
const effect = (what: string) => `These options have no effect here: ${what}.`;

const PLAIN: readonly Row[] = [
  ...["html", "rawHtml", "links", "images"].map((name) => ({
    ...{ name: `formats: ${name}`, path: "/framed", option: { formats: [name] }, see: has(name) },
    ...{ without: false, with: true },
  })),
  {
    ...{ name: "formats: {type}", path: "/framed", option: { formats: [{ type: "links" }] }, see: has("links") },
    ...{ without: false, with: true },
  },
  {
    name: "formats: attributes",
    path: "/framed",
    option: { formats: [{ type: "attributes", selectors: [{ selector: "main img", attribute: "alt" }] }] },
    see: ({ json }) => json.data?.["attributes"] ?? null,
    without: null,
    with: [{ selector: "main img", attribute: "alt", values: ["A lamp", "A dot"] }],
  },
  {
    ...{ name: "formats: one that there is not", path: "/framed", option: { formats: ["branding"] }, see: warns },
    ...{ without: null, with: effect("formats: branding") },
  },
  {
    ...{ name: "onlyMainContent", path: "/framed", option: { onlyMainContent: false }, see: says("Imprint") },
    ...{ without: false, with: true },
  },
  {
    ...{
      name: "includeTags",
      path: "/framed",
      option: { includeTags: ["footer"] },
      see: says(/Imprint|This is the text/),
    },
    ...{ without: "This is the text", with: "Imprint" },
  },
  {
    ...{ name: "excludeTags", path: "/framed", option: { excludeTags: [".note"] }, see: says("A note") },
    ...{ without: true, with: false },
  },
  {
    ...{
      name: "headers",
      path: "/secret",
      option: { headers: { "X-Secret": "open sesame" } },
      see: says("open sesame"),
    },
    ...{ without: false, with: true },
  },
  {
    ...{ name: "mobile", path: "/agent", option: { mobile: true }, see: says("Mobile Safari") },
    ...{ without: false, with: true },
  },
  {
    ...{ name: "location.languages", path: "/language", option: { location: { languages: ["de", "fr"] } } },
    ...{ see: says(/en-US,en;q=0.9|de,fr;q=0.9/), without: "en-US,en;q=0.9", with: "de,fr;q=0.9" },
  },
  {
    ...{ name: "parsers", path: "/paper.pdf", option: { parsers: [] }, see: ({ status }) => status },
    ...{ without: 200, with: 422 },
  },
  {
    ...{
      name: "removeBase64Images",
      path: "/framed",
      option: { removeBase64Images: false },
      see: says("data:image/png"),
    },
    ...{ without: false, with: true },
  },
  ...(
    [
      ["skipTlsVerification", { skipTlsVerification: true }, "skipTlsVerification"],
      ["proxy", { proxy: "stealth" }, "proxy"],
      ["fastMode", { fastMode: true }, "fastMode"],
      ["minAge", { minAge: 5 }, "minAge"],
      ["lockdown", { lockdown: true }, "lockdown"],
      ["redactPII", { redactPII: true }, "redactPII"],
      ["location.country", { location: { country: "DE" } }, "location.country"],
      ["profile", { profile: { name: "x" } }, "profile"],
      ["zeroDataRetention", { zeroDataRetention: true }, "zeroDataRetention"],
      ["parsers: maxPages", { parsers: [{ type: "pdf", maxPages: 2 }] }, "parsers: maxPages"],
    ] as const
  ).map(([name, option, named]) => ({ name, path: "/framed", option, see: warns, without: null, with: effect(named) })),
];

describe("without a browser", () => {
  test.each(PLAIN.map((row) => [row.name, row] as const))("%s", (_name, row) => differs(app, row));

  test("timeout", async () => {
    const { status, json } = await ask(app, "/hangs", { timeout: 1000 });
    expect([status, json.code, json.error]).toEqual([408, "SCRAPE_TIMEOUT", "The page did not load in time."]);
  });

  test("an unknown option is reported with its path", async () => {
    const places = async (body: Json) => (await ask(app, "/framed", body)).json.param;
    expect(await places({ formats: ["smoke"] })).toBe("formats[0]");
    expect(await places({ formats: ["json"] })).toBe("formats[0]");
    expect(await places({ includeTags: ["p:("] })).toBe("includeTags[0]");
    expect(await places({ excludeTags: ["a:has(b:has(c))"] })).toBe("excludeTags[0]");
    expect(await places({ actions: [{ type: "click" }] })).toBe("actions[0].selector");
    expect(await places({ actions: [{ type: "wait", milliseconds: 2000 }], timeout: 2000 })).toBe("actions");
    expect(await places({ actions: [{ type: "executeJavascript", script: "1" }] })).toBe("actions[0].type");
    expect(await places({ actions: Array.from({ length: 51 }, () => ({ type: "scroll" })) })).toBe("actions");
    expect(await places({ headers: { Host: "elsewhere" } })).toBe("headers.Host");
    expect(await places({ location: { languages: ["no language"] } })).toBe("location.languages[0]");
  });

  test("fifty steps are accepted, and fifty-one are not", () => {
    const steps = (length: number) => Array.from({ length }, () => ({ type: "scroll", direction: "down" }));
    expect(readActions(steps(50), { allowsScript: false })).toHaveLength(50);
    expect(() => readActions(steps(51), { allowsScript: false })).toThrow("at most 50");
  });
});

const acted =
  (read: (actions: Json) => unknown): See =>
  ({ json }) => {
    const actions = json.data?.["actions"] as Json | undefined;
    return actions === undefined ? null : read(actions);
  };
const click = { type: "click", selector: "#go" };
const SAID = /nothing was done|it was clicked|written: words|entered|box scrolled|width/;

const SHOWN: readonly Row[] = [
  {
    ...{ name: "waitFor", path: "/late", option: { waitFor: 4000 }, see: says(/\b(?:early|late)$/m) },
    ...{ without: "early", with: "late" },
  },
  {
    ...{ name: "mobile", path: "/live", beside: { waitFor: 1 }, option: { mobile: true } },
    ...{ see: says(/width \d+/), without: "width 1280", with: "width 390" },
  },
  {
    ...{
      name: "location.languages",
      path: "/live",
      beside: { waitFor: 1 },
      option: { location: { languages: ["de"] } },
    },
    ...{ see: says(/language \S\S/), without: "language en", with: "language de" },
  },
  {
    ...{ name: "actions: click", path: "/live", beside: { waitFor: 1 }, option: { actions: [click] } },
    ...{ see: says(SAID), without: "width", with: "it was clicked" },
  },
  {
    ...{ name: "actions: write", path: "/live", beside: { waitFor: 1 }, see: says(SAID), without: "width" },
    option: {
      actions: [
        { type: "click", selector: "#field" },
        { type: "write", text: "words" },
      ],
    },
    with: "written: words",
  },
  {
    ...{ name: "actions: press", path: "/live", beside: { waitFor: 1 }, see: says(SAID), without: "width" },
    option: {
      actions: [
        { type: "click", selector: "#field" },
        { type: "press", key: "Enter" },
      ],
    },
    with: "entered",
  },
  {
    ...{ name: "actions: scroll", path: "/live", beside: { waitFor: 1 }, see: says(SAID), without: "width" },
    option: {
      actions: [
        { type: "scroll", direction: "down", selector: "#box" },
        { type: "wait", milliseconds: 300 },
      ],
    },
    with: "box scrolled",
  },
  {
    ...{ name: "actions: wait for", path: "/live", beside: { waitFor: 1 }, see: says(SAID), without: "width" },
    option: { actions: [click, { type: "wait", selector: "#late" }] },
    with: "it was clicked",
  },
  {
    ...{ name: "actions: scrape", path: "/live", option: { actions: [click, { type: "scrape" }] }, without: null },
    see: acted(({ scrapes }) => (scrapes as Json[]).map(({ html: text }) => /it was clicked/.test(String(text)))),
    with: [true],
  },
  {
    ...{ name: "actions: screenshot", path: "/live", option: { actions: [{ type: "screenshot" }] }, without: null },
    see: acted(({ screenshots }) => (screenshots as string[]).map((picture) => sizeOf(picture))),
    with: [{ width: 1280, height: 900 }],
  },
  {
    ...{ name: "actions: pdf", path: "/live", option: { actions: [{ type: "pdf" }] }, without: null },
    see: acted(({ pdfs }) => (pdfs as string[]).map((pdf) => Buffer.from(pdf, "base64").toString("latin1", 0, 4))),
    with: ["%PDF"],
  },
  {
    ...{ name: "actions: executeJavascript", path: "/live", without: null },
    option: { actions: [{ type: "executeJavascript", script: "document.title + 1" }] },
    see: acted(({ javascriptReturns }) => javascriptReturns),
    with: [{ type: "string", value: "Live1" }],
  },
  ...(
    [
      ["formats: screenshot", ["screenshot"], { width: 1280, height: 900 }],
      [
        "screenshot: viewport",
        [{ type: "screenshot", viewport: { width: 500, height: 400 } }],
        { width: 500, height: 400 },
      ],
      ["screenshot: quality", [{ type: "screenshot", quality: 50 }], "jpeg"],
    ] as const
  ).map(([name, formats, size]) => ({
    ...{ name, path: "/framed", option: { formats }, without: null, with: size },
    see: (({ json }) =>
      json.data?.["screenshot"] === undefined ? null : sizeOf(String(json.data["screenshot"]))) as See,
  })),
  {
    ...{ name: "screenshot: fullPage", path: "/live", beside: { formats: ["screenshot"] } },
    option: { formats: [{ type: "screenshot", fullPage: true }] },
    see: ({ json }) => (sizeOf(String(json.data?.["screenshot"])) as { height: number }).height > 900,
    ...{ without: false, with: true },
  },
];

/** The width and height of a PNG. */
function sizeOf(address: string): unknown {
  if (address.startsWith("data:image/jpeg;base64,")) return "jpeg";
  const bytes = Buffer.from(address.slice("data:image/png;base64,".length), "base64");
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

describe.skipIf(CHROMIUM === undefined)("in the browser", () => {
  test.each(SHOWN.map((row) => [row.name, row] as const))("%s", (_name, row) => differs(browsing, row), 60_000);

  test("blockAds", async () => {
    // All names lead to this machine, so that a page of an advertising network is served by the test.
    const dns = await startFakeDns(() => ["127.0.0.1"]);
    const { port } = new URL(site.url);
    site.set("/ad.js", () => new Response("document.getElementById('ad').textContent = 'buy';"));
    site.set(
      "/advertised",
      `<title>Ads</title><main><h1>Ads</h1><p>This is a page with a text that is long enough, and this: <b id="ad">nothing</b>.</p></main>
       <script src="http://ads.doubleclick.net:${port}/ad.js"></script>`,
    );
    const named = await startTestApp({ config: { web: { allow_private_networks: true, dns: [dns.server] } } });
    try {
      const see = says(/nothing|buy/);
      const answers = [{ waitFor: 1 }, { waitFor: 1, blockAds: false }].map((body) => ask(named, "/advertised", body));
      expect((await Promise.all(answers)).map(see)).toEqual(["nothing", "buy"]);
    } finally {
      await named.stop();
      dns.close();
    }
  }, 60_000);

  test("a step that cannot be carried out is a failure of the page", async () => {
    const { status, json } = await ask(browsing, "/live", { actions: [{ type: "scroll", selector: "#none" }] });
    expect([status, json.error]).toEqual([422, "actions[0] (scroll) could not be done on this page."]);
  }, 60_000);
});
