import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type ExtractOptions, extractPage } from "../../src/pages/convert/extract.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const URL_ = "https://site.example/blog/rivers";
const extract = (html: string, options: Partial<ExtractOptions> = {}) =>
  extractPage(html, { url: URL_, onlyMainContent: true, markdown: true, html: false, links: true, ...options });

const PARAGRAPHS = [
  "The river begins as a thin stream between two hills, and for the first ten miles nobody would call it a river at all.",
  "Further down, where the valley opens, three smaller streams join it, and the water grows slow, brown and deep.",
  "Fishermen have worked this stretch for four hundred years, and their houses, built on stilts, still line the banks.",
  "In spring, when the snow melts, the water rises by two metres within a week, and the lower road is closed.",
];
const ARTICLE = `<!doctype html><html lang="en-GB"><head><title>Rivers &amp; hills</title>
<meta name="description" content="About a river."><link rel="canonical" href="/blog/rivers"><meta property="og:type" content="article">
<meta name="author" content="Ann Author"><meta property="article:published_time" content="2024-05-06T07:08:09Z"><link rel="icon" href="/f.ico"></head>
<body><header><nav class="menu"><ul><li><a href="/">Home</a></li><li><a href="/about">About us</a></li><li><a href="/login">Log in</a></li></ul></nav></header>
<main><article class="post"><h1>Rivers and hills</h1>${PARAGRAPHS.map((text) => `<p>${text}</p>`).join("")}
<p>See <a href="/blog/maps">the maps</a> for how the water ran before the dam was built upstream.</p><img src="/river.jpg" alt="The river"></article></main>
<aside class="sidebar related"><h3>Related stories</h3><ul><li><a href="/1">Ten lakes</a></li><li><a href="/2">A pond</a></li></ul></aside>
<div id="cookie-banner" class="cookie-consent">We use cookies. <button>Accept all</button></div>
<footer class="footer">© 2024 Site. All rights reserved. <a href="/privacy">Privacy policy</a></footer></body></html>`;

describe("main content", () => {
  const { markdown = "", links = [], allLinks } = extract(ARTICLE);
  test("the article stays", () => {
    for (const text of PARAGRAPHS) expect(markdown).toContain(text);
    expect(markdown).toContain("![The river](https://site.example/river.jpg)");
  });
  test("navigation and other page chrome are removed", () => {
    for (const text of ["Log in", "Related stories", "cookies", "Accept all", "All rights reserved"])
      expect(markdown).not.toContain(text);
  });
  test("links belong to the main content, and to the whole page for crawls", () => {
    expect(links).toEqual(["https://site.example/blog/maps"]);
    expect(allLinks).toContain("https://site.example/about");
  });
  test.each([
    ["formulas that a script is to set", 'so <script type="math/tex">x^2</script> is', "so $x^2$ is"],
    [
      "and has set",
      'so <span class="MathJax_Preview"></span><span class="MathJax">x2</span><script type="math/tex">x^2</script> is',
      "so $x^2$ is",
    ],
    ["on lines of their own", '<script type="math/tex; mode=display">E</script>', "$$\nE\n$$"],
    [
      "a lazy picture that <noscript> repeats",
      '<img src="/lazy.gif" alt="a"><noscript><img src="/a.png"></noscript>',
      "![a](https://site.example/a.png)",
    ],
    [
      "notes without their way back",
      'word<sup><a href="#fn1">1</a></sup></p><ol><li id="fn1">The note. <a href="#r1">↩︎</a></li></ol><p>',
      "[^1]: The note.\n",
    ],
  ])("%s", (_, inner, found) => {
    const text = extract(`<main><p>${PARAGRAPHS[0]}</p><p>${inner}</p><p>${PARAGRAPHS[1]}</p></main>`).markdown;
    expect(`${text}\n`).toContain(found);
    expect(text).not.toContain("↩");
  });
  test.each([
    ['<html lang=" pt_BR ">', "pt-BR"],
    ['<meta property="og:locale" content="de_DE">', "de-DE"],
    ['<meta http-equiv="Content-Language" content="fr, en">', "fr"],
    ["<html>", ""],
  ])("the language of %s", (head, language) =>
    expect(extract(`${head}<p>${PARAGRAPHS[0]}</p>`).metadata.language).toBe(language),
  );
  test("the links of a frameset are its frames", () => {
    const page = extract('<frameset cols="1,2"><frame src="/left"><frame src="right.html"></frameset>');
    expect(page.links).toEqual(["https://site.example/left", "https://site.example/blog/right.html"]);
  });
  test("the whole page on request", () => {
    const whole = extract(ARTICLE, { onlyMainContent: false }).markdown ?? "";
    for (const text of ["Log in", "Related stories", ...PARAGRAPHS]) expect(whole).toContain(text);
  });
  test("the trace says what happened to each part", () => {
    const { parts = [] } = extract(ARTICLE, { trace: true });
    const of = (text: string) => parts.find((part) => part.text.startsWith(text));
    expect(of("The river begins")).toMatchObject({ kept: true, step: "choice", element: "p" });
    expect(of("Rivers and hills")).toMatchObject({ kept: true, element: "h1" });
    expect(of("Related stories")).toMatchObject({ kept: false });
    expect(extract(ARTICLE).parts).toBeUndefined();
  });
  test("the trace says which parts were removed and why", () => {
    const { removals = [] } = extract(ARTICLE, { trace: true });
    expect(removals).toContainEqual({
      step: "main-content",
      element: "footer.footer",
      text: "© 2024 Site. All rights reserved. Privacy policy",
    });
  });
  test("cleaned HTML", () => {
    const { html = "" } = extract(ARTICLE, { html: true });
    expect(html).toContain("<h1>Rivers and hills</h1>");
    expect(html).not.toContain("cookie");
  });
});

