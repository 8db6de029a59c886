// A list of words and phrases, all found in one pass (Aho and Corasick). Upper and lower case are alike; nothing else is.

import { type Found, HELD_CHARS_MAX, type TextCheck } from "./check.ts";

/** Each code unit in its lower case, by way of the upper case, so that both forms of the Greek sigma are one. */
const FOLDED = new Uint16Array(65_536);

function fold(code: number): number {
  let folded = FOLDED[code]!;
  if (folded === 0 && code !== 0) {
    const lower = String.fromCharCode(code).toUpperCase().toLowerCase();
    folded = lower.length === 1 ? lower.charCodeAt(0) : code;
    FOLDED[code] = folded;
  }
  return folded;
}

// Scripts that write words without spaces between them have no edges of words.
const INNER = /[\p{L}\p{M}\p{N}_]/u;
const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function isInner(char: string | undefined): boolean {
  return char !== undefined && INNER.test(char) && !SPACELESS.test(char);
}

/** Whether a word may begin or end between two characters. */
function isEdge(before: string | undefined, after: string | undefined): boolean {
  return !(isInner(before) && isInner(after));
}

/** The tree of all words: a table of the ways from one node to the next. */
class WordTree {
  /** The length of the word that ends at a node; 0: none. */
  readonly ends: number[] = [0];
  /** The length of the text that leads to a node. */
  readonly depths: number[] = [0];
  /** The node of the longest other text with which this one's text ends. */
  readonly backs: number[] = [0];
  readonly #parents: number[] = [0];
  readonly #codes: number[] = [0];
  /** Node × 65,536 + code unit → node. */
  readonly #ways = new Map<number, number>();

  constructor(words: readonly string[]) {
    for (const word of words) this.#add(word);
    this.#link();
  }

  /** The node after a code unit; undefined where no word goes on so. */
  way(node: number, code: number): number | undefined {
    return this.#ways.get(node * 65_536 + code);
  }

  /** The node of the longest text that ends with this code unit. */
  step(from: number, code: number): number {
    let node = from;
    for (;;) {
      const next = this.way(node, code);
      if (next !== undefined) return next;
      if (node === 0) return 0;
      node = this.backs[node]!;
    }
  }

  #add(word: string): void {
    let node = 0;
    for (let at = 0; at < word.length; at++) {
      const code = fold(word.charCodeAt(at));
      let next = this.way(node, code);
      if (next === undefined) {
        next = this.depths.length;
        this.#ways.set(node * 65_536 + code, next);
        this.depths.push(at + 1);
        this.ends.push(0);
        this.backs.push(0);
        this.#parents.push(node);
        this.#codes.push(code);
      }
      node = next;
    }
    this.ends[node] = word.length;
  }

  #link(): void {
    const byDepth = this.depths.map((_, node) => node).sort((a, b) => this.depths[a]! - this.depths[b]!);
    for (const node of byDepth) {
      const parent = this.#parents[node]!;
      if (this.depths[node]! > 1) this.backs[node] = this.step(this.backs[parent]!, this.#codes[node]!);
    }
  }
}

/** Creates the check of a list. An empty word is left out. */
export function wordsCheck(label: string, words: readonly string[]): TextCheck {
  const tree = new WordTree(words.filter((word) => word !== ""));
  const most = words.reduce((longest, { length }) => Math.max(longest, length), 0) + 1;
  const longest = most > HELD_CHARS_MAX ? Number.POSITIVE_INFINITY : most;
  return {
    longest,
    next: (text, from) => firstWord(tree, text, from, label),
    open: (text, from) => openAt(tree, text, { from, longest }),
  };
}

/** The first word; of those that begin at the same place, the longest. */
function firstWord(tree: WordTree, text: string, from: number, label: string): Found | undefined {
  let node = 0;
  let best: Found | undefined;
  for (let at = from; at < text.length; at++) {
    node = tree.step(node, fold(text.charCodeAt(at)));
    // No word that is under way began early enough to count.
    if (best !== undefined && at + 1 - tree.depths[node]! > best.start) return best;
    for (let end = node; end !== 0; end = tree.backs[end]!) {
      const length = tree.ends[end]!;
      const start = at + 1 - length;
      if (length === 0 || (best !== undefined && start > best.start)) continue;
      if (isEdge(text[start - 1], text[start]) && isEdge(text[at], text[at + 1])) best = { start, end: at + 1, label };
    }
  }
  return best;
}

/** Where the longest word begins that may go on, or end, behind the text. */
function openAt(tree: WordTree, text: string, { from, longest }: { from: number; longest: number }): number {
  let node = 0;
  for (let at = Math.max(from, text.length - longest); at < text.length; at++) {
    node = tree.step(node, fold(text.charCodeAt(at)));
  }
  for (; node !== 0; node = tree.backs[node]!) {
    const start = text.length - tree.depths[node]!;
    if (isEdge(text[start - 1], text[start])) return start;
  }
  return text.length;
}
