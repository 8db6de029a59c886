import { describe, expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import type { PageKind } from "../../src/pages/content/kind-signs.ts";
import { chooseMain } from "../../src/pages/content/main-content.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const TITLE = "Grey wool blanket for a double bed";
const data = (offers: object) =>
  `<script type="application/ld+json">${JSON.stringify({ "@type": "Product", name: TITLE, ...offers })}</script>`;
const OFFER = data({ offers: { "@type": "Offer", price: 180, priceCurrency: "GBP" } });
const PRICE = '<div class="price">£180.00</div><button>Add to cart</button>';
const TEXT =
  "<p>Woven on two looms from 1952, of wool that is washed, spun and dyed within a day's walk of the mill.</p>";
const tile = (name: string, at: number) =>
  `<li><img src="/${at}.jpg"><div><h3>${name}</h3><span class="amount">£${at}9.00</span></div><a href="/p/${at}"></a></li>`;
const row = (name: string, count = 5) =>
  `<ul class="track">${Array.from({ length: count }, (_, at) => tile(`${name} ${at + 1}`, at + 1)).join("")}</ul>`;
const OTHERS = `<h2>What others look at</h2>${row("Blanket of lambswool number")}`;

/** The text that is kept if the fitted model would keep everything. */
function kept(head: string, main: string, kind?: PageKind): string {
  const page = parsePage(`<title>${TITLE}</title>${head}<main><h1>${TITLE}</h1>${main}</main>`);
  const blocks = cutBlocks(page.body);
  const verdicts = blocks.map(() => 0.9);
  return [...chooseMain(page, blocks, verdicts, { kind: () => kind })].map(({ text }) => text).join("\n");
}

describe("tiles of other products on a page about one", () => {
  test.each([
    ["whose data offer it", OFFER, TEXT, undefined],
    ["whose data offer several forms of it", data({ offers: [{ "@type": "Offer" }] }), TEXT, "collection" as const],
    [
      "whose data offer each of its forms",
      data({ "@type": "ProductGroup", hasVariant: [{ "@type": "Product", offers: { "@type": "Offer" } }] }),
      TEXT,
      undefined,
    ],
    ["with a price beside its headline", "", PRICE + TEXT, undefined],
  ])("%s are left out, with their heading", (_, head, own, kind) => {
    const text = kept(head, own + OTHERS, kind);
    expect(text).toContain("two looms");
    expect(text).not.toMatch(/lambswool|others look at|£19\.00/);
  });

  test("before its headline are left out, too", () => {
    const page = parsePage(`<title>${TITLE}</title>${OFFER}${OTHERS}<main><h1>${TITLE}</h1>${TEXT}</main>`);
    const blocks = cutBlocks(page.body);
    const text = [...chooseMain(page, blocks, Array(blocks.length).fill(0.9))].map(({ text }) => text).join("\n");
    expect(text).not.toContain("lambswool");
  });
});

describe("tiles are kept", () => {
  test.each([
    ["of a category that calls itself a product", data({ aggregateRating: { ratingValue: 4.7 } }), TEXT + OTHERS],
    ["of a page without a price", "", TEXT + OTHERS],
    ["of a product that is not offered", data({ hasVariant: [{ "@type": "Product", name: "Grey" }] }), TEXT + OTHERS],
    ["of the forms of a product", OFFER, PRICE + TEXT + row("Size")],
    ["of the plans at which it is sold", OFFER, TEXT + row("A plan for many beds").replace(/<img[^>]*>/g, "")],
    ["that are few", OFFER, PRICE + TEXT + row("Blanket of lambswool number", 3)],
    [
      "that are a table of prices",
      OFFER,
      `${PRICE}${TEXT}<table>${`<tr><td>Blanket of lambswool</td><td><a href="/x">£19.00</a></td></tr>`.repeat(5)}</table>`,
    ],
  ])("%s", (_, head, main) => {
    expect(kept(head, main)).toMatch(/£19\.00/);
  });

  test.each([
    ["in a set", "This set contains"],
    ["in a set, in German", "Im Set enthalten"],
    ["in a set, in Japanese", "セット内容"],
    ["in colours", "Available in these colours"],
    ["in sizes, in German", "Größe wählen"],
  ])("that are sold %s", (_, label) => {
    const text = kept(OFFER, `${PRICE}${TEXT}<h2>${label}</h2>${row("Blanket of lambswool number")}`);
    expect(text).toContain("lambswool number 5");
    expect(text).toContain(label);
  });

  test("of the forms of a product by their names, or by addresses that differ in queries alone", () => {
    expect(kept(OFFER, PRICE + TEXT + row(`${TITLE}, size`))).toContain("size 5");
    const forms = row("Blanket of lambswool number").replace(/\/p\/(\d)/g, "/products/blanket?form=$1");
    expect(kept(OFFER, PRICE + TEXT + forms)).toContain("lambswool number 5");
    const others = row("Blanket of lambswool number").replace(/\/p\/(\d)/g, "/shop.php?product=$1");
    expect(kept(OFFER, PRICE + TEXT + others)).not.toContain("lambswool");
  });

  test.each([
    ["an amount is no price", '<p class="offer">Free delivery from £50</p>', ""],
    ["its address is that of one", PRICE, '<link rel="canonical" href="https://shop.example/collections/wool">'],
    ["the price is that of its first tile", "", ""],
  ])("of a category of which nothing is sure, but %s", (_, above, head) => {
    const tiles = row("Blanket of lambswool number").replace(/<li>/g, "<li><button>Add to cart</button>");
    const unique = tiles
      .replace(/h3>/g, "p>")
      .replace(/"amount"/g, '"price"')
      .split("<li>")
      .map((part, at) => (at === 0 ? part : `<li class="p${at}">${part}`));
    expect(kept(head, above + unique.join("") + TEXT)).toContain("lambswool number 5");
  });

  test.each(["collection", "listing", "article"] as const)("if the page is surely a %s with a price", (kind) => {
    expect(kept("", PRICE + TEXT + OTHERS, kind)).toContain("£19.00");
  });
});
