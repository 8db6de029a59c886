// The site of a small company: menus, a sitemap with priorities, pages with and without a description, articles, and unimportant
// pages.

import { type FakeSite, type SitePage, startFakeSite } from "../support/fake-site.ts";

const MENU = `<header><a href="/"><img src="/logo.png" alt=""></a><nav><ul>
  <li><a href="/product">Product</a></li>
  <li>Guides<ul>
    <li><a href="/docs/start">Getting started</a></li>
    <li><a href="/docs/deploy">Deploying</a></li>
    <li><a href="/docs/api">API</a></li></ul></li>
  <li><a href="/pricing">Pricing</a></li>
  <li><a href="/login">Log in</a></li></ul></nav></header>`;
const FOOT = `<footer><h4>Company</h4><ul><li><a href="/about">About us</a></li>
  <li><a href="/privacy-policy">Privacy</a></li><li><a href="/blog/tag/news">News</a></li></ul></footer>`;

/** A page of the site. */
export function acme(title: string, text: string, { head = "", main = "" } = {}): string {
  return `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body>${MENU}
    <main><h1>${title.replace(/ \| Acme$/, "")}</h1><p>${text}</p>${main}</main>${FOOT}</body></html>`;
}

const describe = (text: string) => `<meta name="description" content="${text}">`;
const LONG =
  "It goes on for a while, so that nobody takes it for a menu or for a notice of cookies at the foot of a page.";

/** The pages by path. */
function acmePages(): Record<string, SitePage> {
  return {
    "/": acme("Acme | Widgets for everybody", `Acme makes widgets that turn. ${LONG}`, {
      head: `${describe("Widgets that turn, for machines of every size.")}<meta property="og:site_name" content="Acme">`,
    }),
    "/product": acme("Product | Acme", `The Turner is our widget. ${LONG}`, {
      head: describe("What the Turner does."),
    }),
    "/docs/start": acme("Getting started | Acme", `Install the Turner within ten minutes, without a tool. ${LONG}`, {
      main: "<h2>Install</h2><pre><code># a comment\nnpm i turner</code></pre>",
    }),
    "/docs/deploy": acme("Deploying | Acme", `Run many Turners on one shaft, side by side. ${LONG}`),
    "/docs/api": acme("API | Acme", `Every call of the Turner's interface, with its parameters. ${LONG}`),
    "/pricing": acme("Pricing | Acme", `One price for all. ${LONG}`, { head: describe("What widgets cost.") }),
    "/about": acme("About us | Acme", `We are eight people in Bergen who like what turns. ${LONG}`),
    "/login": acme("Log in | Acme", `Log in to see your widgets and their turns. ${LONG}`),
    "/privacy-policy": acme("Privacy | Acme", `We keep nothing that we do not need for your order. ${LONG}`),
    "/blog/tag/news": acme("News | Acme", `All articles about news, newest first, page by page. ${LONG}`),
    "/blog/turning": acme(
      "Why things turn | Acme",
      `Turning is older than the wheel, and here is how we know. ${LONG}`,
    ),
    "/blog/wheels": acme("On wheels | Acme", `A wheel is a widget that has found its purpose in life. ${LONG}`),
  };
}

/** The sitemap: pages with their priorities. */
const LISTED = { "/product": 0.9, "/blog/turning": 0.6, "/blog/wheels": 0.4, "/about": 0.5, "/privacy-policy": 1 };

/** Starts the site. */
export function startAcme(more: Record<string, SitePage> = {}): FakeSite {
  const site = startFakeSite({ ...acmePages(), ...more });
  const entries = Object.entries(LISTED).map(
    ([path, priority]) => `<url><loc>${site.url}${path}</loc><priority>${priority}</priority></url>`,
  );
  const headers = { "content-type": "application/xml" };
  site.set("/sitemap.xml", () => new Response(`<urlset>${entries.join("")}</urlset>`, { headers }));
  return site;
}
