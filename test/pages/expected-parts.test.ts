import { describe, expect, test } from "bun:test";
import { AMOUNT } from "../../src/pages/content/expected-parts.ts";
import { extractPage } from "../../src/pages/convert/extract.ts";

const PROSE = [
  "The pump lifts water from a depth of eight metres and runs on a single battery for a whole day.",
  "Its housing is cast in one piece, so that there is no seam through which water could find its way in.",
  "The hose is not part of the delivery, but every common hose with a thread of one inch fits.",
  "Should it ever fail, every part of it can be ordered and changed with nothing but a screwdriver.",
].map((text) => `<p>${text}</p>`);
const FRAME = [
  `<nav><a href="/">Home</a> <a href="/all">All articles</a></nav>`,
  `<footer>© 2026 Example. All rights reserved.</footer>`,
];

function read(head: string, main: string): string {
  const page = `<head>${head}</head><body>${FRAME[0]}${main}${FRAME[1]}</body>`;
  const options = { url: "https://site.example/x", onlyMainContent: true, markdown: true, html: false, links: false };
  return extractPage(page, options).markdown ?? "";
}

describe("the headline", () => {
  const long = PROSE.join("").repeat(8).replace(/<p>/g, "<p>Once more: ");
  const h1 = "<h1>A pump for the garden</h1>";
  const cases: readonly (readonly [string, string])[] = [
    ["plain", `<article>${h1}${long}</article>`],
    ["in the header of an entry", `<article><header class="entry-header">${h1}</header>${long}</article>`],
    ["in a hero", `<div class="hero"><div class="hero-inner">${h1}</div></div><article>${long}</article>`],
    ["in a header of the page", `<header class="page-header">${h1}</header><main>${long}</main>`],
    ["with a part in a line of its own", `<article><h1>A pump <span>for the garden</span></h1>${long}</article>`],
    [
      "beside the name of the site",
      `<header><h1 class="site-title">Example</h1></header><article>${h1}${long}</article>`,
    ],
  ];
  for (const [name, main] of cases)
    test(`${name} is kept`, () => {
      const markdown = read("<title>A pump for the garden | Example</title>", main);
      expect(markdown).toStartWith("# A pump for the garden\n");
      expect(markdown).not.toContain("# Example");
    });
  test("is the only one, whatever the title says", () =>
    expect(read("<title>Home</title>", `<article>${h1}${long}</article>`)).toStartWith("# A pump"));
  test.each([
    ["that leads to its start", "Ten pumps", '<h1><a href="/">Example</a></h1>'],
    ["that stands last in the title", "Ten pumps for the garden | Example", "<h1>Example</h1>"],
  ])("is not the name of the site %s", (_, title, name) =>
    expect(read(`<title>${title}</title>`, `<div class="top">${name}</div><article>${long}</article>`)).not.toContain(
      "Example",
    ),
  );
  test("is not the name of the site", () => {
    const head = `<title>Ten pumps</title><meta property="og:site_name" content="Example">`;
    expect(read(head, `<header><h1>Example</h1></header><article>${long}</article>`)).not.toContain("# Example");
  });
});

describe("an amount of money", () => {
  const amounts = "$24.99|24,99 €|CHF 24.90|￥2,499|2,499円（税込）|1,200円から|24,900원|￦24,900|100元|120 zł|5 kr";
  test.each(amounts.split("|"))("is %s", (text) => expect(text).toMatch(AMOUNT));
  const others = "24.99|24 hours|12円形の皿|100元素|3원칙|5 kronor på bordet|EU 24|円周率は3.14";
  test.each(others.split("|"))("is not %s", (text) => expect(text).not.toMatch(AMOUNT));
});