test("spaces in highlighted code are kept", () => {
  const code = '<pre><span>from</span><span class="w"> </span><span>here</span> <span>import</span></pre>';
  expect(extract(ARTICLE.replace("<img", `${code}<img`)).markdown).toContain("from here import");
});

test("the metadata of a page is read", () => {
  expect(extract(ARTICLE).metadata).toMatchObject({
    title: "Rivers & hills",
    description: "About a river.",
    language: "en-GB",
    canonical: "https://site.example/blog/rivers",
    author: "Ann Author",
    publishedTime: "2024-05-06T07:08:09Z",
    favicon: "https://site.example/f.ico",
    ogType: "article",
  });
});

test("metadata of a page that has none", () => {
  expect(extract("<h1>Only a heading</h1>").metadata).toEqual({
    title: "Only a heading",
    description: "",
    language: "",
  });
});

describe("broken markup", () => {
  const cases: [string, string, string][] = [
    ["text before the head's end", "<html><head><title>T</title></head>stray<body><p>real</p></body></html>", "stray"],
    ["a script between head and body", "<html><head></head><script>x</script><body><p>real</p></body></html>", "real"],
    ["two bodies", "<body><p>one</p></body><body><p>two</p></body>", "two"],
    ["a CDATA mark", "<body><![CDATA[<p>real</p></body>", "real"],
    ["an unclosed title", "<title>T</title><p>real", "real"],
    ["unclosed tags", "<div><p>real<div><b>more", "more"],
  ];
  for (const [name, html, text] of cases) test(name, () => expect(parsePage(html).body.textContent).toContain(text));

  test("depth is bounded and keeps the text", () => {
    const html = `${"<div>".repeat(5000)}deep${"</div>".repeat(5000)}after`;
    expect(parsePage(html).body.textContent).toBe("deepafter");
    expect(extract(html, { onlyMainContent: false }).markdown).toContain("deep");
  });
  test("a long base address does not enlarge a page with many short links", () => {
    const links = Array.from({ length: 2000 }, (_, number) => `<a href="${number}">word ${number}</a> `).join("");
    const html = `<base href="https://site.example/${"x".repeat(60_000)}/"><p>${links}<img src="i.png"></p>`;
    const whole = JSON.stringify(extract(html, { onlyMainContent: false, html: true }));
    expect(whole.length).toBeLessThan(html.length * 4);
    expect(whole).toContain("word 1999");
  });
  test("size is bounded", () => {
    const { body } = parsePage("<p>x</p>".repeat(300_000));
    let paragraphs = 0;
    for (let node = body.firstChild; node !== null; node = node.nextSibling) paragraphs += 1;
    expect(paragraphs).toBeGreaterThan(100_000);
    expect(paragraphs).toBeLessThan(300_000);
    expect(body.firstChild?.textContent).toBe("x");
  });
});

