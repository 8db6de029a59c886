// Finds the sources that a text names by the numbers of results, and what their pages say about it.

import type { Citation } from "../../../chat/server-tools.ts";
import type { GivenPage } from "./deps.ts";

/** A page that can be cited, with its sealed name. */
export interface CitedPage extends GivenPage {
  sealed(): string;
}

/** Characters of a quote at most, as in the messages format. */
const QUOTE_CHARS_MAX = 150;
const CLAIM_CHARS_MAX = 600;
/** Sentences of a page that are compared with a claim. */
const SENTENCES_MAX = 400;
/** A marker has at most this many characters; longer text in brackets is none. */
const MARKER_CHARS_MAX = 24;

/** Reads one text block as it is written. */
export class CitationReader {
  readonly #pages: ReadonlyMap<number, CitedPage>;
  readonly #before: number;
  #text = "";
  /** Up to where markers were looked for. */
  #read = 0;

  /** `before`: the characters of the answer's texts before the block. */
  constructor(pages: ReadonlyMap<number, CitedPage>, before: number) {
    this.#pages = pages;
    this.#before = before;
  }

  get length(): number {
    return this.#text.length;
  }

  /** Takes more of the text, and returns the citations whose markers are complete now. */
  add(text: string): Citation[] {
    this.#text += text;
    const found: Citation[] = [];
    for (;;) {
      const opening = this.#text.indexOf("[", this.#read);
      if (opening === -1) {
        this.#read = this.#text.length;
        return found;
      }
      const close = this.#text.indexOf("]", opening);
      if (close === -1) {
        // The marker may go on in the next delta.
        this.#read = this.#text.length - opening > MARKER_CHARS_MAX ? opening + 1 : opening;
        if (this.#read === opening) return found;
        continue;
      }
      const numbers = numbersIn(this.#text.slice(opening + 1, close));
      this.#read = numbers === undefined ? opening + 1 : close + 1;
      for (const n of numbers ?? []) {
        const page = this.#pages.get(n);
        if (page !== undefined) found.push(this.#citation(page, opening, close + 1));
      }
    }
  }

  #citation({ url, title, text, sealed }: CitedPage, markerAt: number, end: number): Citation {
    const { start, claim } = claimBefore(this.#text, markerAt);
    return { url, title, sealed, start, end, before: this.#before, claim, quote: quoteFor(claim, text) };
  }
}

/** The numbers of a marker such as `[1]` or `[1, 2]`; undefined if it is none. */
function numbersIn(inner: string): number[] | undefined {
  if (inner.length > MARKER_CHARS_MAX || !/^\s*\d{1,4}(?:\s*,\s*\d{1,4})*\s*$/.test(inner)) return undefined;
  return [...new Set(inner.split(",").map(Number))];
}

/** The sentence before a marker, without the markers before it. */
function claimBefore(text: string, markerAt: number): { start: number; claim: string } {
  const floor = Math.max(0, markerAt - CLAIM_CHARS_MAX);
  const before = text.slice(floor, markerAt);
  // Markers of the same sentence, and the end of the sentence itself, may stand before it.
  const body = withoutMarkers(withoutMarkers(before).replace(/[.!?]$/, ""));
  const ends = [...body.matchAll(/[.!?\]](?=\s)\s+|\n+/g)];
  const last = ends.at(-1);
  const from = last === undefined ? 0 : last.index + last[0].length;
  return {
    start: floor + from,
    claim: body
      .slice(from)
      .replace(/\[[\d\s,]{1,24}\]/g, "")
      .trim(),
  };
}

/** A text without the markers at its end, read from there: one expression for all of them would try each space anew. */
function withoutMarkers(text: string): string {
  for (let rest = text.trimEnd(); ; ) {
    const marker = /\[[\d\s,]{1,24}\]$/.exec(rest.slice(-MARKER_CHARS_MAX - 2));
    if (marker === null) return rest;
    rest = rest.slice(0, -marker[0].length).trimEnd();
  }
}

/** The sentence of the page that has most words of the claim, word for word. */
export function quoteFor(claim: string, page: string): string {
  const wanted = new Set(wordsOf(claim));
  let best = "";
  let most = -1;
  let count = 0;
  for (const [sentence] of page.matchAll(/[^\n.!?]+[.!?]*/g)) {
    if (++count > SENTENCES_MAX) break;
    const quote = sentence.trim().slice(0, QUOTE_CHARS_MAX);
    if (quote === "") continue;
    // Longer words say more.
    const shared = new Set(wordsOf(quote).filter((word) => wanted.has(word)));
    const score = [...shared].reduce((sum, { length }) => sum + length, 0);
    if (score > most) [best, most] = [quote, score];
  }
  return best;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
}
