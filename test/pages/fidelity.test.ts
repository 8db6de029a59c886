import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkFidelity } from "../../scripts/fit/fidelity.ts";
import { extractPage } from "../../src/pages/convert/extract.ts";
import { corpusPages } from "../support/page-corpus.ts";

/** Words and numbers for which a change or a missing space would be noticed. */
const word = fc.constantFrom(
  "alpha",
  "Beta",
  "0.5",
  "1911",
  "mg",
  "a_b",
  "x*y",
  "C#",
  "12,408",
  "[sic]",
  "1.",
  "50%",
  "<5",
);
const text = fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => words.join(" ").replaceAll("<", "&lt;"));
const inline = fc.oneof(
  text,
  fc
    .tuple(fc.constantFrom("b", "i", "em", "strong", "span", "u", "mark"), text)
    .map(([tag, inner]) => `<${tag}>${inner}</${tag}>`),
  text.map((inner) => `<a href="/x">${inner}</a>`),
  fc.tuple(fc.constantFrom("sup", "sub"), fc.nat(20)).map(([tag, figure]) => `1911<${tag}>${figure}</${tag}>`),
  fc.nat(9).map((figure) => `1911<sup><a href="#fn${figure}">${figure}</a></sup>`),
);
/** Ways in which pages write a space or a line break. */
const BLANKS = [
  " ",
  "<br>",
  '<a href="/x"><span>&nbsp;</span></a>',
  "<b><br></b>",
  "<i>\n</i>",
  "<span><span> </span></span>",
];
const line = fc
  .tuple(fc.array(inline, { minLength: 1, maxLength: 4 }), fc.constantFrom("", ", ", ...BLANKS))
  .map(([parts, between]) => parts.join(between));
const block = fc.oneof(
  fc
    .tuple(fc.constantFrom("p", "h2", "h3", "div", "blockquote"), line)
    .map(([tag, inner]) => `<${tag}>${inner}</${tag}>`),
  fc
    .array(line, { minLength: 1, maxLength: 3 })
    .map((items) => `<ul>${items.map((item) => `<li>${item}</li>`).join("")}</ul>`),
  fc
    .array(text, { minLength: 2, maxLength: 4 })
    .map(
      (cells) =>
        `<table><tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr><tr>${cells.map(() => "<td>1</td>").join("")}</tr></table>`,
    ),
);

describe("words and numbers of kept text are not changed", () => {
  test("in any element", () => {
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 12 }), (blocks) => {
        expect(checkFidelity(`<title>T</title><main>${blocks.join("")}</main>`).missing).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
  for (const { name, html } of corpusPages())
    test(name, () => {
      const { kept, missing } = checkFidelity(html);
      expect(missing).toEqual([]);
      expect(kept).toBeGreaterThan(0);
    });
});

test.each(BLANKS)("%j separates words in main content", (blank) => {
  const said = "Drones reach places that were once expensive to film, as everybody knows who tried.";
  const page = `<title>T</title><main><h1>T</h1>${`<p><span>${said} Made by</span>${blank}<a href="/y">DJI</a></p>`.repeat(3)}</main>`;
  const options = { url: "https://site.example/x", onlyMainContent: true, markdown: true, html: false, links: false };
  expect(extractPage(page, options).markdown).toMatch(/Made by\s+\[DJI\]/);
});

describe("intended changes are named by their rule", () => {
  const prose = "<p>Drones reach places that were once expensive to film, as everybody knows who tried it.</p>";
  test.each([
    ["icons", '<p><i class="material-icons">local_offer</i>Spring sale on all of our drones, while they last</p>'],
    [
      "notes",
      '<p>So they say<sup><a href="#cite_note-1">1</a></sup> everywhere.</p><ol><li id="cite_note-1"><span class="mw-cite-backlink">^ <a href="#cite_ref-1">a</a></span> Said in 1990.</li></ol>',
    ],
    [
      "captions",
      "<table><tr><th>Drone</th><th>Price</th></tr><tr><td>One</td><td>1</td></tr><caption>Scores of all drones</caption></table>",
    ],
    [
      "tabs",
      `<div id="a">${prose}</div><div id="b">${prose.replace("film", "see")}</div><div role="tablist"><div role="tab" aria-controls="a">First kind</div><div role="tab" aria-controls="b">Second kind</div></div>`,
    ],
  ])("%s", (rule, part) => {
    const { missing, intended } = checkFidelity(`<title>T</title><main><h1>T</h1>${prose}${part}${prose}</main>`);
    expect(missing).toEqual([]);
    expect([...intended.keys()].map((name) => name.replace(/:.*/, ""))).toEqual([rule]);
  });
});
