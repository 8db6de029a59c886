import { describe, expect, test } from "bun:test";
import { tidy } from "../../src/pages/content/tidy.ts";
import { createTrace } from "../../src/pages/content/trace.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";
import { toMarkdown } from "../../src/pages/markdown/markdown.ts";

function convert(html: string): string {
  const document = parsePage(html);
  tidy(document, "https://site.example/dir/page", createTrace(false));
  return toMarkdown(document.body);
}

type Case = readonly [name: string, html: string, markdown: string];

const PANELS: readonly [string, string] = ["<p>Fetch it.</p>", "<p>Build it.</p>"];
const NAMED = "**Linux**\n\nFetch it.\n\n**macOS**\n\nBuild it.";
const TABS: readonly Case[] = [
  [
    "that name their panel",
    `<div role="tablist"><button role="tab" aria-controls="a">Linux</button><button role="tab" aria-controls="b">macOS</button></div><div role="tabpanel" id="a">${PANELS[0]}</div><div role="tabpanel" id="b" hidden>${PANELS[1]}</div>`,
    NAMED,
  ],
  [
    "that are named by their panel",
    `<div role="tablist"><button role="tab" id="t1">Linux</button><button role="tab" id="t2">macOS</button></div><div role="tabpanel" aria-labelledby="t1">${PANELS[0]}</div><div role="tabpanel" aria-labelledby="t2">${PANELS[1]}</div>`,
    NAMED,
  ],
  [
    "in the order of their panels",
    `<div><ul role="tablist"><li role="tab">Linux</li><li role="tab">macOS</li></ul><div><div role="tabpanel">${PANELS[0]}</div><div role="tabpanel" hidden>${PANELS[1]}</div></div></div>`,
    NAMED,
  ],
  [
    "that are links",
    `<ul class="nav nav-tabs"><li><a href="#a" data-toggle="tab">Linux</a></li><li><a href="#b" data-toggle="tab">macOS</a></li></ul><div class="tab-content"><div class="tab-pane" id="a">${PANELS[0]}</div><div class="tab-pane" id="b">${PANELS[1]}</div></div>`,
    NAMED,
  ],
  [
    "that are labels",
    `<div class="tabbed-set"><input type="radio" id="i1"><input type="radio" id="i2"><div class="tabbed-labels"><label for="i1">Linux</label><label for="i2">macOS</label></div><div class="tabbed-content"><div class="tabbed-block">${PANELS[0]}</div><div class="tabbed-block">${PANELS[1]}</div></div></div>`,
    NAMED,
  ],
  [
    "of a group of listings",
    '<div class="code-group"><div class="tabs"><input type="radio"><label>a.ts</label><input type="radio"><label>b.ts</label></div><div class="blocks"><div class="language-ts"><pre>1</pre></div><div class="language-ts"><pre>2</pre></div></div></div>',
    "**a.ts**\n\n```ts\n1\n```\n\n**b.ts**\n\n```ts\n2\n```",
  ],
  [
    "whose panel has the name already",
    `<div role="tablist"><button role="tab" aria-controls="a">Linux</button></div><div id="a"><h3>Linux</h3>${PANELS[0]}</div>`,
    "### Linux\n\nFetch it.",
  ],
  [
    "that hold their panel",
    `<div role="tablist"><div role="tab" aria-controls="a"><b>Linux</b><div id="a">${PANELS[0]}</div></div></div>`,
    "**Linux**\n\nFetch it.",
  ],
  [
    "whose panel begins with a listing that begins with the name",
    `<div role="tablist"><a role="tab" id="t1" href="#a">npm</a><a role="tab" id="t2" href="#b">pnpm</a></div><div id="a" role="tabpanel" aria-labelledby="t1"><pre><code><span>npm</span><span> install</span></code></pre></div><div id="b" role="tabpanel" aria-labelledby="t2"><pre><code><span>pnpm</span><span> add</span></code></pre></div>`,
    "**npm**\n\n```\nnpm install\n```\n\n**pnpm**\n\n```\npnpm add\n```",
  ],
  [
    "of sphinx-design, whose labels are between the panels",
    `<div class="sd-tab-set"><input type="radio" id="s0"><label class="sd-tab-label" for="s0">Linux</label><div class="sd-tab-content">${PANELS[0]}</div><input type="radio" id="s1"><label class="sd-tab-label" for="s1">macOS</label><div class="sd-tab-content">${PANELS[1]}</div></div>`,
    NAMED,
  ],
  [
    "whose panels are not there",
    '<ul role="tablist"><li role="tab" aria-controls="a">Linux</li><li role="tab">macOS</li></ul><p>Text</p>',
    "- Linux\n- macOS\n\nText",
  ],
];

