import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { tidy } from "../../src/pages/content/tidy.ts";
import { createTrace } from "../../src/pages/content/trace.ts";
import { PageElement } from "../../src/pages/dom/node.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";
import { escapeMarkdown } from "../../src/pages/markdown/escape.ts";
import { toMarkdown } from "../../src/pages/markdown/markdown.ts";

function convert(html: string): string {
  const document = parsePage(html);
  tidy(document, "https://site.example/dir/page", createTrace(false));
  return toMarkdown(document.body);
}

const CASES: [name: string, html: string, markdown: string][] = [
  [
    "a line break at the edge of emphasis stands outside of it",
    "<ul><li><b>Health Apps</b><b><br></b><span>Help track</span></li></ul>",
    "- **Health Apps**\n  Help track",
  ],
  [
    "line breaks and blanks at both edges of a link",
    '<p>a<a href="/x"><br> <b>y<br></b> </a>z</p>',
    "a\n[**y**](https://site.example/x)\nz",
  ],
  ["headings", "<h1>One</h1><h2>Two <em>x</em></h2><h6>Six</h6><h3> </h3>", "# One\n\n## Two *x*\n\n###### Six"],
  ["paragraphs", "<p>a\n  b</p><p>c</p><div>d<div>e</div></div>", "a b\n\nc\n\nd\n\ne"],
  ["emphasis", "<p><b>bold</b> and <i>it</i> and <s>gone</s></p>", "**bold** and *it* and ~~gone~~"],
  ["links are absolute", '<a href="../x?a=1">up</a>', "[up](https://site.example/x?a=1)"],
  ["a base address", '<base href="/base/"><a href="x">b</a>', "[b](https://site.example/base/x)"],
  ["links that lead nowhere", '<a href="javascript:void(0)">text</a> <a>bare</a>', "text bare"],
  ["links with brackets and blanks", '<a href="/a b(c)">t</a>', "[t](https://site.example/a%20b%28c%29)"],
  ["a link around blocks", '<a href="/x"><h3>Head</h3><p>Text</p></a>', "### [Head](https://site.example/x)\n\nText"],
  ["images", '<img src="/i.png" alt="An [image]">', "![An \\[image\\]](https://site.example/i.png)"],
  ["lazy images", '<img src="data:image/gif;base64,AA" data-src="/l.jpg">', "![](https://site.example/l.jpg)"],
  ["srcset", '<img srcset="/s.jpg 100w, /b.jpg 800w, /m.jpg 400w">', "![](https://site.example/b.jpg)"],
  ["tracking pixels", '<p>x<img src="/t.gif" width="1" height="1"></p>', "x"],
  ["counters of visits", '<noscript><img src="https://count.example/p?x=1"></noscript><p>x</p>', "x"],
  ["nested lists", "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c"],
  ["numbered lists", '<ol start="3"><li>a</li><li><p>b</p><p>c</p></li></ol>', "3. a\n4. b\n\n   c"],
  [
    "check boxes",
    '<ul><li><input type="checkbox" checked> done</li><li><input type=checkbox>open</li></ul>',
    "- [x] done\n- [ ] open",
  ],
  ["quotes", "<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"],
  ["rules and breaks", "a<br>b<hr>c", "a\nb\n\n---\n\nc"],
  ["rules that part nothing", "<hr><p>a</p><hr><div><hr></div><p>b</p><hr>", "a\n\n---\n\nb"],
  ["rules in code", "<pre>---\n---</pre>", "```\n---\n---\n```"],
  [
    "a link around a card",
    '<a href="/x">New<h3>Head</h3><p>Text</p></a>',
    "New\n\n### [Head](https://site.example/x)\n\nText",
  ],
  [
    "words that only style parts",
    '<h4><span class="name">amount</span><span class="type">integer</span></h4><p><a href="/a">One</a><a href="/b">Two</a></p>',
    "#### amount integer\n\n[One](https://site.example/a) [Two](https://site.example/b)",
  ],
  ["letters styled by themselves", '<p><span class="cap">W</span><span class="rest">ords</span></p>', "Words"],
  ["soft breaks", "<p>balance_<wbr>transaction</p>", "balance_transaction"],
  ["emphasis around blocks", "<strong><h3>Head</h3><p>Text</p></strong>", "### Head\n\nText"],
  ["pieces of code", '<p><code><span class="a">let</span><span class="b">ter</span></code></p>', "`letter`"],
  ["inline code", "<p>use <code>a`b</code> and <kbd>Ctrl</kbd></p>", "use ``a`b`` and `Ctrl`"],
  [
    "fenced code",
    '<pre><code class="language-ts">let a = 1;\n\n\n  b  \n</code></pre>',
    "```ts\nlet a = 1;\n\n\n  b\n```",
  ],
  ["the language of a parent", '<div class="highlight-source-python"><pre>x</pre></div>', "```python\nx\n```"],
  ["code with fences", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"],
  ["code as lines", "<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"],
  [
    "code with line numbers",
    '<table class="highlight"><tr><td class="gutter"><pre>1\n2</pre></td><td class="code"><pre>a\nb</pre></td></tr></table>',
    "```\na\nb\n```",
  ],
  [
    "a table",
    "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2|3</td></tr></table>",
    "| A | B |\n| --- | --- |\n| 1 | 2\\|3 |",
  ],
  ["bold around a heading, further in", "<strong><span><h2>Head</h2></span></strong>", "## Head"],
  [
    "bold parts in a row",
    "<p><b>Origin</b><b>: Spain</b> and <i>more</i> <i>of it</i></p>",
    "**Origin: Spain** and *more* *of it*",
  ],
  ["icons that are words", '<p><i class="material-icons">star</i>Five of five</p>', "Five of five"],
  [
    "a section of a table within another",
    "<table><tbody><tr><td>1</td><td>2</td></tr><p><tbody>x</tbody></p><tr><td>3</td><td>4</td></tr></table>",
    "|  |  |\n| --- | --- |\n| 1 | 2 |\n| x |  |\n| 3 | 4 |",
  ],
  [
    "a header that is only bold",
    "<table><tr><td><b>A</b></td><td><p><strong>B</strong></p></td></tr><tr><td>1</td><td><b>2</b></td></tr></table>",
    "| **A** | **B** |\n| --- | --- |\n| 1 | **2** |",
  ],
  [
    "a table that is bold all through",
    "<table><tr><td><b>A</b></td><td><b>B</b></td></tr><tr><td><b>1</b></td><td><b>2</b></td></tr></table>",
    "|  |  |\n| --- | --- |\n| **A** | **B** |\n| **1** | **2** |",
  ],
  [
    "a column that holds nothing",
    "<table><tr><th>A</th><th></th><th>B</th></tr><tr><td>1</td><td> </td><td></td></tr></table>",
    "| A | B |\n| --- | --- |\n| 1 |  |",
  ],
  [
    "a table without header",
    "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>",
    "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |",
  ],
  [
    "spans",
    '<table><tr><th colspan="2">A</th><th>B</th></tr><tr><td rowspan="2">1</td><td>2</td><td>3</td></tr><tr><td>4</td><td>5</td></tr></table>',
    "| A |  | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n|  | 4 | 5 |",
  ],
  [
    "alignment",
    '<table><tr><th align="right">A</th><th style="text-align:center">B</th></tr><tr><td>1</td><td>2</td></tr></table>',
    "| A | B |\n| ---: | :---: |\n| 1 | 2 |",
  ],
  [
    "blocks in cells",
    "<table><tr><th>A</th><th>B</th></tr><tr><td><p>x</p><p>y</p></td><td><b>z</b></td></tr></table>",
    "| A | B |\n| --- | --- |\n| x<br>y | **z** |",
  ],
  ["a layout table", "<table><tr><td><h2>Head</h2><p>Text</p></td></tr></table>", "## Head\n\nText"],
  [
    "a table around a page",
    `<table><tr><td>side</td><td><h1>Head</h1><p>${"Text. ".repeat(100).trim()}</p></td></tr></table>`,
    `side\n\n# Head\n\n${"Text. ".repeat(100).trim()}`,
  ],
  ["permalinks of headings", '<h2>Head<a href="#head" class="headerlink">¶</a></h2>', "## Head"],
  ["permalinks of terms", '<dl><dt>f()<a href="#f" title="Link">¶</a></dt><dd>calls</dd></dl>', "f()\n: calls"],
  [
    "bold headings",
    "<h2><strong>All <em>of</em> it</strong></h2><h3>A <b>part</b></h3>",
    "## All *of* it\n\n### A **part**",
  ],
  ["headings that are pictures", '<h2><img src="/logo.png" alt="Logo"></h2>', "![Logo](https://site.example/logo.png)"],
  ["pictures that take up room", '<p>x<img src="/img/clear.gif"><img src="/spacer_2.png?v=1"></p>', "x"],
  [
    "addresses without tracking",
    '<a href="/a?utm_source=x&amp;id=7&amp;gclid=q">a</a> <a href="/b?utm_medium=y">b</a> <a href="/c?x=%20">c</a>',
    "[a](https://site.example/a?id=7) [b](https://site.example/b) [c](https://site.example/c?x=%20)",
  ],
  [
    "the language of a highlighter",
    '<div class="highlight-python3 notranslate"><div class="highlight"><pre>x</pre></div></div>',
    "```python\nx\n```",
  ],
  [
    "a language further up",
    '<div class="code language-hcl"><div><div><div><pre>x</pre></div></div></div></div>',
    "```hcl\nx\n```",
  ],
  [
    "a bare language",
    '<pre class="csharp">x</pre><pre class="code-block default">y</pre>',
    "```csharp\nx\n```\n\n```\ny\n```",
  ],
  ["a language that every object knows", '<pre class="language-constructor">x</pre>', "```constructor\nx\n```"],
  ["words of a list between its items", "<ul>a<li>b</li>c<li>d</li></ul>", "a\n\n- b\nc\n\n- d"],
  ["words of a list of definitions", "<dl><dt>a</dt>b<dd>c</dd></dl>", "a\nb\n: c"],
  [
    "forms around cells and rows",
    "<table><tr><form><td>a<td>b</form></tr><form><tr><td>c<td>d</form></table>",
    "|  |  |\n| --- | --- |\n| a | b |\n| c | d |",
  ],
  [
    "words beside cells",
    "<table>u<tr>v<td>a</td>w<td>b</tr>x<td>c<td>d</table>",
    "u\n\n|  |  |\n| --- | --- |\n| v a w | b |\n| x |  |\n| c | d |",
  ],
  ["a caption of empty cells", "<table><caption>c</caption><tr><td> <td> </table>", "c"],
  [
    "a table within code",
    "<pre><table><tr><td>1<td>x = 1<tr><td>2<td>y = 2</table></pre>",
    "```\n1\tx = 1\n2\ty = 2\n```",
  ],
  ["lines that are no rules and underline nothing", "<p>a<br>--<br>b</p><p>-- -</p>", "a\n\\--\nb\n\n\\-- -"],
  ["cells without a table", "<p>x</p><td>y</td>", "x\n\ny"],
  ["definitions", "<dl><dt>Term</dt><dd>Meaning</dd></dl>", "Term\n: Meaning"],
  [
    "math",
    '<p>so <math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math></p>',
    "so $x^2$",
  ],
  ["display math", '<math display="block" alttext="E=mc^2"><mi>E</mi></math>', "$$\nE=mc^2\n$$"],
  [
    "footnotes",
    '<p>word<sup><a href="#fn1">1</a></sup></p><ol><li id="fn1">The note. <a href="#fnref1">back</a></li></ol>',
    "word[^1]\n\n[^1]: The note.",
  ],
  ["a mark without its note", '<p>word<sup><a href="#fn9">9</a></sup></p>', "word<sup>9</sup>"],
  ["details", "<details><summary>More</summary><p>Text</p></details>", "**More**\n\nText"],
  [
    "captions",
    '<figure><img src="/a.png" alt="A"><figcaption>Cap</figcaption></figure>',
    "![A](https://site.example/a.png)\n\nCap",
  ],
  ["escapes", "<p>1. a * b_c _d_ &lt;b&gt; [x](y) # no</p>", "1\\. a \\* b_c \\_d\\_ \\<b> [x\\](y) # no"],
  [
    "scripts and styles",
    "<p>a</p><script>x</script><style>y</style><template>t</template><svg><text>s</text></svg>",
    "a",
  ],
  ["shadow roots", '<x-y><template shadowrootmode="open"><p>inside</p></template></x-y>', "inside"],
];

describe("conversion", () => {
  for (const [name, html, markdown] of CASES) test(name, () => expect(convert(html)).toBe(markdown));

  test("is deterministic and never throws", () => {
    const tags = fc.constantFrom(
      "p",
      "div",
      "table",
      "tr",
      "td",
      "ul",
      "li",
      "a",
      "b",
      "pre",
      "code",
      "h2",
      "br",
      "img",
      "sup",
      "dl",
      "dd",
      "blockquote",
      "math",
    );
    const piece = fc.oneof(
      fc.string(),
      tags.map((tag) => `<${tag}>`),
      tags.map((tag) => `</${tag}>`),
      tags.map((tag) => `<${tag} class="x" href="#fn1" colspan=9>`),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const html = pieces.join("");
        expect(convert(html)).toBe(convert(html));
      }),
      { numRuns: 300 },
    );
  });

  test("keeps every word in its place, for any nesting", () => {
    const names = (
      "p div section table tbody tr td th ul ol li a b i em strong s del pre code h1 h2 h3 sup sub dl dt dd " +
      "blockquote q span figure figcaption details summary label kbd article main header center font abbr address"
    ).split(" ");
    const { node } = fc.letrec<{ node: string; row: string }>((tie) => ({
      // A data table needs at least two cells. In between there are elements that browsers move out of tables.
      row: fc
        .tuple(
          fc.array(tie("node"), { minLength: 2, maxLength: 3 }),
          fc.constantFrom("td", "th"),
          tie("node"),
          fc.nat(6),
        )
        .map(([cells, tag, stray, place]) => {
          const whole = cells.map((inner) => `<${tag}>${inner}</${tag}>`);
          if (place === 0) return `<tr>${stray}${whole.join("")}</tr>`;
          if (place === 1) return `<tr>${whole.join(stray)}</tr>`;
          if (place === 2) return `<tr><form>${whole.join("")}</form>${stray}</tr>`;
          if (place === 3) return `<form><tr>${whole.join("")}</tr></form>${stray}`;
          return `<tr>${whole.join("")}</tr>`;
        }),
      node: fc.oneof(
        { depthSize: "medium", withCrossShrink: true },
        fc.constant("#"),
        fc
          .tuple(
            // These elements come first, wherever they are in the source.
            fc.constantFrom("", "<tbody>", "<caption>#</caption><thead>"),
            fc.array(tie("row"), { minLength: 1, maxLength: 3 }),
          )
          .map(([part, rows]) => `<table>${part}${rows.join("")}</table>`),
        fc.constantFrom(" ", "\n", "<br>", "<hr>", "&nbsp;", "<!-- x -->"),
        fc
          .tuple(fc.constantFrom(...names), fc.array(tie("node"), { maxLength: 4 }))
          .map(([name, inner]) => `<${name}>${inner.join("")}</${name}>`),
      ),
    }));
    fc.assert(
      fc.property(fc.array(node, { maxLength: 5 }), (nodes) => {
        let count = 0;
        const html = nodes.join("").replace(/#/g, () => ` word${count++} `);
        const words = [...convert(html).matchAll(/word\d+/g)].map(([word]) => word);
        expect([html, words]).toEqual([html, Array.from({ length: count }, (_, at) => `word${at}`)]);
      }),
      { numRuns: 300 },
    );
  }, 60_000);

  test("escaped text is read back unchanged", () => {
    const plain = (html: string) =>
      html
        .replace(/<[^>]*>/g, "")
        .replace(/&lt;/g, "<")
        .replace(/&gt;/g, ">")
        .replace(/&quot;/g, '"')
        .replace(/&#39;/g, "'")
        .replace(/&amp;/g, "&")
        .trim();
    const text = fc
      .stringMatching(/^[a-z*_`#>+\-=~<&;[\]()!.0-9 ]{1,30}$/)
      .map((value) => value.replace(/\s+/g, " ").trim());
    fc.assert(
      fc.property(text, (value) => {
        fc.pre(value !== "" && !/https?:|www\.|@/.test(value));
        expect(plain(Bun.markdown.html(escapeMarkdown(value)))).toBe(value);
      }),
      { numRuns: 500 },
    );
  });
});

test("a tree without text is not searched again for each of its elements", () => {
  const { body } = parsePage(`${"<div>".repeat(150)}${"<i></i>".repeat(200)}`);
  const searched = spyOn(PageElement.prototype, "getElementsByTagName");
  try {
    expect(toMarkdown(body)).toBe("");
    expect(searched.mock.calls.length).toBeLessThan(20);
  } finally {
    searched.mockRestore();
  }
});

test("an image keeps the empty elements around it", () => {
  const { body } = parsePage(
    '<div><div><b><a href="/x"><img src="/p.png" alt="P"></a></b></div><div><i> </i></div></div>',
  );
  expect(toMarkdown(body)).toBe("**[![P](/p.png)](/x)**");
});
