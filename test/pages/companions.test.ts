import { describe, expect, test } from "bun:test";
import { type Extracted, extractPage } from "../../src/pages/convert/extract.ts";

const PROSE = [
  "The valve opens slowly when the pressure in the main line rises above the limit, and closes when it falls again.",
  "Its seat is ground by hand, which is why no two of them fit, and why nobody should exchange one for the other.",
  "Whoever wants to look at it closes the line first, waits a minute, and lets the rest of the water out below.",
];

/** The main content of an article with this part between its paragraphs. */
function within(part: string): string {
  const [first, second, third] = PROSE;
  return read(
    "<title>Valves and their care</title>",
    `<main><article><h1>Valves and their care</h1><p>${first}</p><p>${second}</p>${part}<p>${third}</p></article></main>`,
  );
}

function read(head: string, body: string): string {
  return extract(head, body).markdown ?? "";
}

/** The steps that decided last about some part of a page. */
function stepsOf(head: string, body: string): string[] {
  return (extract(head, body).parts ?? []).map(({ step }) => step);
}

function extract(head: string, body: string): Extracted {
  const html = `<!doctype html><head>${head}</head><body><header><nav><a href="/">Home</a> <a href="/all">All</a></nav></header>${body}<footer>© Site</footer></body>`;
  const url = "https://site.example/x";
  return extractPage(html, { url, onlyMainContent: true, markdown: true, html: false, links: false, trace: true });
}

describe("the title of a note stays with the note", () => {
  const text = "<p>Do not open the valve while there is pressure on the line.</p>";
  const svg = '<svg viewBox="0 0 12 16"></svg>';
  test.each([
    ["of Material", `<div class="admonition warning"><p class="admonition-title">Warning</p>${text}</div>`, "Warning"],
    ["of VitePress", `<div class="tip custom-block"><p class="custom-block-title">TIP</p>${text}</div>`, "TIP"],
    ["of GitHub", `<div class="markdown-alert"><p class="markdown-alert-title">${svg}Note</p>${text}</div>`, "Note"],
    [
      "of Docusaurus",
      `<div class="theme-admonition admonition_xJq3"><div class="admonitionHeading_Gvgb"><span>${svg}</span>tip</div><div class="admonitionContent_BuS1">${text}</div></div>`,
      "tip",
    ],
    ["that is opened", `<details><summary>Why?</summary>${text}</details>`, "Why?"],
  ])("%s", (_, note, title) => expect(within(note)).toContain(`**${title}**\n\nDo not open`));
});

test("the names of tabs are above their content, including code listings", () => {
  const listing = (line: string) =>
    `<div class="language-bash"><pre class="language-bash"><code>${line}</code></pre><button>Copy</button></div>`;
  const links = `<div><ul role="tablist"><li role="presentation"><a role="tab" href="#p1" id="t1">npm</a></li><li role="presentation"><a role="tab" href="#p2" id="t2">Yarn</a></li></ul></div><div id="p1" role="tabpanel">${listing("npm i valve")}</div><div id="p2" role="tabpanel" hidden>${listing("yarn add valve")}</div>`;
  const tabs = `<div class="tabs-container"><ul role="tablist"><li role="tab">npm</li><li role="tab">Yarn</li></ul><div><div role="tabpanel">${listing("npm i valve")}</div><div role="tabpanel" hidden>${listing("yarn add valve")}</div></div></div>`;
  for (const part of [tabs, links])
    expect(within(part)).toContain(
      "**npm**\n\n```bash\nnpm i valve\n```\n\n**Yarn**\n\n```bash\nyarn add valve\n```\n",
    );
});

test("a button beside each entry of a list is left out, the entries are not", () => {
  const entry = (at: number) =>
    `<li><h3>Valve of kind ${at}</h3><p>It closes when the pressure falls below the mark number ${at}, and opens again by hand.</p><button>Compare</button></li>`;
  const entries = Array.from({ length: 7 }, (_, at) => entry(at)).join("");
  const markdown = within(`<ul>${entries}</ul>`);
  expect(markdown).not.toContain("Compare");
  expect(markdown).toContain("Valve of kind 6");
});

