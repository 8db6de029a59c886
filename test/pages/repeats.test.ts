// What a page shows twice in its small parts, and what it repeats on purpose.

import { expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { dropRepeats } from "../../src/pages/content/repeats.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

/** The texts of a page's blocks that are left. */
function left(html: string): string[] {
  const document = parsePage(html);
  const blocks = cutBlocks(document.body);
  const verdicts = blocks.map(() => 1);
  const kept = new Set(blocks);
  dropRepeats({
    document,
    blocks,
    verdicts,
    unadjusted: verdicts,
    kept,
    kind: () => undefined,
    isSureArticle: () => false,
  });
  return [...kept].map(({ text }) => text);
}

const SLIDE = "A lantern that burns through the longest night of the year.";

const cases: readonly (readonly [string, string, readonly string[]])[] = [
  ["the clone of a slide", `<div>${`<div class="swiper-slide"><p>${SLIDE}</p></div>`.repeat(3)}</div>`, [SLIDE]],
  [
    "the clone of a tile with a picture",
    `<ul>${`<li><img src="/l.jpg"><h3>Lantern of the northern harbour</h3><span>€ 40</span></li>`.repeat(2)}</ul>`,
    ["Lantern of the northern harbour", "€ 40"],
  ],
  [
    "the second title of a tile",
    `<div><div class="front"><h3>Lantern of the north</h3><p>New</p></div><div class="back"><h3><a href="/l">Lantern of the north</a></h3><p>€ 40</p></div></div>`,
    ["Lantern of the north", "New", "€ 40"],
  ],
  ["the line for another screen", `<div><p>${SLIDE}</p><p class="d-md-none">${SLIDE}</p></div>`, [SLIDE]],
  ["a hidden listing", `<pre>${SLIDE}</pre><pre class="brush: html hidden">${SLIDE}</pre>`, [SLIDE]],
  ["a hidden copy", `<div><p>${SLIDE}</p></div><div class="copy hidden"><div><p>${SLIDE}</p></div></div>`, [SLIDE]],
  [
    "a line in a section for another screen",
    `<section><p>${SLIDE}</p></section><section class="offer-mobile"><div><div><div><p>${SLIDE}</p></div></div></div><p>Call us</p></section>`,
    [SLIDE, "Call us"],
  ],
];
for (const [name, html, expected] of cases) test(`${name} is dropped`, () => expect(left(html)).toEqual([...expected]));

const repeated: readonly (readonly [string, string])[] = [
  ["a refrain", `<div><p>${SLIDE}</p><p>Second stanza.</p><p>${SLIDE}</p></div>`],
  ["a stanza", `<div><div><p>${SLIDE}</p></div><div><p>Between.</p></div><div><p>${SLIDE}</p></div></div>`],
  [
    "a row of a table",
    `<table>${`<tr><td><a href="/a">The ferry leaves at seven in the morning</a></td></tr>`.repeat(2)}</table>`,
  ],
  [
    "titles with text between them",
    `<h2>Chapter of ropes</h2><p>${SLIDE} ${SLIDE} ${SLIDE}</p><h2>Chapter of ropes</h2>`,
  ],
  ["titles with another title between them", `<h3>Opening hours</h3><h3>Winter</h3><h3>Opening hours</h3>`],
  [
    "an entry with the title of another one",
    [1, 2].map((n) => `<li><a href="/jobs/${n}">Keeper of the lantern, northern harbour</a></li>`).join(""),
  ],
  [
    "a line of similar entries with a size for small screens",
    [1, 2]
      .map((n) => `<div><h2>Meeting ${n}</h2><p class="is-size-7-mobile">A meeting in the northern harbour</p></div>`)
      .join(""),
  ],
  [
    "a line in a section with much else",
    `<section><p>${SLIDE}</p></section><section class="offer-mobile"><div><div><div><p>${SLIDE}</p></div></div></div><p>Call us, or write a letter to the harbour. Call us, or write a letter.</p></section>`,
  ],
  [
    "a step of a list with other steps",
    `<div class="steps-desktop"><div><ol><li><p>${SLIDE}</p><li>Click the gear.</ol></div></div><div class="steps-mobile"><div><ol><li><p>${SLIDE}</p><li>Tap.</ol></div></div>`,
  ],
  [
    "a cell of a table for small screens",
    `<div><p>${SLIDE}</p></div><div class="offer-mobile"><table><tbody><tr><td>${SLIDE}</td><td>Yes</td></tr></tbody></table></div>`,
  ],
  [
    "a line of a tab that is hidden at first",
    `<div class="plan"><p>${SLIDE}</p><p>€ 40 a month</p></div><div class="plan hidden"><p>${SLIDE}</p><p>€ 400 a year, paid at once</p></div>`,
  ],
  [
    "a line of a part that is shown on wide screens",
    `<div><p>${SLIDE}</p></div><div class="hidden md:grid"><p>${SLIDE}</p></div>`,
  ],
  [
    "tiles with other prices",
    `<div><a href="/1">Lantern of the north, large</a> € 40</div><div><a href="/1">Lantern of the north, large</a> € 50</div>`,
  ],
];
for (const [name, html] of repeated)
  test(`${name} is kept`, () => expect(left(html)).toEqual(cutBlocks(parsePage(html).body).map(({ text }) => text)));
