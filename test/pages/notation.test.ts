import { describe, expect, test } from "bun:test";
import { tidy } from "../../src/pages/content/tidy.ts";
import { createTrace } from "../../src/pages/content/trace.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";
import { toMarkdown } from "../../src/pages/markdown/markdown.ts";
import { cpuMs } from "../support/real-time.ts";

function convert(html: string): string {
  const document = parsePage(html);
  tidy(document, "https://site.example/dir/page", createTrace(false));
  return toMarkdown(document.body);
}

type Case = readonly [name: string, html: string, markdown: string];

const RAISED: readonly Case[] = [
  ["a power", "<p>10<sup>6</sup> and 10<sup>-3</sup></p>", "10<sup>6</sup> and 10<sup>-3</sup>"],
  ["an index", "<p>x<sub>i+1</sub> in H<sub>2</sub>O</p>", "x<sub>i+1</sub> in H<sub>2</sub>O"],
  ["an ordinal", "<p>the 1<sup>st</sup>, le 2<sup>ème</sup></p>", "the 1st, le 2ème"],
  ["a letter above", "<p>2<sup>a</sup> 2<sup>e</sup></p>", "2<sup>a</sup> 2<sup>e</sup>"],
  ["a unit", "<table><tr><th>A</th><th>m<sup>2</sup></th></tr></table>", "| A | m<sup>2</sup> |\n| --- | --- |"],
  ["in code", "<p><code>O(n<sup>2</sup>)</code> <code>a<sub>i+j</sub></code></p>", "`O(n²)` `a_(i+j)`"],
  ["in a listing", "<pre>x<sup>10</sup> y<sup>k</sup></pre>", "```\nx¹⁰ y^k\n```"],
  ["in brackets", "<p>word<sup>[12]</sup></p>", "word[12]"],
  ["a sign", "<p>Name<sup>®</sup></p>", "Name®"],
  [
    "a mark whose note is elsewhere",
    '<p>1911<sup><a href="/x#a">2</a></sup></p>',
    "1911<sup>[2](https://site.example/x#a)</sup>",
  ],
];

const NOTES: readonly Case[] = [
  [
    "the link around the raised sign",
    '<p>a<a href="#fn1" role="doc-noteref"><sup>1</sup></a></p><ol><li id="fn1"><p>One. <a href="#fnref1">↩</a></p></li></ol>',
    "a[^1]\n\n[^1]: One.",
  ],
  ["a note that was cut", '<p>1911<a href="#fn1" class="footnote-ref"><sup>1</sup></a></p>', "1911<sup>1</sup>"],
  [
    "several marks in one sign",
    '<p>a<sup><a href="#fn1">1</a>, <a href="#fn2">2</a></sup></p><ol><li id="fn1">One</li><li id="fn2">Two</li></ol>',
    "a[^1][^2]\n\n[^1]: One\n\n[^2]: Two",
  ],
  [
    "notes as paragraphs",
    '<p>a<sup><a href="#note-3">3</a></sup></p><p id="note-3">3. Three.</p>',
    "a[^3]\n\n[^3]: Three.",
  ],
  [
    "notes of a word processor",
    '<p>a<a href="#_ftn1" name="_ftnref1"><sup>[1]</sup></a></p><div><p><a href="#_ftnref1" name="_ftn1"><sup>[1]</sup></a> One.</p></div>',
    "a[^1]\n\n[^1]: One.",
  ],
  [
    "notes with a label of their own",
    '<p>a <a href="#id2" role="doc-noteref">[<span>4</span>]</a></p><aside id="id2"><span class="label">[4]</span><p>Four.</p></aside>',
    "a [^4]\n\n[^4]: Four.",
  ],
  [
    "notes of the same number",
    '<p>a<sup><a href="#fn1">1</a></sup></p><p>b<sup><a href="#t1">1</a></sup></p><ol><li id="fn1">One</li></ol><ol><li id="t1">Other</li></ol>',
    "a[^1]\n\nb[^1-2]\n\n[^1]: One\n\n[^1-2]: Other",
  ],
  [
    "a note of two paragraphs",
    '<p>a<sup><a href="#fn1">1</a></sup></p><ol><li id="fn1"><p>One.</p><p>More.</p></li></ol>',
    "a[^1]\n\n[^1]: One.\n\n    More.",
  ],
  [
    "a heading that looks like one",
    '<p>a<sup><a href="#part">1</a></sup></p><h2 id="part">Part</h2>',
    "a<sup>[1](https://site.example/dir/page#part)</sup>\n\n## Part",
  ],
];

