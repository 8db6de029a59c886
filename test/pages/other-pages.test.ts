// What leads away from a page: its place in the site, teasers of other pages.

import { describe, expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import type { PageKind } from "../../src/pages/content/kind-signs.ts";
import { chooseMain } from "../../src/pages/content/main-content.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const REST = `<p>${"Sails are cut from cloth that was made for this, and sewn with thread that was made for the cloth. ".repeat(6)}</p>`;

/** The kept text, if the fitted model would keep everything. */
function kept(html: string, kind?: PageKind): string {
  const page = parsePage(`<title>Sailmaker</title><main><h1>Sailmaker</h1>${REST}${html}</main>`);
  const blocks = cutBlocks(page.body);
  const chosen = chooseMain(page, blocks, Array(blocks.length).fill(0.9), { kind: () => kind });
  return [...chosen].map(({ text }) => text).join("\n");
}

test.each(["breadcrumbs", "page-breadcrumb", "bread-crumbs", "crumbs nav"])("the place in the site: %s", (name) => {
  expect(kept(`<div class="${name}"><span>Sails</span> › Jibs</div><p>Own text</p>`)).not.toContain("Jibs");
});
const teasers = (heading: string, level = 2) =>
  `<h${level}>${heading}</h${level}><div><a href="/a"><h3>How a jib is cut</h3></a><p>We visit the loft on the quay.</p></div>`;

describe("teasers of other pages", () => {
  const headings =
    "Related insights|You may also like|More from the loft|Trending stories|Similar items to consider|Das könnte Sie interessieren|Te puede interesar";
  for (const kind of ["product", "service"] as const)
    test.each(headings.split("|"))(`on the page of a ${kind} under “%s” are left out`, (heading) => {
      const text = kept(`${teasers(heading)}<h2>Our work</h2><p>Own text</p>`, kind);
      expect(text).not.toMatch(/jib|quay/);
      expect(text).toContain("Our work\nOwn text");
    });
  test.each([
    ["on other pages", teasers("Related insights"), "article"],
    ["on pages of no certain kind", teasers("Related insights"), undefined],
    ["under another heading", teasers("Recommended by sailors"), "service"],
    ...["Most popular rigs", "Recommended for old boats", "Customers who trust us", "People also ask"].map(
      (heading) => [`under “${heading}”`, teasers(heading), "service"] as const,
    ),
    [
      "with a link in a sentence only",
      teasers("Related costs").replace(/<a.*<.a>/, '<p>A jib is cut as <a href="/a">our page on it</a> says.</p>'),
      "service",
    ],
    ["without links", teasers("Related insights").replace(/<\/?a[^>]*>/g, ""), "service"],
    ["if they are much of the page", teasers("Related insights").replace("We visit", REST), "service"],
  ] as const)("%s are kept", (_, html, kind) => expect(kept(html, kind)).toContain("quay"));
});

describe("parts that are named so", () => {
  const part = (name: string) => `<div class="${name}"><p>Mast of spruce</p></div>`;
  test.each(["related", "product-upsells", "cross-sell", "you-may-also-like", "similar-items"])(
    "on the page of a product: %s",
    (name) => expect(kept(part(name), "product")).not.toContain("spruce"),
  );
  test("other names are none", () => expect(kept(part("unrelated"), "product")).toContain("spruce"));
});
