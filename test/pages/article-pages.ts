// Articles written by a fixed rule, with one block put into them. They count how often main-content extraction keeps a block whole.

/** A block that is part of an article: its HTML and the texts that show that it came out whole. */
export interface ArticleBlock {
  readonly name: string;
  readonly html: string;
  readonly texts: readonly string[];
}

/** Where a block is put, and whether the page has a header, navigation, a sidebar and a footer. */
export const PLACES = [
  { name: "plain, middle", hasFrame: false, isLast: false },
  { name: "plain, end", hasFrame: false, isLast: true },
  { name: "framed, middle", hasFrame: true, isLast: false },
  { name: "framed, end", hasFrame: true, isLast: true },
] as const;

const SUBJECTS = [
  "The harbour",
  "An old mill",
  "The night train",
  "A reed bed",
  "The town archive",
  "A brick kiln",
  "The ferry",
  "A glass roof",
];
const VERBS = [
  "was built by hand",
  "keeps its own time",
  "needs repair each spring",
  "has outlived its owners",
  "carries more than it did",
  "was drawn before it was paid for",
];
const PLACES_OF = [
  "on the north shore",
  "behind the market",
  "beside the canal",
  "under the hill",
  "at the edge of the fen",
];
const REASONS = [
  "because the stone was cheap",
  "and nobody has written down why",
  "although the survey of that year says otherwise",
  "which the council noted with some surprise",
  "so that the work went on through the winter",
  "as the letters of the surveyor show",
  "while the younger workers learned the trade",
];

/** A sequence of numbers that is the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = (seed * 2654435761) >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function paragraph(next: (below: number) => number): string {
  const pick = (from: readonly string[]) => from[next(from.length)] as string;
  const sentences = Array.from(
    { length: 3 + next(3) },
    () => `${pick(SUBJECTS)} ${pick(PLACES_OF)} ${pick(VERBS)}, ${pick(REASONS)}.`,
  );
  return `<p>${sentences.join(" ")}</p>`;
}

/** An article of a headline and four paragraphs that holds the block. */
export function articlePage(seed: number, block: string, { hasFrame, isLast }: (typeof PLACES)[number]): string {
  const next = numbers(seed + 1);
  const paragraphs = Array.from({ length: 4 }, () => paragraph(next));
  paragraphs.splice(isLast ? 4 : 2, 0, block);
  const title = `${SUBJECTS[next(SUBJECTS.length)]} in the year ${1900 + next(99)}`;
  const article = `<main><article><h1>${title}</h1>${paragraphs.join("")}</article></main>`;
  const body = hasFrame ? `${HEADER}<div class="layout">${article}${SIDEBAR}</div>${FOOTER}` : article;
  return `<!doctype html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`;
}

/** Texts of the frame, none of which is content. */
export const FRAME_TEXTS = [
  "Quayside Journal",
  "Harbour news",
  "Join our mailing list",
  "Tide tables of the week",
  "Terms of use",
  "© 2026 Quayside",
] as const;
const HEADER =
  '<header class="site-header"><a href="/">Quayside Journal</a><nav><ul><li><a href="/news">Harbour news</a></li>' +
  '<li><a href="/boats">Boats</a></li><li><a href="/tides">Tides</a></li><li><a href="/login">Sign in</a></li></ul></nav></header>';
const SIDEBAR =
  '<aside class="sidebar"><h3>Join our mailing list</h3><p>One letter a month.</p><h3>Popular</h3><ul>' +
  '<li><a href="/p/1">Tide tables of the week</a></li><li><a href="/p/2">Ten knots for every day</a></li></ul></aside>';
const FOOTER =
  '<footer class="site-footer"><ul><li><a href="/terms">Terms of use</a></li><li><a href="/contact">Contact</a></li></ul>' +
  "<p>© 2026 Quayside. All rights reserved.</p></footer>";

const link = (text: string) => `<a href="/${text.toLowerCase().replace(/\W+/g, "-")}">${text}</a>`;

