// The written file is valid for readers of the format, whatever the pages contain.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import LlmsTextParser from "llms-txt-parser";
import TurndownService from "turndown";
import { writeFiles } from "../../src/web/llmstxt/files.ts";
import type { PageNote } from "../../src/web/llmstxt/page-note.ts";
import { firstSentence, paragraphsOf, plainLine } from "../../src/web/llmstxt/plain.ts";
import { anyText } from "../support/any-text.ts";
import { parseLlmstxt } from "../support/llmstxt-parser.ts";
import "../support/seed.ts";

const HOME = "https://acme.example/";

function note(rank: number, path: string, more: Partial<PageNote> = {}): PageNote {
  return {
    rank,
    keys: [`acme.example${path}`],
    url: `https://acme.example${path}`,
    title: `Page ${rank}`,
    heading: `Heading ${rank}`,
    description: `What page ${rank} says.`,
    sentences: [`It begins with ${rank}.`],
    opening: `It begins with ${rank}. And goes on.`,
    siteName: "",
    language: "en",
    isUnlisted: false,
    ...more,
  };
}

const write = (notes: readonly PageNote[], signposts = {}) =>
  writeFiles(notes, { home: HOME, signposts, isFull: true });

/** Texts by which page authors might try to break out of their line. */
const HOSTILE = [
  "a\n## Injected\n\n- [evil](https://evil.example/): x",
  "] (https://evil.example/)",
  "](https://evil.example/) [",
  "[x](https://evil.example/)",
  "![x](https://evil.example/a.png)",
  "<https://evil.example/>",
  "<script>alert(1)</script>",
  "# Heading",
  "## Optional",
  "> quote",
  "- item",
  "1. item",
  "```\ncode",
  "`code` *bold* _em_ ~~gone~~ **x",
  "\u202Eesrever\u202C \u2066x\u2069 \u200Bzero\u200B \uFEFF",
  "line\u2028separator\u2029paragraph\u0085next",
  "\\](https://evil.example/)",
  "&#93;(https://evil.example/) &lt;b&gt;",
  "[a]: https://evil.example/",
  "\ud800 lone \udfff",
  "\u0000\u001b[31mred",
  "=== --- ***",
  "   ",
  "",
  "x".repeat(5000),
  "漢字".repeat(300),
];

describe("whatever pages say", () => {
  const texts = fc.oneof(
    fc.constantFrom(...HOSTILE),
    fc
      .array(fc.constantFrom(...HOSTILE, "word", " ", "\n", "[", "]", "(", ")", ":", "#", "\\", "`"), { maxLength: 6 })
      .map((all) => all.join("")),
    anyText({ maxLength: 60 }),
  );
  // The pages in the form in which they are stored.
  const line = texts.map((text) => plainLine(text, 300));
  const pages = fc.array(
    fc.record({
      title: line,
      heading: line,
      description: line,
      sentences: fc.array(line, { maxLength: 3 }),
      opening: line,
      siteName: line,
      path: fc.constantFrom("/a", "/b/c", "/b/d(e)", "/login", "/q?x=[1]&copy;=2", "/%F0%9F%98%80/x", "/d'e\"f"),
      label: line,
      group: line,
      markdown: texts,
    }),
    { minLength: 1, maxLength: 8 },
  );

  test("the file contains each of its pages once, and nothing else", () => {
    fc.assert(
      fc.property(pages, (all) => {
        const notes = all.map(({ path, label: _, group: __, ...page }, rank) => {
          const url = new URL(rank === 0 ? "/" : `${path}#${rank}`, HOME).href;
          return note(rank, path, { ...page, url, keys: [`key ${rank}`] });
        });
        const signposts = Object.fromEntries(
          all.map(({ label, group }, rank) => [`key ${rank}`, { label, group, place: "header" as const }]),
        );
        const { llmstxt, llmsfulltxt = "" } = write(notes, signposts);
        const parsed = parseLlmstxt(llmstxt);
        const links = parsed.sections.flatMap((section) => section.links);
        const urls = links.map(({ url }) => new URL(url).hash).sort();
        expect(urls).toEqual(notes.map(({ url }) => new URL(url).hash).sort());
        expect(links.filter(({ url }) => new URL(url).host !== "acme.example")).toEqual([]);
        expect(readByPackage(llmstxt)).toEqual({ title: parsed.title.trim(), links });
        const titles = parsed.sections.map(({ title }) => title);
        expect(new Set(titles).size).toBe(titles.length);
        // In no line does anything look like another link to readers that do not know escapes.
        expect([...llmstxt.matchAll(/\[[^\]\n]*\]\(([^)\n]*)\)/g)].length).toBe(notes.length);
        expect(llmstxt).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b\ufeff]/);
        expect(llmstxt.isWellFormed()).toBe(true);
        expect(headingsOf(llmsfulltxt).filter((level) => level <= 2)).toHaveLength(1 + notes.length);
      }),
    );
  });
});

