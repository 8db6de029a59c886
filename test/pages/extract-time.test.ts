// Pages that would take minutes if any part of the extraction were quadratic.

import { describe, expect, test } from "bun:test";
import { extractPage } from "../../src/pages/convert/extract.ts";

const extract = (html: string) =>
  extractPage(html, { url: "https://site.example/", onlyMainContent: true, markdown: true, html: true, links: true });

/** Names of which the fitted weights know many. */
const KNOWN_NAMES =
  "post article content main related share comment footer header title body text list item image author".split(" ");

describe("the time is linear in the size of the page", () => {
  const text =
    "The river begins as a thin stream between two hills, and for the first ten miles nobody would call it a river at all.";
  const described = (members: object) =>
    `<title>Bread</title><h1>Bread</h1><script type="application/ld+json">${JSON.stringify({ "@type": "Recipe", name: "Bread", ...members })}</script>`;
  // Each case takes a fraction of a second. Quadratic work would not end within the test's time.
  const cases: [name: string, html: string][] = [
    ["one list of many items", `<ol>${"<li>x".repeat(15_000)}</ol>`],
    ["hidden data", `<p>${text}</p>${`<div itemscope style="display:none">${text}</div>`.repeat(4000)}`],
    ["the same paragraph", `<p>${text}${text}</p>`.repeat(3000)],
    [
      "parts that are hidden by name, at a depth",
      `<p>${text}</p>${'<div class="a hide">'.repeat(190)}${`<p>${text}</p>`.repeat(2000)}`,
    ],
    [
      "hidden parts of one row",
      `<p>${text}${text}</p>${"a<b></b>".repeat(10_000)}${`a<div class="${"b ".repeat(9)}hide"><p>x</p></div>`.repeat(10_000)}`,
    ],
    [
      "lists of facts in lists of facts",
      `<p>${text}</p>${'<dl class="facts"><dt>a</dt><dd>b'.repeat(90)}${'<table class="facts"><tr><td>a</td><td>b</td></tr></table>'.repeat(3000)}`,
    ],
    ["places in places", `<p>${text}</p>${'<div class="breadcrumbs">'.repeat(190)}${"<p>a</p>".repeat(2000)}`],
    ["windows in windows", `<p>${text}</p>${'<div class="modal">'.repeat(190)}${`<p>${text}</p>`.repeat(2000)}`],
    [
      "titles of one part",
      `${"<button aria-controls=a>b</button>".repeat(15_000)}<div id=a>${`<p>${text}</p>`.repeat(500)}`,
    ],
    [
      "titles of parts in parts",
      `${Array.from({ length: 180 }, (_, n) => `<b aria-controls=a${n}>b</b><div id=a${n}>`).join("")}${`<p>${text}</p>`.repeat(1000)}`,
    ],
    [
      "posts in posts",
      `<link rel="canonical" href="https://site.example/forum/threads/pumps.12/">${'<div class="post-body" itemprop="text">'.repeat(180)}${`<p>${text}</p>`.repeat(2000)}`,
    ],
    [
      "figures of authors",
      `<link rel="canonical" href="https://site.example/forum/threads/pumps.12/">${`<div class=post><div class=postprofile>${"<p>12</p>".repeat(5)}</div><div class=post-body>${text}</div></div>`.repeat(1500)}`,
    ],
    [
      "notes with one mark",
      `${Array.from({ length: 8000 }, (_, n) => `<p>${text}<sup><a href="#fn${n}">1</a></sup></p>`).join("")}<ol>${Array.from({ length: 8000 }, (_, n) => `<li id="fn${n}">note`).join("")}</ol>`,
    ],
    ["headings", `<h2>${text}</h2><p>x</p>`.repeat(2000)],
    ["depth", `${"<div class=a>".repeat(180)}${`<p>${text}</p>`.repeat(2000)}`],
    ["listings", `<div class="x">${"<pre>let x</pre>".repeat(4000)}</div>`],
    ["listings in components", `${"<x-y>".repeat(190)}${"<pre>a</pre>".repeat(120_000)}`],
    ["ends of listings in a listing", `<p>${text}</p><pre>${"```\n".repeat(700_000)}</pre>`],
    ["marks of code in code", `<p>${text} <code>${"` ".repeat(700_000)}</code></p>`],
    ["cells of code", `<p>${text}</p><table class="highlight">${'<tr><td class="blob-code">x'.repeat(19_000)}</table>`],
    ["paragraphs of one element", `<div>${text}${"x<br><br>".repeat(80_000)}</div>`],
    ["captions", `<img src=a.png>${`<p class="caption">${text}</p>`.repeat(4000)}`],
    [
      "notes in one place",
      `${"<p>x<sup><a href='#fn1'>1</a></sup></p>".repeat(2000)}<div>${"<a id=fn1></a>x<br><br>".repeat(3000)}`,
    ],
    [
      "hidden parts in hidden parts",
      `<p>${text}</p>${"<div class=tab hidden>".repeat(190)}${`<p hidden>${text}</p>`.repeat(2000)}`,
    ],
    ["hidden parts side by side", `<p>${text}</p><div>${"<div hidden>x</div>".repeat(40_000)}</div>`],
    [
      "hidden parts beside headlines",
      `<title>a</title><p>${text}</p>${"<h1>a</h1>".repeat(15_000)}${"<div hidden>x</div>".repeat(15_000)}`,
    ],
    [
      "hidden parts beside a long headline",
      `<title>a</title><p>${text}</p><h1>${"<i>a </i>".repeat(80_000)}</h1>${"<div hidden>x</div>".repeat(20_000)}`,
    ],
    [
      "parts for places",
      `<p>${text}</p>${Array.from({ length: 15_000 }, (_, n) => `<i id="B:${n}"></i><div hidden id="S:${n}">x</div>`).join("")}`,
    ],
    [
      "rules for one name",
      `<style>${".a{height:1px}".repeat(4999)}.a{opacity:0}</style>${"<p class=a>xy</p>".repeat(4000)}`,
    ],
    [
      "tiles of other products, at a depth",
      `<title>a pump</title><script type="application/ld+json">{"@type":"Product","name":"a pump","offers":{"@type":"Offer"}}</script><h1>a pump</h1><p>${text}</p>${"<div>".repeat(190)}${"<div><img src=a.png><a href=/p>a long name of another pump</a><i>$9</i><p>x</p></div>".repeat(4500)}`,
    ],
    ["breaks in a listing", `<p>${text}</p><pre>${"<br>".repeat(60_000)}x</pre>`],
    ["the same two paragraphs", `<div>${`<p>${text}</p><p>${text}!</p>`.repeat(2000)}</div>`],
    ["blanks", `<p>${text}</p><p>a${" ".repeat(300_000)}b</p>`],
    ["blanks that are kept", `<p>${text}</p><p>a${"\u00a0".repeat(600_000)}b</p>`],
    ["blanks in a listing", `<p>${text}</p><pre>a${"\t".repeat(600_000)}b</pre>`],
    ["blanks in a name", `<p>${text}</p>${`<dl><dt>a${"\u00a0".repeat(60_000)}b<dd>c</dl>`.repeat(20)}`],
    ["marks of notes in one mark", `<p>${text} a<sup>${"[a] ".repeat(60)}b</sup></p>`],
    ["long addresses of pictures", `<p>${text}</p>${`<img src="${"blank".repeat(12_000)}/x">`.repeat(100)}`],
    ["long sets of pictures", `<p>${text}</p>${`<img data-srcset="${"a".repeat(60_000)} b">`.repeat(20)}`],
    ["sizes of text in one style", `${`<p style="${" font:".repeat(10_000)}">${text}</p>`.repeat(100)}`],
    ["long sizes of text", `${`<p style="font:${"1".repeat(60_000)}x">${text}</p>`.repeat(20)}`],
    [
      "blanks in a style",
      `${`<p style="opacity:${" ".repeat(60_000)}x;scale:scale(${" ".repeat(60_000)}x">${text}</p>`.repeat(20)}`,
    ],
    ["lines through a text", `<p>${`<b style="${" text-decoration:".repeat(3800)}">${text}</b>`.repeat(150)}</p>`],
    [
      "a sheet for media of a long name",
      `${`<style media="${" ".repeat(60_000)}x">a{}</style>`.repeat(40)}<p>${text}</p>`,
    ],
    [
      "starts of tags in data",
      `<p>${text}</p><script type="application/ld+json">{"articleBody":"${"<a".repeat(300_000)}"}</script>`,
    ],
    ["tildes", `<p>${text}</p><p>${"~a ".repeat(60_000)}</p>`],
    ["no tilde after one", `<p>a ~ b</p><p>${"] ".repeat(300_000)}</p>`],
    ["metadata", `${"<meta>".repeat(300_000)}<p>${text}</p>`],
    ["nothing but depth", "<div>".repeat(50_000)],
    ["nothing but depth in a line", "<span>".repeat(40_000)],
    ["depth of many kinds", "<b><i><u><p>".repeat(10_000)],
    ["what is empty, at a depth", `${"<div>".repeat(199)}${"<a></a>".repeat(100_000)}`],
    ["ends of nothing, at a depth", `${"<div>".repeat(60_000)}${"</x>".repeat(300_000)}`],
    ["paragraphs that end only, at a depth", `${"<div>".repeat(60_000)}${"</p>".repeat(300_000)}`],
    ["metadata at a depth", `${"<div>".repeat(80_000)}${"<meta>".repeat(150_000)}`],
    ["titles in a picture, at a depth", `${"<div>".repeat(80_000)}<svg>${"<title></title>".repeat(130_000)}`],
    [
      "descriptions in pictures and paths to clip",
      `<p>${text}</p>${"<svg><desc>".repeat(60_000)}${"<clippath>".repeat(60_000)}`,
    ],
    [
      "answers within answers",
      `<title>b</title><p>${text}</p>${"<div><h3>t</h3><div hidden>".repeat(95)}${"so it goes on ".repeat(20_000)}`,
    ],
    [
      "parts with text for places in one another",
      `<p>${text}</p><i id="B:0"></i>${Array.from({ length: 20_000 }, (_, n) => `<div hidden id="S:${19_999 - n}">x<i id="B:${20_000 - n}"></i>y</div>`).join("")}`,
    ],
    ["frames without an end", `<p>${text}</p>${"<noscript><iframe ".repeat(40_000)}${" ".repeat(300_000)}`],
    ["starts of frames in capitals", `<p>${text}</p>${"<i<I<iframe<IFRAME ".repeat(40_000)}`],
    ["entities in names and values", `<p>${text}</p><a ${"b&c='&amp' ".repeat(60_000)}>x</a>`],
    ["slides", `<div>${`<div class="swiper-slide"><a href=x>${text}</a></div>`.repeat(4000)}</div>`],
    ["tiles at a depth", `${"<div><a href=x>".repeat(95)}${`<section><a href=x>${text}</a></section>`.repeat(2000)}`],
    [
      "second titles",
      Array.from(
        { length: 2000 },
        (_, n) => `<div><h3>The tile ${n}</h3><section><h3>The tile ${n}</h3></section><p>${text}</p></div>`,
      ).join(""),
    ],
    [
      "lines for other screens",
      `<div class="${"x-mobilex ".repeat(6000)}">${`<p>${text}</p>`.repeat(2000)}</div>${`<p class="d-none">${text}</p>`.repeat(2000)}`,
    ],
    [
      "blanks before a type",
      `<script type="application/ld+json">{"@type":${" ".repeat(500_000)}1}</script><p>${text}</p>`,
    ],
    ["a description of many parts", described({ recipeInstructions: Array(15_000).fill("<b><i>x") })],
    ["a long description", described({ recipeInstructions: `<p>${text}</p>`.repeat(10_000) })],
    ["many descriptions", described({ recipeInstructions: text }).repeat(4000)],
    [
      "a deep description",
      described({}).replace('"name"', `"recipeInstructions":${"[".repeat(9000)}1${"]".repeat(9000)},"name"`),
    ],
    [
      "a description beside many words",
      `${described({ recipeInstructions: text })}<nav>${Array.from({ length: 60_000 }, (_, n) => `a${n} b `).join("")}</nav>`,
    ],
    [
      "quotations in quotations",
      `<meta name=generator content=phpBB><p>${text}</p>${"<blockquote>".repeat(180)}${`<p>${text}</p>`.repeat(4000)}`,
    ],
    [
      "quotations of one post",
      `<meta name=generator content=phpBB><p>${text.repeat(2000)}</p>${`<blockquote><p>${text}</p></blockquote><p>x</p>`.repeat(4000)}`,
    ],
    [
      "labels of entries at a depth",
      `<link rel=canonical href="https://a.example/collections/x">${"<div>".repeat(180)}${"<div><a href=x>go</a></div><div><a href=y>see</a></div>".repeat(4000)}`,
    ],
    [
      "many labels of entries",
      `<link rel=canonical href="https://a.example/collections/x">${Array.from({ length: 1400 }, (_, n) => `<ul>${`<li>go ${n}</li>`.repeat(7)}</ul>`).join("")}`,
    ],
    [
      "labels of entries in one cell",
      `<link rel=canonical href="https://a.example/collections/x"><table><tr><td>${Array.from({ length: 7000 }, (_, n) => `<div><p>${"<i>a</i> ".repeat(60)}</p><p><a href="c${n}">Add it to the cart</a></p></div>`).join("")}</table>`,
    ],
    ["buttons with the title beside them", `<h3>${text}</h3><button>See: ${text}</button>`.repeat(4000)],
    [
      "entries at a depth",
      `${"<div><article>".repeat(95)}${`<article><h2><a href=x>${text}</a></h2></article>`.repeat(4000)}`,
    ],
    ["many short blocks", Array.from({ length: 60_000 }, (_, n) => `<p class=c${n}>${n} b</p>`).join("")],
    ["long names of many parts", `<p class="${"aB".repeat(700)}" id="${"related-box ".repeat(60)}">x</p>`.repeat(2000)],
    [
      "names that say something, at a depth",
      `${Array.from({ length: 180 }, (_, n) => `<div class="${KNOWN_NAMES[n % KNOWN_NAMES.length]} x${n}">`).join("")}${Array.from({ length: 6000 }, (_, n) => `<section id="${KNOWN_NAMES.join("-")}" class=c${n}><p class="${KNOWN_NAMES.join(" ")}">x</p></section>`).join("")}`,
    ],
    [
      "long headings above short texts",
      `<h2>${"read more of it ".repeat(4000)}</h2>${"<p>read more</p>".repeat(8000)}`.repeat(3),
    ],
    ["words of many scripts", `<p>${"é я 水 ".repeat(10)}</p>`.repeat(8000)],
    [
      "listings with many elements beside them",
      `<div class="language-js">${"<b>x</b>".repeat(40_000)}${"<div><div><pre>let x</pre></div></div>".repeat(8000)}</div>`,
    ],
    [
      "headlines in headlines",
      `<title>a</title>${"<h1><div>a ".repeat(95)}${"<b>a</b>".repeat(60_000)}<div hidden>x</div>`,
    ],
    ["lists in lists", `${"<ul><li>a".repeat(95)}${"<li>a".repeat(40_000)}`],
    ["ends of lines in a quotation", `<p>${text}</p><blockquote>${"<br>".repeat(60_000)}x</blockquote>`],
    ["line breaks in empty elements", `<p>${text}</p>${"<div><br><br></div>".repeat(60_000)}`],
    ["listings in a listing", `<p>${text}</p>${"<pre>a".repeat(150)}${"<pre>x</pre>".repeat(20_000)}`],
    [
      "posts as data",
      `<div data-preloaded='${JSON.stringify({ topic: JSON.stringify({ post_stream: { posts: Array(20_000).fill({ username: "a", cooked: "<p>x" }) } }) })}'></div><div id=root></div><script src=a.js></script>`,
    ],
    [
      "data that holds no posts",
      `<div data-a='${JSON.stringify(Array(12_000).fill("{ post_stream"))}'></div><div id=root></div><script src=a.js></script>`,
    ],
    [
      "posts by their names, at a depth",
      `${"<div class=post>".repeat(180)}${`<p>${text}</p><div class=quote><p>${text}</p></div>`.repeat(3000)}`,
    ],
    [
      "a style sheet and a description of many parts",
      `<style>${".a{opacity:0}".repeat(4999)}</style>${described({ recipeInstructions: Array(15_000).fill("<b class=a>x") })}`,
    ],
    ["many class names", `<body class="${"word ".repeat(400_000)}"><p class="${"word ".repeat(400_000)}">${text}</p>`],
  ];
  for (const [name, html] of cases)
    test(name, () => {
      expect(extract(html).markdown).toBeDefined();
    });
});