const SIDE_BY_SIDE: readonly Case[] = [
  ["a count and its word", "<p><b>42</b><span>Stars</span></p>", "**42** Stars"],
  ["a word and its count", "<p><span>Forks</span><strong>1,204</strong></p>", "Forks **1,204**"],
  ["a share", "<p><span>99.9%</span><span>Uptime</span></p>", "99.9% Uptime"],
  ["a time", "<p><time>10:00am</time><span>1</span></p>", "10:00am 1"],
  [
    "a name and what was done",
    "<p><b>Ada Pipe</b><span>Reviewed 06/08/2024</span></p>",
    "**Ada Pipe** Reviewed 06/08/2024",
  ],
  ["a price in a span of its own", '<p><span class="l">From</span><span class="p">$12</span></p>', "From $12"],
  ["a mark of the order of bytes parts no word", "<p>H\ufeffow</p>", "How"],
  [
    "how a word is read",
    "<p><ruby>更紗<rt>さらさ</rt></ruby>と<ruby>縞<rp>（</rp><rt>しま</rt><rp>）</rp></ruby></p>",
    "更紗(さらさ)と縞（しま）",
  ],
  ["an ordinal stays one", "<p><span>1</span><span>st</span></p>", "1st"],
  ["a unit stays one", "<p><span>10</span><span>kg</span></p>", "10kg"],
  [
    "a word in two styles stays one",
    "<p><b>Im</b><i>portant</i> <span>Java</span><span>Script</span></p>",
    "**Im***portant* JavaScript",
  ],
  ["in code nothing is added", "<pre><b>42</b><span>Stars</span></pre>", "```\n42Stars\n```"],
  [
    "a break at the start of a font in bold",
    '<p><a href="/x"><b>asp</b></a><b><font> <br>For longer</font></b></p>',
    "[**asp**](https://site.example/x)\n**For longer**",
  ],
];

const LINKS: readonly Case[] = [
  [
    "with half a pair of brackets",
    '<a href="/x">Price list (Press], 1873)</a> <a href="/y">a [b</a> <a href="/z">[c]</a>',
    "[Price list (Press\\], 1873)](https://site.example/x) [a \\[b](https://site.example/y) [[c]](https://site.example/z)",
  ],
  ["within a link", '<div><a href="/x"><span><a href="/y">sale</a></span></a></div>', "[sale](https://site.example/y)"],
  [
    "of a heading to itself, whole address and all",
    '<h2 id="a"><a href="https://site.example/dir/page#a">Opening</a></h2><h2><a href="/dir/other#a">Other</a></h2>',
    "## Opening\n\n## [Other](https://site.example/dir/other#a)",
  ],
];

const NUMBERS: readonly Case[] = [
  [
    "a paragraph that begins with a number in an element of its own is no item of a list",
    "<p><span>1</span>. Income</p><p><span>3</span>. Resident</p><p>In <b>3</b>. that</p>",
    "1\\. Income\n\n3\\. Resident\n\nIn **3**. that",
  ],
  [
    "notes keep the order of the page",
    '<p>a<sup><a href="#n2">2</a></sup> b<sup><a href="#n1">1</a></sup></p><ol><li id="n1">One.</li><li id="n2">Two.</li></ol>',
    "a[^2] b[^1]\n\n[^1]: One.\n\n[^2]: Two.",
  ],
  [
    "what nothing points to stays at its place among them",
    '<p>a<sup><a href="#n2">2</a></sup></p><ol><li id="n1">One.</li><li id="n2">Two.</li><li id="n3">Three.</li></ol>',
    "a[^2]\n\n1. One.\n\n[^2]: Two.\n\n3. Three.",
  ],
];