/** Blocks that belong to an article. */
export const BLOCKS: readonly ArticleBlock[] = [
  block("callout of one sentence", '<aside class="callout">Keep the lower valve shut while the pump runs.</aside>', [
    "Keep the lower valve shut",
  ]),
  block(
    "aside with a heading",
    "<aside><h3>The second gate</h3><p>It stands to the east. Few visitors see it.</p></aside>",
    ["The second gate", "Few visitors see it"],
  ),
  block("aside with the role of a note", '<aside role="note">The gate is closed on Sundays.</aside>', [
    "The gate is closed on Sundays",
  ]),
  block(
    "note of a documentation generator",
    '<aside class="starlight-aside starlight-aside--note" aria-label="Note"><p class="starlight-aside__title">Note</p><div class="starlight-aside__content"><p>Requires Node 18 or later.</p></div></aside>',
    ["Note", "Requires Node 18 or later"],
  ),
  block("callout in a custom element", "<sl-callout>Version 3 changed the default port to 9000.</sl-callout>", [
    "changed the default port to 9000",
  ]),
  block("paragraph named aside", '<p class="aside">The old bell hangs in the museum.</p>', [
    "The old bell hangs in the museum",
  ]),
  block(
    "list of three links",
    `<ul><li>${link("Ropes")}</li><li>${link("Knots and splices")}</li><li>${link("Sail makers")}</li></ul>`,
    ["Ropes", "Knots and splices", "Sail makers"],
  ),
  block(
    "sentence and a list of two links",
    `<p>The parts are described here:</p><ul><li>${link("Upper works")}</li><li>${link("Lower works")}</li></ul>`,
    ["The parts are described here", "Upper works", "Lower works"],
  ),
  block(
    "sentence and a list of two numbered links",
    `<p>The parts are described here:</p><ul><li><a href="/a">X1 Ropes</a></li><li><a href="/b">X2 Knots</a></li></ul>`,
    ["The parts are described here", "X1 Ropes", "X2 Knots"],
  ),
  block(
    "heading Next steps and two links",
    `<h2>Next steps</h2><ul><li>${link("Set up the pump")}</li><li>${link("Test it at sea")}</li></ul>`,
    ["Next steps", "Set up the pump", "Test it at sea"],
  ),
  block(
    "heading and two links",
    `<h2>Further steps</h2><ul><li>${link("Fit the rudder")}</li><li>${link("Paint the hull")}</li></ul>`,
    ["Further steps", "Fit the rudder", "Paint the hull"],
  ),
  block(
    "heading See also and three links",
    `<h2>See also</h2><ul><li>${link("Ropes")}</li><li>${link("Knots and splices")}</li><li>${link("Sail makers")}</li></ul>`,
    ["See also", "Ropes", "Knots and splices", "Sail makers"],
  ),
  block(
    "links with a clause each",
    `<ul><li>${link("Ropes")}: how they are made and kept dry</li><li>${link("Knots")}: which of them hold</li></ul>`,
    ["how they are made and kept dry", "which of them hold"],
  ),
  block("terms", "<dl><dt>Quay</dt><dd>A landing place.</dd><dt>Mole</dt><dd>A wall in the sea.</dd></dl>", [
    "Quay",
    "A landing place",
    "Mole",
    "A wall in the sea",
  ]),
  block("list of two short items", "<ul><li>Two ropes</li><li>One hook</li></ul>", ["Two ropes", "One hook"]),
  block("list of four short items", "<ul><li>Two ropes</li><li>One hook</li><li>A lamp</li><li>Dry socks</li></ul>", [
    "Two ropes",
    "One hook",
    "A lamp",
    "Dry socks",
  ]),
  block(
    "task list",
    '<ul class="contains-task-list"><li><input type="checkbox" checked> done</li><li><input type="checkbox"> open</li></ul>',
    ["done", "open"],
  ),
  block(
    "references",
    "<ol><li>Hale, J. Harbours of the north, 1931.</li><li>Reed, A. Notes on locks, 1954.</li></ol>",
    ["Hale, J.", "Reed, A."],
  ),
  block("small table", "<table><tr><th>Length</th><td>12 m</td></tr><tr><th>Beam</th><td>4 m</td></tr></table>", [
    "Length",
    "12 m",
    "Beam",
    "4 m",
  ]),
  block(
    "table of three rows",
    "<table><tr><th>Year</th><th>Ships</th><th>Crew</th></tr><tr><td>1911</td><td>40</td><td>212</td></tr><tr><td>1912</td><td>44</td><td>230</td></tr></table>",
    ["Year", "1911", "212", "230"],
  ),
  block("quotation", "<blockquote><p>We waited for the tide.</p></blockquote>", ["We waited for the tide"]),
  block("note in a division", '<div class="note">Bring your own lamp.</div>', ["Bring your own lamp"]),
  block("address", "<address>Quay Road 4, Northport</address>", ["Quay Road 4, Northport"]),
  block("downloads", `<p>${link("Plan of the lock (PDF, 2 MB)")}</p>`, ["Plan of the lock (PDF, 2 MB)"]),
  block("contact", '<p>Questions: <a href="mailto:lock@example.org">lock@example.org</a></p>', ["lock@example.org"]),
  block("details", "<details><summary>How deep is it?</summary><p>Four metres at low water.</p></details>", [
    "How deep is it?",
    "Four metres at low water",
  ]),
  block("short paragraph", "<p>Then he went home.</p>", ["Then he went home"]),
  block("bold paragraph", "<p><b>The keeper closed the gate.</b></p>", ["The keeper closed the gate"]),
  block("heading and a paragraph", "<h4>The lamp</h4><p>It was lit at dusk.</p>", ["The lamp", "It was lit at dusk"]),
  block("code of one line", "<pre><code>npm install</code></pre>", ["npm install"]),
  block("figure", '<figure><img src="/a.jpg" alt="Gate"><figcaption>The gate in 1931.</figcaption></figure>', [
    "The gate in 1931",
  ]),
  block("price", "<p>Tickets: €12.50</p>", ["Tickets: €12.50"]),
  block("date", "<p>Opened on 4 May 1911</p>", ["Opened on 4 May 1911"]),
  block("division", "<div>The gate is painted green.</div>", ["The gate is painted green"]),
];

function block(name: string, html: string, texts: readonly string[]): ArticleBlock {
  return { name, html, texts };
}