/** Reads the same file with a public package. */
function readByPackage(text: string) {
  const { title, links, error } = new LlmsTextParser().parse(text);
  if (error !== undefined) throw new Error(error);
  return { title, links: links.map((link) => ({ title: link.title, url: link.url, note: link.description })) };
}

/** The levels of the headings outside of code. */
function headingsOf(markdown: string): number[] {
  let fence: string | undefined;
  return markdown.split("\n").flatMap((text) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(text)?.[1];
    if (fence === undefined && mark !== undefined) fence = mark;
    else if (mark?.startsWith(fence ?? "") && text.trim() === mark) fence = undefined;
    const level = fence === undefined ? /^ {0,3}(#{1,6})(?:\s|$)/.exec(text)?.[1]?.length : undefined;
    return level === undefined ? [] : [level];
  });
}

test("a page's own headings stand below its title, and its code is left alone", () => {
  const markdown = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced" }).turndown(
    "<h1>Start</h1><p>One</p><h2>Two</h2><pre><code># no heading\n```\n## none</code></pre><h6>Six</h6>",
  );
  const { llmsfulltxt = "" } = write([note(0, "/", { title: "Start", heading: "Start", markdown })]);
  expect(llmsfulltxt).toContain("## Start\n\nSource: <https://acme.example/>\n\nOne\n\n### Two\n");
  expect(llmsfulltxt).toContain("# no heading\n```\n## none\n");
  expect(llmsfulltxt).toContain("###### Six");
});

test("a text that is too long is left out or shortened, with a note", () => {
  const long = "word ".repeat(300_000);
  const notes = Array.from({ length: 4 }, (_, rank) => note(rank, `/${rank}`, { markdown: long, isCut: rank === 0 }));
  const { llmsfulltxt = "" } = write(notes);
  expect(llmsfulltxt.length).toBeLessThan(4.2 * 1024 * 1024);
  expect(llmsfulltxt.match(/\*The text of this page is left out/g)).toHaveLength(2);
  expect(llmsfulltxt.match(/\*The text of this page is cut here/g)).toHaveLength(1);
});