const PLAYERS: readonly Case[] = [
  [
    "what stands in it instead is its name",
    '<video><source src="/v.mp4"><p>Exercise: Lat pulldown</p></video>',
    "[Exercise: Lat pulldown](https://site.example/v.mp4)",
  ],
  [
    "what stands in one without an address is text",
    "<p>a</p><video><p>Instead of it</p></video><audio>Your browser is too old</audio>",
    "a\n\nInstead of it",
  ],
  [
    "but not a word to old browsers",
    '<video src="/v.mp4">Your browser does not support the video tag.</video>',
    "[Video](https://site.example/v.mp4)",
  ],
];

const FORUMS: readonly Case[] = [
  ["a post is no quotation", '<blockquote class="postcontent restore">I say</blockquote>', "I say"],
];

for (const [title, cases] of Object.entries({ TABS, SIDE_BY_SIDE, LINKS, NUMBERS, PLAYERS, FORUMS }))
  describe(title.toLowerCase().replaceAll("_", " "), () => {
    for (const [name, html, markdown] of cases) test(name, () => expect(convert(html)).toBe(markdown));
  });

// Quadratic work would not end within the test's time.
test("the time for a page of tabs is linear in their number", () => {
  const tabs = `<div role="tablist"><span role="tab">x</span><span role="tab">y</span></div><div role="tabpanel">a</div>`;
  expect(convert(tabs.repeat(4000)).slice(0, 8)).toBe("x y\n\na\n\n");
});