describe("the author of a quotation stays with it", () => {
  const said = "The pressure is never the problem; the impatience is, as every plumber learns in his first year.";
  test.each([
    ["in its footer", `<blockquote><p>${said}</p><footer>— <cite>Ada Pipe</cite>, plumber</footer></blockquote>`],
    ["in its own line", `<blockquote><p>${said}</p><cite>Ada Pipe</cite></blockquote>`],
    ["in a caption", `<figure><blockquote>${said}</blockquote><figcaption>Ada Pipe</figcaption></figure>`],
    ["by name", `<div class="quote"><blockquote>${said}</blockquote><p class="quote-author">Ada Pipe</p></div>`],
    ["behind a dash", `<blockquote>${said}</blockquote><p>— Ada Pipe</p>`],
    ["before it", `<blockquote><div class="bbCodeBlock-title">Ada Pipe said:</div><div>${said}</div></blockquote>`],
  ])("%s", (_, quote) => {
    const markdown = within(quote);
    expect(markdown).toContain(`> ${said}`);
    expect(markdown).toContain("Ada Pipe");
  });
  test("a link directly after it is not an author", () => {
    const part = `<blockquote>${said}</blockquote><div class="more"><a href="/y">More quotations</a></div>`;
    const steps = stepsOf("", `<main><h1>Valves</h1><p>${PROSE.join("</p><p>")}</p>${part}</main>`);
    expect(steps).not.toContain("attributions");
  });
});

test("numbers stay with the text that they count", () => {
  const stat = (figure: string, label: string) =>
    `<div class="stat"><div class="number">${figure}</div><div class="label">${label}</div></div>`;
  const markdown = within(`<div class="stats">${stat("42", "Valves")}${stat("99.9%", "Tightness")}</div>`);
  expect(markdown).toContain("42\n\nValves\n\n99.9%\n\nTightness");
});

test("a table of divisions is kept whole", () => {
  const row = (role: string, cells: readonly string[]) =>
    `<div role="row">${cells.map((cell) => `<span role="${role}">${cell}</span>`).join("")}</div>`;
  const table = `<div role="table">${row("columnheader", ["Size", "Pressure"])}${row("cell", ["Small", "4 bar"])}${row("cell", ["Large", "6 bar"])}${row("cell", ["Huge", "9 bar"])}</div>`;
  expect(within(table)).toContain(
    "| Size | Pressure |\n| --- | --- |\n| Small | 4 bar |\n| Large | 6 bar |\n| Huge | 9 bar |",
  );
});

test("a player between kept text is kept", () =>
  expect(within('<iframe src="https://www.youtube.com/embed/a1" title="How valves work"></iframe>')).toContain(
    "[How valves work](https://www.youtube.com/embed/a1)",
  ));