const math = (inner: string) => `<p><math>${inner}</math></p>`;
const MATHML: readonly Case[] = [
  [
    "a row",
    math(
      "<mi>a</mi><mi>b</mi><mo>+</mo><mi>x</mi><mo>=</mo><msub><mi>y</mi><mn>1</mn></msub><msup><mi>c</mi><mn>2</mn></msup>",
    ),
    "$ab+x=y_{1}c^{2}$",
  ],
  [
    "a fraction and roots",
    math(
      "<mfrac><mrow><mo>−</mo><mi>b</mi></mrow><mn>2</mn></mfrac><msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt><mroot><mi>x</mi><mn>3</mn></mroot>",
    ),
    "$\\frac{-b}{2}\\sqrt{x+1}\\sqrt[3]{x}$",
  ],
  [
    "limits and functions",
    math(
      "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>sin</mi><mo>&#x2061;</mo><mi>α</mi><mi>x</mi>",
    ),
    "$\\sum_{i=1}^{n}\\sin\\alpha x$",
  ],
  [
    "accents and primes",
    math(
      "<mover><mi>x</mi><mo>¯</mo></mover><munder><mi>y</mi><mo>_</mo></munder><mover><mi>a</mi><mtext>def</mtext></mover><msup><mi>f</mi><mo>′</mo></msup>",
    ),
    "$\\bar{x}\\underline{y}\\overset{\\text{def}}{a}f'$",
  ],
  [
    "an accent that is a letter's own mark, and a symbol marked as upright",
    math("<mover><mi>y</mi><mo>ˉ</mo></mover><mi mathvariant='normal'>∇</mi><mi mathvariant='normal'>d</mi><mi>x</mi>"),
    "$\\bar{y}\\nabla\\mathrm{d}x$",
  ],
  [
    "cases",
    math(
      "<mo>{</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mtext>if so</mtext></mtd></mtr><mtr><mtd><mn>0</mn></mtd><mtd><mtext>else</mtext></mtd></mtr></mtable>",
    ),
    "$\\left\\{\\begin{matrix} 1 & \\text{if so} \\\\ 0 & \\text{else} \\end{matrix}\\right.$",
  ],
  ["brackets and separators", math("<mfenced><mi>a</mi><mi>b</mi></mfenced>"), "$(a,b)$"],
  ["both scripts", math("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"), "$x_{i}^{2}$"],
  ["numbers in a row", math("<mn>1</mn><mn>2</mn><mspace width='2em'/><mn>3</mn>"), "$1 2\\quad 3$"],
  [
    "a style",
    math("<mstyle displaystyle='true'><mi mathvariant='bold'>v</mi><mi>rank</mi></mstyle>"),
    "$\\mathbf{v}\\mathrm{rank}$",
  ],
  [
    "what MathJax 3 adds for screen readers",
    '<p>So <mjx-container class="MathJax" display="true"><mjx-math aria-hidden="true"><mjx-mi></mjx-mi></mjx-math><mjx-assistive-mml display="block"><math display="block"><mi>E</mi><mo>=</mo><mi>m</mi></math></mjx-assistive-mml></mjx-container></p>',
    "So\n\n$$\nE=m\n$$",
  ],
  [
    "a formula of MediaWiki, once",
    '<p>See <span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;"><math alttext="x^2"><mi>x</mi></math></span><img src="/x.svg" class="mwe-math-fallback-image-inline" alt="x^2"></span>.</p>',
    "See $x^2$.",
  ],
  ["TeX that a script was to set", "<p>For \\(x_i \\alpha\\) and $\\beta_1$</p>", "For $x_i \\alpha$ and $\\beta_1$"],
  ["a line of TeX", "<p>\\[ \\frac{a}{b} \\]</p>", "$$\n\\frac{a}{b}\n$$"],
  ["money", "<p>$5 and $6, or US$ 7 (US$ 8)</p>", "$5 and $6, or US$ 7 (US$ 8)"],
  ["brackets of a pattern", "<p>the group \\(foo bar\\)</p>", "the group \\\\(foo bar\\\\)"],
];