describe("signs of blocks after a part with lines of its own", () => {
  const parts: readonly (readonly [part: string, markdown: string])[] = [
    ["Before<br><br>", "Before"],
    ["<table><tr><th>A<th>B<tr><td>C<td>D</table>", "| A | B |\n| --- | --- |\n| C | D |"],
    ["<details><summary>More</summary>", "**More**"],
    ["<button>Press</button>", "Press"],
    ["<label>Name</label>", "Name"],
    ["<h2>Title</h2>", "## Title"],
  ];
  const signs = ["1. one", "2) two", "- dash", "+ plus", "# hash", "> angle"];
  for (const [part, markdown] of parts)
    for (const sign of signs)
      test(`${sign} after ${part}`, () => {
        const escaped = sign.replace(/[.)#>+-]/, "\\$&");
        expect(convert(`<div>${part}\n${sign}<br><br>After</div>`)).toBe(`${markdown}\n\n${escaped}\n\nAfter`);
      });
  test("a sign amid a line stays as it is", () => {
    expect(convert('<p><img src="https://a.example/x.png" alt="X"> - one</p>')).toBe(
      "![X](https://a.example/x.png) - one",
    );
  });
});

test.each<Case>([
  ["by its style", '<p>Was <span style="text-decoration:line-through">€9</span> €7</p>', "Was ~~€9~~ €7"],
  [
    "twice by its style",
    '<p><span style="text-decoration:line-through"><span style="text-decoration-line:line-through">€9</span></span></p>',
    "~~€9~~",
  ],
  ["twice by its element", "<p><del><s>€9</s></del></p>", "~~€9~~"],
])("text that is struck out %s", (_, html, markdown) => expect(convert(html)).toBe(markdown));

describe("line breaks and paragraphs", () => {
  test.each<Case>([
    ["two breaks", "<p>One<br>two<br><br>three</p>", "One\ntwo\n\nthree"],
    ["white space between breaks", "<div>One<br>\n <br/>&nbsp;<br>two</div>", "One\n\ntwo"],
    ["within bold text", "<b>One<br><br>two</b>", "One\n\ntwo"],
    ["at the end of a paragraph", "<p>One<br><br></p><p>Two</p>", "One\n\nTwo"],
    ["in a list", "<ul><li>One<br><br>two</li></ul>", "- One\n\n  two"],
    ["in code", "<pre>a<br><br>b</pre>", "```\na\n\nb\n```"],
    ["in a cell", "<table><tr><th>A<th>B<tr><td>1<br><br>2<td>3</table>", "| A | B |\n| --- | --- |\n| 1<br>2 | 3 |"],
  ])("%s", (_, html, markdown) => expect(convert(html)).toBe(markdown));

  test("values that a page shows as bars or results are part of their sentence", () => {
    const html =
      "<p>Used <meter value=6>60%</meter>, done <progress>30%</progress>, sum <output>7</output> in all.</p>";
    expect(convert(html)).toBe("Used 60%, done 30%, sum 7 in all.");
  });
});

/** Each is read by a CommonMark reader as the same emphasis that the page has. */
const EMPHASIS: readonly Case[] = [
  ["pieces beside each other", "<p><b>bold <i>both</i></b><i>italic</i> end</p>", "**bold *both***<em>italic</em> end"],
  ["a second piece that begins with another", "<p><i>a</i><b><i>b</i> c</b></p>", "*a*<strong>*b* c</strong>"],
  ["two simple pieces", "<p><b>Im</b><i>portant</i></p>", "**Im***portant*"],
  ["brackets within a Japanese sentence", "<p>は<b>「新規」</b>の</p>", "は<strong>「新規」</strong>の"],
  ["words within a Japanese sentence", "<p>は<b>新規</b>の</p>", "は**新規**の"],
  ["brackets at the end of a sentence", "<p>これは<i>「新規」</i>。</p>", "これは<em>「新規」</em>。"],
  ["a sign before a word", "<p><b>Note:</b>text</p>", "<strong>Note:</strong>text"],
  ["a sign before a space", "<p><b>Note:</b> text</p>", "**Note:** text"],
  ["a space within", "<p><b>Note: </b>text</p>", "**Note:** text"],
  ["a struck out price within a word", "<p>a<s>(b)</s>c</p>", "a<del>(b)</del>c"],
  ["brackets alone", "<p><b>(b)</b></p>", "**(b)**"],
  ["one in another", "<p><b><i>both</i></b></p>", "***both***"],
];

describe("emphasis", () => {
  for (const [name, html, markdown] of EMPHASIS) test(name, () => expect(convert(html)).toBe(markdown));
  test("is read as it was on the page", () => {
    const { markdown } = Bun as unknown as { markdown: { html(text: string): string } };
    for (const [name, html] of EMPHASIS) {
      const read = markdown.html(convert(html)).trim();
      const same = html
        .replace(/<(\/?)b>/g, "<$1strong>")
        .replace(/<(\/?)i>/g, "<$1em>")
        .replace(/<(\/?)s>/g, "<$1del>");
      // A reader may nest two tags in either order.
      const flat = (text: string) =>
        text
          .replace(/ (?=<\/)|(?<=<\/\w+>) /g, "")
          .replace(/<em><strong>(.*?)<\/strong><\/em>/g, "<strong><em>$1</em></strong>");
      expect([name, flat(read)]).toEqual([name, flat(same)]);
    }
  });
});

const BLOCKS: readonly Case[] = [
  [
    "a link around a heading and its text",
    '<a href="/c"><h3>Card heading</h3><p>Card text.</p></a>',
    "### [Card heading](https://site.example/c)\n\nCard text.",
  ],
  [
    "a link around a picture, a heading and its text",
    '<a href="/c"><img src="/1.jpg" alt="Pump"><div><h3>Card heading</h3><p>Card text.</p></div></a>',
    "![Pump](https://site.example/1.jpg)\n\n### [Card heading](https://site.example/c)\n\nCard text.",
  ],
  ["a link around a heading alone", '<a href="/c"><h2>Head</h2></a>', "## [Head](https://site.example/c)"],
  [
    "a listing that says its language as GitHub does",
    '<pre lang="mermaid"><code>graph TD</code></pre>',
    "```mermaid\ngraph TD\n```",
  ],
  [
    "a listing in a component",
    "<x-editor><x-tab>a.ts</x-tab><x-file><pre>  1\n</pre>  </x-file> Copy </x-editor><p>b</p>",
    "a.ts\n\n```\n  1\n```\n\nCopy\n\nb",
  ],
  ["a listing in a part of a line", "<div>a.ts<span><pre>1\n</pre> </span></div>", "a.ts\n\n```\n1\n```"],
  [
    "a table in a component",
    "<x-editor><x-tab>a.ts</x-tab><x-file><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>  </x-file> </x-editor>",
    "a.ts\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
  ],
  [
    "the parts of a frameset",
    '<frameset cols="20%,80%"><frame src="/menu" name="menu"><frame src="text"><noframes>None</noframes></frameset>',
    "[menu](https://site.example/menu)\n\n[https://site.example/dir/text](https://site.example/dir/text)",
  ],
  [
    "an embedded page",
    '<p>A</p><iframe src="/map" title="Map of the mill"></iframe><iframe src="https://maps.example/x"></iframe><p>B</p>',
    "A\n\n[Map of the mill](https://site.example/map)\n\n[maps.example](https://maps.example/x)\n\nB",
  ],
  [
    "frames of advertisements, measurements and hidden ones",
    '<p>A</p><iframe src="https://a.doubleclick.net/x"></iframe><iframe src="/t" width="1" height="1"></iframe><iframe src="/h" style="display:none"></iframe>',
    "A",
  ],
  [
    "the choices of a product",
    '<label for="c">Colour</label><select id="c"><option value="">Choose…<option>Navy<option>Yellow (+€5.00)</select>',
    "Colour\n\nNavy, Yellow (+€5.00)",
  ],
  ["choices within their label", "<label>Size <select><option>S<option>M</select></label>", "Size: S, M"],
  [
    "choices of which only a spoken name tells",
    '<div><select aria-label="Finish"><option>Matt<option>Gloss</select></div>',
    "Finish: Matt, Gloss",
  ],
  ["choices of a listing", '<label>Sort <select name="sort"><option>Size<option>Price</select></label>', "Sort"],
  ["a rating as stars", '<p>Rated <span aria-label="4.6 out of 5">★★★★★</span> by 12</p>', "Rated 4.6 out of 5 by 12"],
  ["stars with another name", '<p><span aria-label="Rating">★★★★☆</span></p>', "★★★★☆"],
  ["a listing in a spoken language", '<pre lang="en">some text</pre>', "```\nsome text\n```"],
];

describe("cards and listings", () => {
  for (const [name, html, markdown] of BLOCKS) test(name, () => expect(convert(html)).toBe(markdown));
});

describe("parts within many parts of their kind", () => {
  const nested = (open: string, close: string) => {
    const depth = 60;
    return { html: `${open.repeat(depth)}<p>x</p>${close.repeat(depth)}`, depth };
  };
  const kinds: readonly (readonly [string, string, string])[] = [
    ["lists", "<ul><li>t", "</li></ul>"],
    ["numbered lists", "<ol><li>t", "</li></ol>"],
    ["definitions", "<dl><dt>t</dt><dd>", "</dd></dl>"],
    ["quotations", "<blockquote><p>t</p>", "</blockquote>"],
  ];
  for (const [name, open, close] of kinds)
    test(`${name} are indented to a depth that their text is worth`, () => {
      const { html, depth } = nested(open, close);
      const lines = convert(html).split("\n");
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(100);
      expect(lines.filter((line) => line.endsWith("t"))).toHaveLength(depth);
    });

  test("a few levels are all indented", () =>
    expect(convert("<ul><li>a<ul><li>b<ul><li>c</ul></ul></ul>")).toBe("- a\n  - b\n    - c"));
});

test.each([10, 3000])("the language of a listing is named above it, with %p elements beside it", (beside) => {
  const html = `<div class="language-js"><div><div><pre>a();</pre></div></div><p>${"<i>x</i> ".repeat(beside)}</p></div>`;
  expect(convert(html)).toStartWith("```js\n");
  expect(convert(html.replace("</p>", "</p><section><pre>b();</pre></section>"))).toStartWith("```\n");
});
