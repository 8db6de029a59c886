import { expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { readFeatures } from "../../src/pages/content/features.ts";
import { isCollectionPage, isThreadPage } from "../../src/pages/content/judged.ts";
import { kindByAddress, kindBySigns, PAGE_KINDS, type PageKind } from "../../src/pages/content/kind-signs.ts";
import { readKindTraits } from "../../src/pages/content/kind-traits.ts";
import { certainKind, kindShares } from "../../src/pages/content/kinds.ts";
import { loadWeights } from "../../src/pages/content/weights.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";
import { articlePage, PLACES } from "./article-pages.ts";

const { kinds } = loadWeights();
if (kinds === undefined) throw new Error("the program has no kinds");

const traitsOf = (html: string, url: string) => {
  const document = parsePage(html);
  const blocks = cutBlocks(document.body);
  return readKindTraits(document, blocks, { url, shared: readFeatures(document, blocks, url).shared });
};
const sharesOf = (html: string, url: string) => kindShares(traitsOf(html, url), kinds);

const repeat = (count: number, make: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => make(at)).join("");
const THREAD = `<html><head><title>Caulking a teak deck - Boat forum</title><meta name="generator" content="Discourse 3.4"></head><body><div id="main-outlet"><h1>Caulking a teak deck</h1>${repeat(
  12,
  (at) =>
    `<div class="topic-body crawler-post"><div class="crawler-post-meta"><span class="creator">user${at}</span> <time>May ${at + 1}</time></div><div class="post"><p>I had the same seams open on my own deck, and after ${at} tries a new bead held through the winter.</p></div></div>`,
)}</div></body></html>`;
const PRODUCT = `<html><head><title>Brass cleat | Quay shop</title><meta property="og:type" content="product"><script type="application/ld+json">{"@type":"Product","name":"Brass cleat","offers":{"@type":"Offer","price":"19.00"}}</script></head><body class="product-template"><main><div class="product-gallery"><img src="/a.jpg"></div><h1 class="product-title">Brass cleat</h1><div class="price">$19.00</div><form action="/cart/add"><label>Quantity</label><input name="quantity"><button class="add-to-cart">Add to cart</button></form><div class="product-description"><p>A cleat of solid brass for ropes up to 12 mm, polished by hand.</p></div><h2>Related products</h2><ul class="products">${repeat(4, (at) => `<li class="product"><a href="/products/${at}">Cleat ${at}</a> <span class="price">$${at}9.00</span></li>`)}</ul></main></body></html>`;

test("a rule for the address, a sign in the page and the trees tell its kind", () => {
  const told: readonly (readonly [PageKind, string, string])[] = [
    [
      "article",
      articlePage(1, "<p>One more line of it.</p>", PLACES[0] as (typeof PLACES)[number]),
      "https://a.example/news/2024/05/a-long-way-to-the-quay",
    ],
    ["forum", THREAD, "https://a.example/t/caulking-a-teak-deck/1234"],
    ["product", PRODUCT, "https://a.example/products/brass-cleat"],
  ];
  for (const [kind, html, url] of told) expect([kind, certainKind(sharesOf(html, url))]).toEqual([kind, kind]);
});

test("probabilities of all kinds add up to one", () => {
  for (const html of [THREAD, PRODUCT, "<p>Text</p>"]) {
    const shares = sharesOf(html, "https://a.example/");
    expect(shares).toHaveLength(PAGE_KINDS.length);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
  }
});

test("addresses of one kind are told, others say nothing", () => {
  const addresses: readonly (readonly [string, PageKind | undefined])[] = [
    ["https://a.example/", undefined],
    ["https://a.example/2024/05/a-story", undefined],
    ["https://docs.a.example/start", "documentation"],
    ["https://a.example/docs/start", "documentation"],
    ["https://forum.a.example/x", "forum"],
    ["https://a.example/viewtopic.php?t=1", "forum"],
    ["https://a.example/products/cleat", "product"],
    ["https://a.example/collections/cleats", "collection"],
    ["https://a.example/blog/", "listing"],
    ["https://a.example/services/caulking", "service"],
    ["no address", undefined],
  ];
  for (const [address, kind] of addresses) expect([address, kindByAddress(address)]).toEqual([address, kind]);
});

test("the data of a page and the program that made it tell its kind", () => {
  expect(kindBySigns(parsePage(THREAD))).toBe("forum");
  expect(kindBySigns(parsePage(PRODUCT))).toBe("product");
  expect(kindBySigns(parsePage('<meta name="generator" content="Docusaurus v3"><p>Text</p>'))).toBe("documentation");
  expect(kindBySigns(parsePage("<p>Text</p>"))).toBeUndefined();
});

test("an address or a sign that contradicts the trees changes nothing", () => {
  const html = articlePage(1, "<p>One more line of it.</p>", PLACES[0] as (typeof PLACES)[number]);
  const traits = traitsOf(html, "https://a.example/news/a");
  expect(kindShares({ ...traits, byAddress: "product", bySigns: "forum" }, kinds)).toEqual(kindShares(traits, kinds));
});

test("only a certain kind is told", () => {
  expect(certainKind(PAGE_KINDS.map((kind) => (kind === "forum" ? 0.94 : 0.01)))).toBe("forum");
  expect(certainKind(PAGE_KINDS.map(() => 1 / PAGE_KINDS.length))).toBeUndefined();
});

test("a page that is a thread or a list of products by its kind alone is treated as one", () => {
  const document = parsePage("<title>Cleats</title><p>Text</p>");
  const of = (kind: PageKind | undefined) => ({ document, kind: () => kind });
  expect([undefined, "article", "forum"].map((kind) => isThreadPage(of(kind as PageKind | undefined)))).toEqual([
    false,
    false,
    true,
  ]);
  expect(
    [undefined, "listing", "collection"].map((kind) => isCollectionPage(of(kind as PageKind | undefined))),
  ).toEqual([false, false, true]);
});