describe("the price beside a product's headline", () => {
  const product = `<title>Garden pump</title><meta property="og:type" content="product">`;
  const others = `<section class="related"><h2>Others also bought</h2>${`<div class="card"><a href="/p/2">Red hose</a><span class="price">$9.99</span></div>`.repeat(4)}</section>`;
  const cases: readonly (readonly [string, string, string])[] = [
    ["a span", '<span class="price">$24.99</span>', "$24.99"],
    ["a part", '<div class="product-price">$24.99</div>', "$24.99"],
    ["a box", '<p class="price-box">$24.99</p>', "$24.99"],
    ["without a name", "<div>24,99 €</div>", "24,99 €"],
    ["in another currency", '<div class="preis">CHF 24.90</div>', "CHF 24.90"],
    ["the old and the new one", '<div class="price"><del>$30.00</del> <ins>$24.99</ins></div>', "~~$30.00~~ $24.99"],
    ["in parts", '<div class="price"><div>From</div><div>$24.99</div></div>', "From\n\n$24.99"],
  ];
  for (const [name, price, expected] of cases)
    test(name, () => {
      const main = `<main><div><h1>Garden pump</h1>${price}<button>Add to cart</button>${PROSE.join("")}</div>${others}</main>`;
      const markdown = read(product, main);
      expect(markdown).toStartWith(`# Garden pump\n\n${expected}\n\nThe pump lifts`);
      expect(markdown).not.toContain("9.99\n\n$9.99");
    });
  test("is not the price of a tile below the headline", () => {
    const tiles = `<ul class="grid">${["Hose", "Valve", "Filter"].map((name) => `<li class="tile"><a href="/${name}">${name}</a><span class="price">$9.99</span></li>`).join("")}</ul>`;
    const blog = `<main><h1>Garden pump</h1>${tiles}<div>${PROSE.join("")}</div></main>`;
    expect(read(product, blog)).not.toStartWith("# Garden pump\n\n$9.99");
  });
});

describe("captions", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["a figure", '<figure><img src="/a.jpg" alt="A"><figcaption>The pump in use. Photo: Ann</figcaption></figure>'],
    [
      "a paragraph",
      '<div class="wp-caption"><img src="/a.jpg" alt="A"><p class="wp-caption-text">The pump in use.</p></div>',
    ],
  ];
  for (const [name, figure] of cases)
    test(`${name} between kept text keeps its image and caption`, () => {
      const main = `<article><h1>A pump</h1>${PROSE[0]}${PROSE[1]}${figure}${PROSE[2]}${PROSE[3]}</article>`;
      expect(read("<title>A pump</title>", main)).toMatch(
        /!\[A\]\(https:\/\/site\.example\/a\.jpg\)\s+The pump in use/,
      );
    });
  const credits = ["(Foto: Ann Lee)", "© Ann Lee/Example Images", "Photo by Ann Lee", "Bild: dpa"];
  test.each(credits)("one that only names the photographer is left out, but not its image: %s", (credit) => {
    const figure = `<figure><img src="/a.jpg" alt="A"><figcaption>${credit}</figcaption></figure>`;
    const main = `<article><h1>A pump</h1>${PROSE[0]}${PROSE[1]}${figure}${PROSE[2]}${PROSE[3]}</article>`;
    const markdown = read("<title>A pump</title>", main.replaceAll("<p>", "<p>At length and once more: "));
    expect(markdown).toContain("![A](https://site.example/a.jpg)");
    expect(markdown).not.toContain(credit);
  });
  test.each(["Foto: Der alte Hafen im Winter", "Photo: the old bridge in 1911"])(
    "one that says more stays: %s",
    (text) => {
      const figure = `<figure><img src="/a.jpg" alt="A"><figcaption>${text}</figcaption></figure>`;
      const main = `<article><h1>A pump</h1>${PROSE[0]}${PROSE[1]}${figure}${PROSE[2]}${PROSE[3]}</article>`;
      expect(read("<title>A pump</title>", main)).toContain(text);
    },
  );
  test("one beside removed text is removed too", () => {
    const aside = `<aside class="related"><h3>Read also</h3><figure><a href="/b"><img src="/b.jpg"></a><figcaption><a href="/b">Ten hoses</a></figcaption></figure></aside>`;
    expect(read("<title>A pump</title>", `<article><h1>A pump</h1>${PROSE.join("")}</article>${aside}`)).not.toContain(
      "hoses",
    );
  });
});