describe("the author of a post stays beside it", () => {
  const people = ["Ada Pipe", "Bo Drip", "Cy Leak"];
  const post = (at: number) =>
    `My valve leaks since last week, number ${at}, and I do not know why it does so; who has seen the same, and what did you do about it?`;
  const threads: readonly (readonly [string, (name: string, at: number) => string])[] = [
    [
      "XenForo",
      (name, at) =>
        `<article class="message message--post"><div class="message-cell"><section class="message-user"><div class="message-avatar"><a class="avatar" href="/m/${at}"><img src="/a${at}.jpg" alt="${name}"></a></div><h4 class="message-name"><a href="/m/${at}" class="username">${name}</a></h4><h5 class="userTitle">Member</h5><dl><dt>Joined</dt><dd>2019</dd></dl></section></div><div class="message-cell"><article class="message-body"><div class="bbWrapper">${post(at)}</div></article><footer><a href="/r">Report</a> <a href="/q">Reply</a></footer></div></article>`,
    ],
    [
      "vBulletin",
      (name, at) =>
        `<li class="postbit"><div class="userinfo"><a class="username" href="/m${at}"><strong>${name}</strong></a><dl><dt>Join Date</dt><dd>Mar 2009</dd></dl></div><div class="postbody"><blockquote class="postcontent restore">${post(at)}</blockquote></div><div class="postfoot"><a class="newreply" href="/n">Reply With Quote</a></div></li>`,
    ],
    [
      "phpBB",
      (name, at) =>
        `<div class="post"><dl class="postprofile"><dt><a href="/m${at}" class="username">${name}</a></dt><dd>Regular</dd></dl><div class="postbody"><ul class="post-buttons"><li><a href="/q">Quote</a></li></ul><div class="content">${post(at)}</div></div></div>`,
    ],
    [
      "Discourse",
      (name, at) =>
        `<div class="topic-body crawler-post"><div class="crawler-post-meta"><span class="creator" itemprop="author"><a href="/u/${at}">${name}</a></span></div><div class="post"><p>${post(at)}</p></div><div class="post-likes">3 Likes</div></div>`,
    ],
  ];
  for (const [forum, render] of threads)
    test(forum, () => {
      const head = `<title>Valve leaks</title><link rel="canonical" href="https://site.example/threads/valve-leaks.7/">`;
      const markdown = read(head, `<h1>Valve leaks</h1><div class="posts">${people.map(render).join("")}</div>`);
      people.forEach((name, at) => {
        expect(markdown.split(name)).toHaveLength(2);
        expect(markdown.indexOf(name)).toBeLessThan(markdown.indexOf(post(at)));
        if (at > 0) expect(markdown.indexOf(name)).toBeGreaterThan(markdown.indexOf(post(at - 1)));
      });
      expect(markdown).not.toMatch(/Reply With Quote|Report|Likes|Joined|!\[/);
    });
  test("the signatures of members are left out, what tells the author of a post is not", () => {
    const head = `<title>Valve leaks</title><link rel="canonical" href="https://site.example/threads/valve-leaks.7/">`;
    const posts = people.map(
      (name, at) =>
        `<div class="post"><div class="post-signature"><a class="username" href="/m${at}">${name}</a></div><div class="content">${post(at)}</div><div class="sig_text">My boat number ${at} is the fastest one of all in this harbour, and has been for years.</div></div>`,
    );
    const markdown = read(head, `<h1>Valve leaks</h1><div class="posts">${posts.join("")}</div>`);
    expect(markdown).not.toContain("the fastest one");
    for (const name of people) expect(markdown).toContain(name);
  });
  test("the titles of replies are left out if they only repeat that of the thread", () => {
    const threadAt = (address: string) =>
      `<title>Valve leaks - Harbour forum</title><link rel="canonical" href="https://site.example${address}">`;
    const titles = ["Valve leaks", "Re: Valve leaks", "AW: Valve leaks", "Re: Hose of the pump"];
    const posts = titles.map(
      (title, at) =>
        `<div class="post"><div class="postbody"><h3><a href="#p${at}">${title}</a></h3><p>${post(at)}</p></div></div>`,
    );
    const markdown = read(threadAt("/threads/valve-leaks.7/"), posts.join(""));
    expect(markdown).not.toMatch(/(?:Re|AW): Valve/);
    expect(markdown).toContain("Re: Hose of the pump");
    for (const at of titles.keys()) expect(markdown).toContain(post(at));
    expect(read(threadAt("/letters/valves"), posts.join(""))).toContain("Re: Valve leaks");
  });
  test("the titles of replies that say more, and text that begins like one, are kept", () => {
    const head = '<title>Valve leaks</title><link rel="canonical" href="https://site.example/threads/valve-leaks.7/">';
    const rest = ["Re: Valve leaks - a new gasket helped", "Re: ??", "Re: Valve leaks, 漏水", "AW: Re: Valve le…"];
    const posts = ["Valve leaks", "Re: Re: Valve leaks", ...rest].map(
      (title, at) =>
        `<div class="post"><h3><a href="#p${at}">${title}</a></h3><p>${post(at)}</p><p>Re: Valve leaks: take gasket ${at}.</p></div>`,
    );
    const markdown = read(head, posts.join(""));
    for (const title of rest.slice(0, 3)) expect(markdown).toContain(title);
    for (const at of posts.keys()) expect(markdown).toContain(`take gasket ${at}`);
    expect(markdown).not.toMatch(/Re: Re|AW: /);
  });
  test("but not the author of a teaser", () => {
    const card = (name: string, at: number) =>
      `<div class="card"><h3><a href="/a${at}">Story ${at}</a></h3><p>${post(at)}</p><span class="author">${name}</span></div>`;
    const steps = stepsOf("<title>Stories</title>", `<main><h1>Stories</h1>${people.map(card).join("")}</main>`);
    expect(steps).not.toContain("authors");
  });
});