const SHAPES: readonly Case[] = [
  ["a heading that was never closed", "<h1>Title<p>One.</p><p>Two.</p>last", "# Title\n\nOne.\n\nTwo.\n\nlast"],
  ["a line under a title", "<h1>Title<p>by hand</p></h1>", "# Title by hand"],
  [
    "terms in parts",
    "<dl><div><dt>A</dt><dd>One</dd></div><div><dt>B</dt><dd><p>Two</p><ul><li>x</li></ul></dd></div></dl>",
    "A\n: One\n\nB\n: Two\n\n  - x",
  ],
  [
    "signs amid a line",
    "<p><i>h</i>=<i>w/f</i> <kbd>Ctrl</kbd>+<kbd>C</kbd> C:\\dir</p>",
    "*h*=*w/f* `Ctrl`+`C` C:\\dir",
  ],
  ["signs that begin a line", "<p>- a</p><p><b> </b>+ b</p><p>x<br>1. c</p>", "\\- a\n\n\\+ b\n\nx\n1\\. c"],
  ["numbers of items", '<ol><li value="5">a</li><li>b</li></ol>', "5. a\n6. b"],
  ["numbers that fall", "<ol reversed><li>a</li><li>b</li></ol>", "2. a\n1. b"],
  ["a list within a list", "<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>", "- a\n  - b\n- c"],
  ["quotations", "<p>He said <q>yes <q>no</q></q>, <q>“so”</q></p>", "He said “yes ‘no’”, “so”"],
  [
    "a listing with its language and numbers beside it",
    '<div class="language-ts"><span class="lang">ts</span><pre><code>let a</code></pre><div class="line-numbers-wrapper"><span>1</span></div></div>',
    "```ts\nlet a\n```",
  ],
  [
    "the title of a note beside the text",
    '<div class="admonition"><p class="admonition-title">Note</p><p>Body</p></div>',
    "**Note**\n\nBody",
  ],
  [
    "a picture with its address in a source",
    '<picture><source srcset="/a.webp 400w, /b.webp 800w"><img src="data:image/gif;base64,R0" alt="A"></picture>',
    "![A](https://site.example/b.webp)",
  ],
  [
    "players",
    '<video><source src="/v.mp4"></video><audio src="/a.mp3" title="Song"></audio><iframe src="https://www.youtube.com/embed/x1" title="A talk"></iframe><iframe src="https://ads.example/1"></iframe>',
    "[Video](https://site.example/v.mp4)\n\n[Song](https://site.example/a.mp3)\n\n[A talk](https://www.youtube.com/embed/x1)",
  ],
  [
    "a listing in a cell",
    "<table><tr><th>A</th><th>B</th></tr><tr><td>x</td><td><pre>if a:\n    b</pre></td></tr></table>",
    "| A | B |\n| --- | --- |\n| x | `if a:`<br>`    b` |",
  ],
  [
    "a table of divisions",
    '<div role="table"><div role="row"><span role="columnheader">Name</span><span role="columnheader">Age</span></div><div role="row"><span role="cell">Ann</span><span role="cell">4</span></div></div>',
    "| Name | Age |\n| --- | --- |\n| Ann | 4 |",
  ],
  [
    "a table in a cell",
    "<table><tr><th>K</th><th>V</th></tr><tr><td>in</td><td><table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table></td></tr></table>",
    "| K | V |\n| --- | --- |\n| in | 1, 2<br>3, 4 |",
  ],
  ["a heading that links to itself", '<h2 id="part"><a href="#part">Part</a></h2>', "## Part"],
  [
    "icons",
    '<p><a href="/z"><img src="/icon.svg" alt=""></a>text<img src="/p.svg" alt="Plan"></p>',
    "text![Plan](https://site.example/p.svg)",
  ],
];

for (const [group, cases] of Object.entries({
  "text above and below the line": RAISED,
  notes: NOTES,
  formulas: MATHML,
  "parts of pages": SHAPES,
}))
  describe(group, () => {
    for (const [name, html, markdown] of cases) test(name, () => expect(convert(html)).toBe(markdown));
  });

test("the time for marks in one symbol and notes in one list is linear in their number", () => {
  const count = 20_000;
  const marks = Array.from({ length: count }, (_, at) => `<a href="#fn${at}">${at}</a>`).join("");
  const notes = Array.from({ length: count }, (_, at) => `<li id="fn${at}">n</li>`).join("");
  let markdown = "";
  const taken = cpuMs(() => {
    markdown = convert(`<p>a<sup>${marks}</sup></p><ol>${notes}</ol>`);
  });
  expect(markdown.startsWith("a[^0][^1]")).toBe(true);
  expect(markdown.endsWith(`[^${count - 1}]: n`)).toBe(true);
  // Quadratic work takes minutes.
  expect(taken).toBeLessThan(10_000);
}, 60_000);