test.each([
  ["of the site is no note of the text", (list: string) => ["", `<footer>${list}</footer>`], false],
  ["of the site by its role is none either", (list: string) => ["", `<div role="contentinfo">${list}</div>`], false],
  ["of an article is one", (list: string) => [`<footer>${list}</footer>`, ""], true],
])("what stands in the footer %s", (_, place, isKept) => {
  const [inside, after] = place('<ol><li id="fn1">Compared with the pump of last year.</ol>');
  const text =
    '<p>Twice as fast<sup><a href="#fn1">1</a></sup> as any other pump that we have built in forty years.</p>';
  const page = read("", `<article><h1>A pump</h1>${text}${PROSE.join("")}${inside}</article>${after}`);
  expect(page.includes("pump of last year")).toBe(isKept);
});

test("notes in the footer of the section that refers to them are kept", () => {
  const mark = '<p>The first was cast in 1911<sup><a href="#fn1">1</a></sup> in a barn.</p>';
  const note = '<footer><p id="fn1">Records of the town.</p></footer>';
  expect(read("", `<section><h1>A pump</h1>${mark}${PROSE.join("")}${note}</section>`)).toContain("Records of the");
});

test.each([
  ["that lead back to their marks", '<ol><li id="fn1">Records of the town. <a href="#ref1">↩</a></ol>'],
  ["by their role", '<section role="doc-endnotes"><ol><li id="fn1">Records of the town.</ol></section>'],
])("notes %s are kept though they stand in a footer beside no article", (_, notes) => {
  const mark = '<p>The first was cast in 1911<sup id="ref1"><a href="#fn1">1</a></sup> in a barn.</p>';
  const page = read("", `<div><h1>A pump</h1>${mark}${PROSE.join("")}<footer>${notes}</footer></div>`);
  expect(page).toContain("Records of the town.");
});

describe("notes that kept text points to are kept", () => {
  const mark = (target: string, shown: string) =>
    `<p>The first was cast in 1911<sup><a href="#${target}">${shown}</a></sup> in a barn.</p>`;
  const cases: readonly (readonly [string, string, string])[] = [
    [
      "a list in a section",
      mark("fn1", "1"),
      '<section class="footnotes"><h2>Notes</h2><ol><li id="fn1">Records of the town.</li></ol></section>',
    ],
    [
      "references",
      mark("cite_note-1", "[1]"),
      '<ol class="references"><li id="cite_note-1"><span>Records of the town.</span></li></ol>',
    ],
    [
      "a paragraph with an anchor",
      mark("_ftn1", "[1]"),
      '<div class="notes"><p><a name="_ftn1" href="#_ftnref1">[1]</a> Records of the town.</p></div>',
    ],
    ["an aside", mark("note-a", "*"), '<aside class="footnote" id="note-a"><p>Records of the town.</p></aside>'],
  ];
  for (const [name, text, notes] of cases)
    test(name, () => {
      const main = `<article><h1>A pump</h1>${text}${PROSE.join("")}${notes}</article>`;
      expect(read("<title>A pump</title>", main)).toContain("Records of the town.");
    });
});

test("what can be chosen of a product is kept with its label", () => {
  const text =
    "The pump is made of brass and lasts for many years in salt water, as tests on boats of the coast guard show.";
  const html = `<title>Pump</title><main><h1>Pump</h1><p>€ 119.00</p><form action="/cart"><label for="c">Colour</label><select id="c"><option>Navy<option>Yellow (+€5.00)</select><button>Add to cart</button></form><h2>Description</h2>${`<p>${text}</p>`.repeat(4)}</main>`;
  const options = { url: "https://site.example/p", onlyMainContent: true, markdown: true, html: false, links: false };
  expect(extractPage(html, options).markdown).toContain("Colour\n\nNavy, Yellow (+€5.00)");
});
