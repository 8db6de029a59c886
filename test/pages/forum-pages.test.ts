import { describe, expect, test } from "bun:test";
import { extractPage } from "../../src/pages/convert/extract.ts";

const POSTS = ["ann", "bert", "cleo", "dora", "emil", "finn"].map((user, at) => ({
  user,
  date: `Sat May ${at + 1}, 2024 10:0${at} am`,
  text: `The pump of my boat number ${at} leaks at the shaft since last autumn, and I have changed the seal ${at + 2} times without any luck at all. What would you look at next?`,
}));

/** The main content of a forum's page. */
function mainOf(html: string, url = "https://forum.example/viewtopic.php?t=5"): string {
  const options = {
    url,
    onlyMainContent: true,
    markdown: true,
    html: false,
    links: false,
  };
  return extractPage(html, options).markdown ?? "";
}

const FRAME =
  '<div id="page-header" class="page-header"><div class="headerbar"><a id="logo" class="logo" href="./index.php"></a><p>Boat forum</p></div>' +
  '<div class="navbar"><ul class="nav-main"><li><a href="./faq.php">FAQ</a></li><li><a href="./ucp.php">Login</a></li></ul></div></div>';

const PROSILVER = `<!doctype html><html lang="en"><head><title>Pump leaks - Boat forum</title></head><body id="phpbb" class="section-viewtopic">
<div id="wrap" class="wrap">${FRAME}<div id="page-body" class="page-body" role="main"><h2 class="topic-title"><a href="./viewtopic.php?t=5">Pump leaks</a></h2>
${POSTS.map(({ user, date, text }, at) => `<div id="p${at}" class="post has-profile bg${(at % 2) + 1}"><div class="inner"><dl class="postprofile" id="profile${at}"><dt class="no-profile-rank no-avatar"><a href="./u${at}" class="username">${user}</a></dt><dd class="profile-posts"><strong>Posts:</strong> 12</dd></dl><div class="postbody"><div id="post_content${at}"><p class="author"><a class="unread" href="./viewtopic.php?p=${at}" title="Post"><span class="sr-only">Post</span></a><span class="responsive-hide">by <strong><a href="./u${at}" class="username">${user}</a></strong> » </span><time datetime="2024-05-0${at + 1}">${date}</time></p><div class="content">${text}</div></div></div></div></div>`).join("\n")}
</div><div id="page-footer" class="page-footer"><p>Powered by phpBB</p></div></div></body></html>`;

describe("a thread of phpBB", () => {
  const markdown = mainOf(PROSILVER);
  test("begins with its title, though it is no h1", () => expect(markdown).toContain("## "));
  test("names its subject", () => expect(markdown).toContain("Pump leaks"));
  for (const { user, date, text } of POSTS)
    test(`says who wrote the post of ${user}, and when`, () => {
      expect(markdown).toContain(user);
      expect(markdown).toContain(date);
      expect(markdown).toContain(text);
    });
  test("has nothing of the frame", () => {
    expect(markdown).not.toContain("Login");
    expect(markdown).not.toContain("Powered by");
  });
});

test("an h2 is a headline only where the title says the same", () => {
  const html = (title: string) =>
    `<head><title>${title}</title></head><body><div><h2>Boat forum</h2><p>${POSTS.map(({ text }) => text).join(" ")}</p></div></body>`;
  expect(mainOf(html("Pump leaks - Boat forum"))).not.toContain("## Boat forum");
});

