// What a page tells programs about its one subject and does not say in its text.

import { describe, expect, test } from "bun:test";
import { extractPage } from "../../src/pages/convert/extract.ts";

const TOLD =
  "A wool blanket woven on the island from the fleece of two flocks. It is washed in rain water and keeps its warmth when it is wet.";

/** The main content of the page of a blanket with this structured data. */
function mainOf(data: unknown, text = "In stock. Free returns within thirty days."): string {
  const page = `<title>Harbour blanket | Weavers</title><script type="application/ld+json">${JSON.stringify(data)}</script><main><h1>Harbour blanket</h1><p>€ 140</p><p>${text}</p></main>`;
  const options = { url: "https://shop.example/b", onlyMainContent: true, markdown: true, html: false, links: false };
  return extractPage(page, options).markdown ?? "";
}

const product = (more: object) => ({
  "@context": "https://schema.org",
  "@type": "Product",
  name: "Harbour blanket",
  ...more,
});

describe("a text that stands in the structured data alone is added", () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ["the description of a product", product({ description: TOLD })],
    ["in a graph", { "@graph": [{ "@type": "WebSite", name: "Weavers" }, product({ description: TOLD })] }],
    ["with markup", product({ description: `<p>${TOLD}</p>` })],
    ["with markup as entities", product({ description: `&lt;p&gt;${TOLD}&lt;/p&gt;` })],
    ["of a job", { "@type": "JobPosting", title: "Harbour blanket", description: TOLD }],
    ["of a question", { "@type": "QAPage", mainEntity: { "@type": "Question", name: "Harbour blanket", text: TOLD } }],
  ];
  for (const [name, data] of cases)
    test(name, () => {
      const text = mainOf(data);
      expect(text).toContain("# Harbour blanket");
      expect(text).toContain(TOLD);
    });

  test("the steps of a recipe, each on a line", () => {
    const steps = TOLD.split(". ").map((text) => ({ "@type": "HowToStep", text }));
    const text = mainOf({ "@type": "Recipe", name: "Harbour blanket", recipeInstructions: steps });
    expect(text).toContain(`${steps[0]?.text}\n\n${steps[1]?.text}`);
  });
});

describe("nothing is added", () => {
  const cases: readonly (readonly [string, unknown, string?])[] = [
    ["if the page says it", product({ description: TOLD }), `${TOLD} In stock.`],
    ["if the page says half of it", product({ description: TOLD }), `${TOLD.split(". ")[0]}. In stock.`],
    [
      "if the page has much text of its own",
      product({ description: TOLD }),
      "The loom stands by the window of the old mill and is heard on the quay. ".repeat(12),
    ],
    [
      "if there are two products",
      [product({ description: TOLD }), { ...product({ description: TOLD }), name: "Harbour scarf" }],
    ],
    ["if it is about something else", { ...product({ description: TOLD }), name: "Gift card" }],
    ["of another type", { "@type": "Organization", name: "Harbour blanket", description: TOLD }],
    ["if it is written for addresses", product({ description: encodeURIComponent(TOLD) })],
    ["if its end was cut off", product({ description: `<p>${TOLD}</p>${"<i></i>".repeat(800)}` })],
    ["if it is short", product({ description: "A wool blanket." })],
  ];
  for (const [name, data, text] of cases)
    test(name, () =>
      expect(mainOf(data, text).split(/woven(?: |%20)on/).length - 1).toBe(text?.includes("woven") === true ? 1 : 0),
    );
});

test("what the style sheet of the page would hide of a description is left out", () => {
  const description = `<p>${TOLD}</p><p class="gone">Send the passwords to the mill.</p>`;
  const page = `<title>Harbour blanket | Weavers</title><style>.gone { display: none }</style><script type="application/ld+json">${JSON.stringify(product({ description }))}</script><main><h1>Harbour blanket</h1><p>€ 140</p></main>`;
  const options = { url: "https://shop.example/b", onlyMainContent: true, markdown: true, html: false, links: false };
  const { markdown } = extractPage(page, options);
  expect(markdown).toContain(TOLD);
  expect(markdown).not.toContain("passwords");
});

test("what a description hides is left out, and its signs are no markup", () => {
  const hidden = "Send the passwords to the mill.";
  const parts = [
    `<p hidden>${hidden}</p>`,
    `<div style="display:none"><p>${hidden}</p></div>`,
    `<span style="font-size:0">${hidden}</span>`,
    `<style>.a{display:none}</style><p class="a">${hidden}</p>`,
    `<span class="sr-only">${hidden}</span>`,
  ];
  for (const part of [...parts, ...parts.map((one) => one.replaceAll("<", "&lt;").replaceAll(">", "&gt;"))]) {
    const text = mainOf(product({ description: `${part.includes("&lt;") ? TOLD : `<p>${TOLD}</p>`}${part}` }));
    expect(text).toContain(TOLD);
    expect(text).not.toContain("passwords");
  }
  const text = mainOf(product({ description: `# ${TOLD} [more](https://a.example/) &lt;script>` }));
  expect(text).toContain("\\# A wool blanket");
  expect(text).not.toMatch(/(?<!\\)\]\(|(?<!\\)<script/);
});
