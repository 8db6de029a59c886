// Whole pages with the expected Markdown. A page consists of two files in test/pages/corpus: KIND-NAME.html, in which
// `data-main` marks the main content, and KIND-NAME.md.
//   bun test/support/page-corpus.ts --update [NAME…]
// writes the current output. The lower limits in test/pages/corpus.test.ts decide whether it is acceptable.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { extractPage } from "../../src/pages/convert/extract.ts";
import { closest, elementsOf, type PageElement, PageText, walk } from "../../src/pages/dom/node.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const FOLDER = join(import.meta.dir, "../pages/corpus");

/** One page of the corpus. */
export interface CorpusPage {
  readonly name: string;
  readonly kind: string;
  readonly html: string;
  /** Undefined if the file does not exist yet. */
  readonly expected: string | undefined;
}

/** All pages, by name. */
export function corpusPages(): CorpusPage[] {
  const files = new Set(readdirSync(FOLDER));
  return [...files]
    .filter((file) => file.endsWith(".html"))
    .sort()
    .map((file) => {
      const name = file.slice(0, -".html".length);
      const read = (path: string) => readFileSync(join(FOLDER, path), "utf8");
      const expected = files.has(`${name}.md`) ? read(`${name}.md`) : undefined;
      return { name, kind: name.replace(/-.*/, ""), html: read(file), expected };
    });
}

/** The Markdown of the page, converted with the address that the page gives for itself. */
export function convertPage({ html }: CorpusPage): string {
  const url = /rel="canonical" href="([^"]+)"/.exec(html)?.[1] ?? "https://site.example/page";
  const options = { url, onlyMainContent: true, markdown: true, html: false, links: false };
  return `${extractPage(html, options).markdown}\n`;
}

/** The F1 score over words of the output, compared with the marked elements. */
export function scorePage({ html }: CorpusPage, markdown: string): number {
  const wanted = markedWords(html);
  const found = shownWords(markdown);
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of found) {
    const count = left.get(word) ?? 0;
    if (count > 0) shared++;
    left.set(word, count - 1);
  }
  return (2 * shared) / (found.length + wanted.length);
}

function markedWords(html: string): string[] {
  const { body } = parsePage(html);
  const isUnseen = ({ attributes, className }: PageElement) =>
    attributes["data-not"] !== undefined || /visually-hidden|headerlink|footnote-back/.test(className);
  for (const element of elementsOf(body)) if (isUnseen(element)) element.remove();
  let text = "";
  for (const node of walk(body)) {
    const isMarked = (element: PageElement) => element.attributes["data-main"] !== undefined;
    if (node instanceof PageText && closest(node, isMarked) !== undefined) text += ` ${node.data}`;
  }
  return wordsOf(text);
}

/** The words that a reader sees: without addresses, pictures, languages of listings and labels of notes. */
function shownWords(markdown: string): string[] {
  return wordsOf(
    markdown
      .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
      .replace(/\]\([^)]*\)/g, "]")
      .replace(/^```\w*$/gm, "")
      .replace(/^\[\^[^\]]+\]:/gm, "")
      .replace(/<\/?su[bp]>/g, " "),
  );
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

if (import.meta.main) {
  const names = process.argv.slice(2).filter((word) => !word.startsWith("--"));
  for (const page of corpusPages()) {
    const markdown = convertPage(page);
    const isMeant = names.length === 0 || names.includes(page.name);
    if (isMeant && process.argv.includes("--update")) writeFileSync(join(FOLDER, `${page.name}.md`), markdown);
    process.stdout.write(`${page.name.padEnd(28)} ${scorePage(page, markdown).toFixed(3)}\n`);
  }
}
