import { describe, expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import type { PageKind } from "../../src/pages/content/kind-signs.ts";
import { chooseMain } from "../../src/pages/content/main-content.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const BOOKS = ["The tide", "A sail", "Nine knots", "Low water", "The mole", "Old piers", "Two anchors", "Fog"];

/** How often a text is kept on a page of this kind with an entry of the list for each book. */
function times(text: string, entry: (book: string, at: number) => string, kind: PageKind = "listing"): number {
  const row = BOOKS.map((book, at) => `<li><h3><a href="/b/${at}">${book}</a></h3>${entry(book, at)}</li>`).join("");
  const page = parsePage(`<title>Books</title><main><h1>Books of the sea</h1><ul>${row}</ul></main>`);
  const blocks = cutBlocks(page.body);
  const verdicts = blocks.map(() => 0.9);
  const kept = chooseMain(page, blocks, verdicts, { kind: () => kind });
  return [...kept].filter((block) => block.text === text).length;
}

describe("what each entry of a list says", () => {
  test("is left out where it is the label of a link", () =>
    expect(times("Quick view", (_, at) => `<div><a href="/q/${at}">Quick view</a></div>`)).toBe(0));
  test("also where some entries have another one", () => {
    const entry = (_: string, at: number) => `<div><a href="/q/${at}">${at === 3 ? "Sold out" : "Choose"}</a></div>`;
    expect(times("Choose", entry)).toBe(0);
    expect(times("Sold out", entry)).toBe(1);
  });
  test("is left out beside a row of controls", () => {
    const stars = `<div>${"<a href='#'>a number of stars</a> ".repeat(3)}</div>`;
    expect(times("Rate this book", () => `<div><div>Rate this book</div>${stars}</div>`)).toBe(0);
  });
  test.each([
    ["said of each", "In stock", "<div>In stock</div>"],
    ["a link to one other page, as to an author", "Jane Doe", '<div><a href="/by/jane">Jane Doe</a></div>'],
    ["a part of a link to the entry", "Sold out", '<a href="/b"><div>Sold out</div><div>Paperback</div></a>'],
    ["a button that cannot be pressed", "Sold out", '<a role="button" aria-disabled="true">Sold out</a>'],
    ["in a cell", "Passed", '<table><tr><td><div><a href="/x">Passed</a></div></td><td>12</td></tr></table>'],
    ["a figure", "12 May", '<div><a href="/d">12 May</a></div>'],
    ["the name of a value", "Pages:", "<div>Pages:</div><div>12</div>"],
    ["a term", "Pages", "<dl><dt>Pages</dt><dd>12</dd></dl>"],
    ["a cell", "Paper", "<table><tr><td>Paper</td><td>12</td></tr></table>"],
    ["a price", "£12.00", "<div>£12.00</div>"],
  ])("stays where it is %s", (_, text, html) =>
    expect(times(text, (book) => html.replace(/href="\/(\w)"/, `href="/$1/${book}"`))).toBe(BOOKS.length),
  );
  test("stays where some entries lack it", () => {
    expect(times("Back-order", (_, at) => `<div>${at < 6 ? "Back-order" : "In stock"}</div>`)).toBe(6);
  });
  test("stays on pages of other kinds", () => {
    const entry = (_: string, at: number) => `<div><a href="/q/${at}">Quick view</a></div>`;
    expect(times("Quick view", entry, "documentation")).toBe(BOOKS.length);
  });
});

test("a button that repeats the title beside it is left out, and a question that opens its answer stays", () => {
  const title = "How to splice a rope";
  const entry = (_: string, at: number) =>
    at === 0 ? `<h4>${title}</h4><button>Save this event: ${title}</button>` : "";
  expect(times(`Save this event: ${title}`, entry)).toBe(0);
  expect(times(title, entry)).toBe(1);
  const priced = `Save for $12: ${title}`;
  expect(times(priced, (_, at) => (at === 0 ? `<h4>${title}</h4><button>${priced}</button>` : ""))).toBe(1);
  const question = "Which rope is the best one to splice?";
  expect(times(question, (_, at) => (at === 0 ? `<button>${question}</button><p>Three-strand.</p>` : ""))).toBe(1);
});