describe("pages that need a browser", () => {
  const script = `<script>${"x".repeat(1000)}</script>`;
  const cases: [string, string, string | undefined][] = [
    ["an empty root", `<div id="root"></div>${script}`, "empty application root"],
    ["a notice", `<noscript>Please enable JavaScript to use this site.</noscript>${script}`, "noscript"],
    ["little text", `<p>Loading</p>${script}`, "little text, much script"],
    ["a script's redirect", "<script>window.location.href = '/new';</script>", "script redirect"],
    ["a redirect on load", `<body onload="location='/new'"><p>Moving</p></body>`, "script redirect"],
    ["a redirect on a condition", "<script>if (top) location.replace(to)</script>", "script redirect"],
    ["a cookie and once more", "<script>document.cookie='a=1';location.reload()</script>", "script redirect"],
    ["a redirect that is put together", "<script>location['hr' + 'ef'] = a + b</script>", "no text, a script"],
    ["nothing but a script that is elsewhere", '<script src="/go.js"></script>', "no text, a script"],
    ["a script that asks where it is", "<p>Hello</p><script>if (location.href == 'x') y()</script>", undefined],
    ["a redirect in a page to be read", `${ARTICLE}<script>location.href='/new'</script>`, undefined],
    ["a short page without scripts", "<p>Hello</p>", undefined],
    ["a long page", `${ARTICLE}${ARTICLE}<div id="app"></div>${script}`, undefined],
  ];
  for (const [name, html, expected] of cases) test(name, () => expect(extract(html).needsScript).toBe(expected));

  test("embedded data replaces missing markup", () => {
    const state = JSON.stringify({
      page: { body: `<p>${PARAGRAPHS[0]}</p><p>${PARAGRAPHS[1]}</p>`, id: "x", url: "https://a.b/c" },
    });
    const html = `<div id="root"></div><script type="application/json">${state}</script>${script}`;
    expect(extract(html).markdown).toContain(PARAGRAPHS[1] as string);
  });
});

describe("refresh", () => {
  const cases: [string, string | undefined][] = [
    ["0; url=/next", "https://site.example/next"],
    ["0;URL='https://other.example/a'", "https://other.example/a"],
    ["300; url=/next", undefined],
    ["0", undefined],
    ["0; url=/blog/rivers", undefined],
    ["0; url=javascript:x", undefined],
  ];
  for (const [content, expected] of cases)
    test(content, () =>
      expect(extract(`<meta http-equiv="refresh" content="${content}"><p>x</p>`).refreshUrl).toBe(expected),
    );
});

test("a page with text never comes out empty", () => {
  const word = fc.constantFrom("Home", "Log in", "a", "©", "Add to cart", "Text here.", "42");
  const tag = fc.constantFrom("nav", "footer", "div", "p", "li", "span", "header", "button", "td");
  fc.assert(
    fc.property(fc.array(fc.tuple(tag, word), { minLength: 1, maxLength: 8 }), (parts) => {
      const html = parts.map(([name, text]) => `<${name}>${text}</${name}>`).join("");
      expect(extract(html).markdown?.trim()).not.toBe("");
    }),
    { numRuns: 200 },
  );
});