describe("what a post quotes", () => {
  const quotes: readonly (readonly [string, (who: string, text: string) => string])[] = [
    [
      "XenForo",
      (who, text) =>
        `<blockquote class="bbCodeBlock bbCodeBlock--expandable bbCodeBlock--quote"><div class="bbCodeBlock-title"><a href="/goto">${who} said:</a></div><div class="bbCodeBlock-content"><div class="bbCodeBlock-expandContent">${text}</div></div></blockquote>`,
    ],
    ["phpBB", (who, text) => `<blockquote><div><cite>${who} wrote:</cite>${text}</div></blockquote>`],
    [
      "Invision",
      (who, text) =>
        `<blockquote class="ipsQuote"><div class="ipsQuote_citation">4 minutes ago, ${who} said:</div><div class="ipsQuote_contents"><p>${text}</p></div></blockquote>`,
    ],
    ["vBulletin", (who, text) => `<div class="quote"><div class="quote_author">${who} said</div><p>${text}</p></div>`],
    [
      "a name with large letters",
      (who, text) => `<div class="Part PartQuote"><div class="PartQuoteName">${who}</div><div>${text}</div></div>`,
    ],
  ];
  const thread = (quote: string, head = '<meta name="generator" content="phpBB">', url?: string) =>
    mainOf(
      `<!doctype html><html><head><title>Pump leaks - Boat forum</title>${head}</head><body id="phpbb"><div class="page-body"><h1>Pump leaks</h1>${POSTS.map(
        ({ user, date, text }, at) =>
          `<article class="post"><h4 class="username">${user}</h4><time>${date}</time><div class="content js-selectToQuote">${at === 3 ? quote : ""}${text}</div></article>`,
      ).join("")}</div></body></html>`,
      url,
    );
  const said = (markdown: string, text: string) => markdown.split(text).length - 1;
  const [first] = POSTS.map(({ text }) => text) as [string];
  for (const [forum, quote] of quotes) {
    test(`is left out where the whole post is on the page (${forum})`, () =>
      expect(said(thread(quote("ann", first)), first)).toBe(1));
    test(`is left out of posts that only their names tell (${forum})`, () =>
      expect(said(thread(quote("ann", first), "", "https://site.example/p/5"), first)).toBe(1));
    test(`stays where it stands nowhere else (${forum})`, () => {
      const other =
        "A gland that drips four times a minute is not a fault, it is how the packing is kept cool and wet.";
      expect(said(thread(quote("ann", other)), other)).toBe(1);
    });
    test(`stays where it is one short sentence (${forum})`, () =>
      expect(said(thread(quote("ann", "What would you look at next?")), "What would you look at next?")).toBe(7));
  }
  const [, phpbb] = quotes[1] as (typeof quotes)[number];
  const parts =
    "oil filter,water hose,shaft seal,bilge pump,fuel tank,deck light,spare rope,tool box,steel bolt,copper pipe";
  const kept: readonly (readonly [string, string, string])[] = [
    ["a list of short lines", `<ul>${parts.replace(/[^,]+,?/g, "<li>$&</li>")}</ul>`, "bilge pump"],
    ["an answer within", `<p>${first}</p><p>No, never.</p><p>${first}</p>`, "No, never."],
    ["a corrected word", first.replace("leaks", "never"), "never"],
    ["a word less", first.replace("without any luck", "without luck"), "without luck"],
  ];
  for (const [name, quoted, own] of kept)
    test(`stays where it has words of its own: ${name}`, () => expect(thread(phpbb("ann", quoted))).toContain(own));
  test("is left out where it was shortened", () => {
    const long = `${first} We do not know yet. It drips for an hour after each trip that is longer than a day.`;
    const short = `${first} ... It drips for an hour after each trip that is longer than a day.`;
    expect(said(thread(`<blockquote>${short}</blockquote><p>${long}</p>`), "It drips")).toBe(1);
  });
  test("is left out in a script without spaces", () => {
    const text =
      "\u6cb9\u7f38\u4e0b\u9762\u7684\u87ba\u6813\u677e\u4e86\u6240\u4ee5\u6c34\u4ece\u90a3\u91cc\u6f0f\u51fa\u6765\u5e76\u4e14\u53d1\u51fa\u5f88\u5927\u7684\u58f0\u97f3";
    expect(said(thread(`<blockquote>${text}</blockquote><p>${text}</p>`), text)).toBe(1);
  });
  test("stays where its code has another sign", () => {
    const code = (sign: string) =>
      `<pre>let level = depth ${sign} draught; pump.start(level); pump.wait(level, 12, a, b, c);</pre>`;
    expect(said(thread(`<blockquote>${code("+")}</blockquote>${code("-")}`), "pump.start")).toBe(2);
  });
  test("leaves the name of who is answered", () =>
    expect(thread((quotes[0] as (typeof quotes)[number])[1]("ann", first))).toContain("ann said:"));
});

describe("posts that were sent as data", () => {
  const replies = [...POSTS.map(({ text }) => text), "Thanks, that did it!"];
  const posts = replies.map((text, at) => ({
    username: `skipper${at}`,
    created_at: `2026-05-0${at + 1}T08:00:00Z`,
    cooked: `<p>${text}</p>${at === 1 ? '<pre><code class="lang-js">pump.stop();</code></pre>' : ""}`,
  }));
  const place = "Everybody talks about boats here, with rules and manners that all new people have to read first.";
  const data = (filler: string) =>
    JSON.stringify({
      site: JSON.stringify({ categories: [{ description: place }], filler }),
      topic_5: JSON.stringify({ title: "Pump leaks", post_stream: { posts } }),
    });
  const page = (json: string) =>
    `<html><head><title>Pump leaks - Boats</title></head><body><div class="hidden" id="data-preloaded" data-preloaded="${json.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></div><div id="main"></div><script src="/discourse.js"></script></body></html>`;
  for (const [size, filler] of [
    ["a short thread", ""],
    ["data of many characters", "x".repeat(100_000)],
  ] as const)
    test(`come out whole, in order, with title, authors and dates: ${size}`, () => {
      const markdown = mainOf(page(data(filler)));
      const expected = ["# Pump leaks", ...replies.flatMap((text, at) => [`skipper${at}`, `2026-05-0${at + 1}`, text])];
      const places = expected.map((text) => markdown.indexOf(text));
      expect(places).not.toContain(-1);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(markdown).toContain("```js\npump.stop();\n```");
      expect(markdown).not.toContain(place);
    });

  test("keep what they quote from elsewhere, and who is quoted", () => {
    const elsewhere =
      "A gland that drips four times a minute is not a fault, it is how the packing is kept cool and wet.";
    const quote = (who: string, text: string) =>
      `<aside class="quote no-group" data-username="${who}"><div class="title"><div class="quote-controls"></div> ${who}:</div><blockquote><p>${text}</p></blockquote></aside>`;
    const quoting = posts.map((post, at) => ({
      ...post,
      cooked: `${at === 2 ? quote("gina", elsewhere) : at === 3 ? quote("hugo", replies[0] ?? "") : ""}${post.cooked}`,
    }));
    const markdown = mainOf(page(JSON.stringify({ title: "Pump leaks", post_stream: { posts: quoting } })));
    expect(markdown).toContain(`gina:\n\n> ${elsewhere}`);
    expect(markdown).toContain("hugo:");
    expect(markdown.split(replies[0] ?? "")).toHaveLength(2);
  });
});