describe("names", () => {
  test("of the site: its own statement, the part that titles share, or its host name", () => {
    const title = (notes: PageNote[]) => parseLlmstxt(write(notes).llmstxt).title;
    expect(title([note(0, "/", { siteName: "ACME Inc", title: "x" })])).toBe("ACME Inc");
    const shared = ["Home – Widgets Co", "Prices – Widgets Co", "Docs – Widgets Co"];
    expect(title(shared.map((text, rank) => note(rank, `/${rank}`, { title: text })))).toBe("Widgets Co");
    expect(title([note(0, "/", { title: "We make things | Acme" })])).toBe("Acme");
    expect(title([note(0, "/", { title: "", heading: "" })])).toBe("acme.example");
  });

  test("of pages: without the site's name, unique, and from the address if there is no other", () => {
    const notes = [
      note(0, "/", { title: "Acme", siteName: "Acme" }),
      note(1, "/a", { title: "Prices | Acme" }),
      note(2, "/b", { title: "Acme", heading: "Support" }),
      note(3, "/c/getting-started.html", { title: "", heading: "" }),
      note(4, "/d", { title: "Same", heading: "One" }),
      note(5, "/e", { title: "Same", heading: "Two" }),
    ];
    const { sections } = parseLlmstxt(write(notes).llmstxt);
    expect(sections.flatMap(({ links }) => links.map(({ title }) => title)).sort()).toEqual(
      ["Acme", "Prices", "Support", "Getting started", "One", "Two"].sort(),
    );
  });

  test("a part that titles share is the site's name only if the root page has it too", () => {
    const titles = ["The Handbook", "Introduction - Cats", "Introduction - Dogs", "Introduction - Fish"];
    const notes = titles.map((title, rank) => note(rank, `/${rank}`, { title }));
    expect(parseLlmstxt(write(notes).llmstxt).title).toBe("The Handbook");
    const doubled = note(0, "/", { title: "Acme - Acme", siteName: "Acme" });
    expect(parseLlmstxt(write([doubled]).llmstxt).sections[0]?.links[0]?.title).toBe("Acme");
  });

  test("a notice at the beginning of several pages is not used as a description", () => {
    const notice = "Press an arrow to go on.";
    const notes = [0, 1, 2].map((rank) =>
      note(rank, `/${rank}`, { description: "", sentences: [notice, ...(rank === 1 ? ["One is about cats."] : [])] }),
    );
    const { summary, info, sections } = parseLlmstxt(write(notes).llmstxt);
    expect([summary, info]).toEqual(["", ""]);
    expect(sections[0]?.links.map((link) => link.note)).toEqual(["", "One is about cats.", ""]);
  });

  test("a description that several pages share is not used", () => {
    const notes = [
      note(0, "/", { description: "All about widgets." }),
      note(1, "/a", { description: "All about widgets." }),
      note(2, "/b", { description: "Only b." }),
    ];
    const { summary, sections } = parseLlmstxt(write(notes).llmstxt);
    expect(summary).toBe("All about widgets.");
    expect(sections[0]?.links.map((link) => link.note)).toEqual(["All about widgets.", "It begins with 1.", "Only b."]);
  });
});

test("sections are the menus of the root page, then folders, then what is optional", () => {
  const notes = ["/", "/p/1", "/p/2", "/docs", "/docs/a", "/docs/b", "/alone", "/terms", "/hidden"].map((path, rank) =>
    note(rank, path, { isUnlisted: path === "/hidden" }),
  );
  const menu = { label: "", group: "Things", place: "header" as const };
  const signposts = {
    "acme.example/p/1": menu,
    "acme.example/p/2": menu,
    "acme.example/docs": { label: "Handbook", group: "", place: "header" as const },
  };
  const { sections } = parseLlmstxt(write(notes, signposts).llmstxt);
  const found = sections.map(({ title, links }) => [title, links.map(({ url }) => new URL(url).pathname)]);
  expect(found).toEqual([
    ["Main pages", ["/", "/alone"]],
    ["Things", ["/p/1", "/p/2"]],
    ["Handbook", ["/docs", "/docs/a", "/docs/b"]],
    ["Optional", ["/terms", "/hidden"]],
  ]);
});

test("Markdown becomes plain text", () => {
  const paragraphs = paragraphsOf(`# Title

![picture](https://a.example/p.png)

| a | b |

See [the *guide*](https://a.example/g_(x) "Guide") and [[attributes]](https://a.example/#r "r") with \`code\`.[^1]

- an item

\`\`\`
not this

nor this
\`\`\`

Two\\_words, 3 \\* 4 and x<sup>2</sup> &lt;b&gt;.`);
  expect(paragraphs).toEqual(["See the guide and [attributes] with code.", "Two_words, 3 * 4 and x² <b>."]);
  expect(firstSentence("Short. Also short. And so on for ever and ever.", "xx-nonsense")).toBe(
    "Short. Also short. And so on for ever and ever.",
  );
  expect(firstSentence("A first sentence that is long enough. Not this.", "en")).toBe(
    "A first sentence that is long enough.",
  );
  expect(firstSentence("これは十分に長い最初の文であり、ここで終わります、本当です。次の文。", "ja")).toBe(
    "これは十分に長い最初の文であり、ここで終わります、本当です。",
  );
});