describe("repeated text", () => {
  const twin = (first: string, second: string) => {
    const markdown = extract(`<title>T</title><article>${first}${second}</article>`).markdown ?? "";
    return PARAGRAPHS.map((text) => markdown.split(text).length - 1);
  };
  const paragraphs = PARAGRAPHS.map((text) => `<p>${text}</p>`).join("");
  test("a second container with the same paragraphs is removed", () => {
    const screen = `<div class="screen">${paragraphs}</div>`;
    expect(twin(screen, `<div class="other">${paragraphs}</div>`)).toEqual([1, 1, 1, 1]);
    expect(twin(paragraphs, `<section><div class="print-version">${paragraphs}</div></section>`)).toEqual([1, 1, 1, 1]);
  });
  test("repeated items of a list are kept", () => {
    expect(twin(paragraphs, paragraphs)).toEqual([2, 2, 2, 2]);
    const part = `<div class="stanza">${paragraphs}</div>`;
    expect(twin(part, part)).toEqual([2, 2, 2, 2]);
  });
  test("the text in one piece is removed, its paragraphs are kept", () => {
    expect(twin(`<div>${PARAGRAPHS.join(" ")}</div>`, paragraphs)).toEqual([1, 1, 1, 1]);
    expect(extract(`<article><div>${PARAGRAPHS.join(" ")}</div>${paragraphs}</article>`).markdown).toContain("\n\n");
  });
  test("a sentence that two parts need is kept in both", () => {
    const text = PARAGRAPHS[0] as string;
    const parts = ["first", "second"].map((name) => `<h2>The ${name} call</h2><p>${text}</p>`);
    expect(twin(`${paragraphs}${parts[0]}`, parts[1] as string)[0]).toBeGreaterThan(1);
  });
});

describe("comments", () => {
  const comments = `<div class="comments">${["I never knew that about the river, and I have lived here for years, you know.", "My uncle worked on that road for a decade, and he told me much the same, honestly."].map((text) => `<div class="comment"><p>${text}</p></div>`).join("")}</div>`;
  test("are not part of an article", () => {
    const { markdown = "" } = extract(
      ARTICLE.replace("</main>", `${comments}</main>`).replace(
        /<p>See/,
        `<p>${PARAGRAPHS.join(" ")} And so it went, on and on, for years.</p><p>See`,
      ),
    );
    expect(markdown).toContain("on and on");
    expect(markdown).not.toContain("My uncle");
  });
  test("are not the article whose name says that it may have some", () => {
    const about = `<div class="about">${PARAGRAPHS.map((text) => `<p>${text.toUpperCase()}</p>`)
      .join("")
      .repeat(3)}</div>`;
    const page = (name: string) =>
      extract(
        `<title>The old road - Quay</title><meta property="og:type" content="article"><article class="${name}"><h1>The old road</h1>${PARAGRAPHS.map((text) => `<p>${text}</p>`).join("")}<div class="comments"><p>My uncle worked on that road for a decade, and he told me much the same.</p></div></article>${about}`,
      ).markdown ?? "";
    for (const name of ["entry", "entry has-comments", "comments-open"]) {
      for (const text of PARAGRAPHS) expect(page(name)).toContain(text);
      expect(page(name)).not.toContain("My uncle");
    }
  });
  test("are the content of a thread", () => {
    const thread = `<title>Rivers - forum thread</title><link rel="canonical" href="https://site.example/forum/thread/7"><h1>Rivers</h1>${comments}`;
    expect(extract(thread).markdown).toContain("My uncle");
  });
});

test("customers' reviews are not part of a product's description", () => {
  const said =
    "The pump is loud, but it lifts water from eight metres down without a stop, and that is what I bought it for.";
  const page = (path: string) =>
    `<title>Pump</title><link rel="canonical" href="https://site.example${path}"><main><h1>Pump</h1><div class="description">${PARAGRAPHS.map((text) => `<p>${text} ${text.toUpperCase()}</p>`).join("")}</div><div class="customer-reviews"><div class="review"><p>${said}</p></div></div></main>`;
  const { markdown = "" } = extract(page("/products/pump"));
  expect(markdown).toContain(PARAGRAPHS[0] as string);
  expect(markdown).not.toContain(said);
});

test("hidden microdata is not text", () => {
  const hidden = `<div style="display:none" itemscope itemtype="http://schema.org/NewsArticle"><div itemprop="datePublished">2019-11-19T08:57:40+01:00</div></div>`;
  expect(extract(`${hidden}${PARAGRAPHS.map((text) => `<p>${text}</p>`).join("")}`).markdown).not.toContain("2019");
  // It is kept if the page has no other content, in one piece or in many.
  const all = PARAGRAPHS.map((text) => `<div style="display:none" itemscope><p>${text}</p></div>`);
  for (const html of [all[0], all.join(""), `${all.join("")}<div>¶</div><select><option>x</option></select>`])
    expect(extract(html as string).markdown).toContain(PARAGRAPHS[0] as string);
});

test("extraction is deterministic and never throws, whatever the tree", () => {
  const name = fc.constantFrom(
    "div",
    "p",
    "h1",
    "h2",
    "ul",
    "li",
    "table",
    "tr",
    "td",
    "blockquote",
    "pre",
    "a",
    "b",
    "article",
    "aside",
    "nav",
    "form",
    "dl",
    "dd",
    "figure",
  );
  const attribute = fc.constantFrom(
    "",
    ' class="comments"',
    ' id="related"',
    ' style="display:none" itemscope',
    " hidden",
    ' href="#x"',
    ' role="main"',
  );
  const text = fc.constantFrom("", "Home", "¶", "$9.99", "https://a.example/x", ...PARAGRAPHS);
  const part = fc
    .tuple(name, attribute, text, fc.boolean())
    .map(([tag, extra, words, isOpen]) => `<${tag}${extra}>${words}${isOpen ? "" : `</${tag}>`}`);
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const html = parts.join("");
      const { markdown = "" } = extract(html);
      expect(extract(html).markdown).toBe(markdown);
      const whole = parsePage(html).body.textContent.replace(/[¶\s]/g, "");
      if (whole !== "") expect(markdown).not.toBe("");
    }),
    { numRuns: 300 },
  );
});

test("an end tag closes the right element, however many are open", () => {
  const deep = "<font>".repeat(1200);
  const { markdown } = extract(`<p>One</p>${deep}<DIV>two</x></div></p><p>three</P>`, { onlyMainContent: false });
  expect(markdown).toBe("One\n\ntwo\n\nthree");
  const picture = parsePage(`${deep}<svg><foreignObject><b>in</b></foreignobject></SVG><title>After</title>`);
  expect(picture.title).toBe("After");
});

test("cleaned HTML has no empty lines, but those of listings", () => {
  const page = `<p>One</p> \n\n \t\n <p>two\n  three</p>\n\n<pre><b>if</b> a:\n\n    b()\n\n\nc()</pre>\n\n<p>four</p>`;
  expect(extract(page, { html: true, onlyMainContent: false }).html).toBe(
    "<p>One</p>\n<p>two\n  three</p>\n<pre><b>if</b> a:\n\n    b()\n\n\nc()</pre>\n<p>four</p>",
  );
});

test("a page of a few sentences is kept whole, without its frame", () => {
  const small = `<title>Hello</title><nav><a href="/n">Menu</a></nav><h1>Hello</h1><p>Some words.</p><a href="/x">more</a><footer>Imprint</footer>`;
  expect(extract(small).markdown).toBe("# Hello\n\nSome words.\n\n[more](https://site.example/x)");
});

test("a short page keeps its headline, though its title says the same", () => {
  const words = "Small things that do big work in every factory of the world, and that always have done so. ".repeat(9);
  const page = `<title>Widgets</title><header><h1>The site</h1></header><div><h1>Widgets</h1><p>${words}</p></div>`;
  expect(extract(page.replace("<header><h1>The site</h1></header>", "")).markdown).toStartWith("# Widgets\n");
  // There are two headings, so neither is certain to be the headline.
  expect(extract(page).markdown).not.toContain("The site");
});
