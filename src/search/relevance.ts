// Tells whether hits seem unrelated to the query. Some engines serve such hits to a client that they suspect, which are worse than
// none. But hits for an abbreviation look the same, so this alone is no reason to drop them.

import { isSmallWord } from "./language.ts";

/** With fewer hits, nothing is judged. */
export const JUDGED_MIN = 3;
/** Later hits are not judged, as they are less relevant anyway. */
const JUDGED_MAX = 30;
/** How much of a word's beginning is compared, since endings vary. Short words lose one letter. */
const STEM_CHARS = 4;
const STEM_CHARS_MIN = 3;
const TERMS_MAX = 20;

/** The texts of a hit that are examined. */
interface Words {
  readonly title: string;
  readonly snippet: string;
  readonly url: string;
}

/** Whether most of the first hits contain none of the query's terms. */
export function isUnrelated(query: string, all: readonly Words[]): boolean {
  const hits = all.slice(0, JUDGED_MAX);
  if (hits.length < JUDGED_MIN) return false;
  const terms = termsOf(query);
  if (terms.length === 0) return false;
  const related = hits.filter((hit) => {
    const text = ` ${wordsOf(`${hit.title} ${hit.snippet} ${decoded(hit.url)}`).join(" ")}`;
    return terms.some((term) => text.includes(term));
  });
  return related.length * 2 < hits.length;
}

/**
 * The terms of a query: the beginnings of its words, each after a space, or pairs of characters in scripts without spaces.
 * Operators and excluded words are left out, and so are stop words, unless there are no others.
 */
function termsOf(query: string): string[] {
  const words = folded(query)
    .split(/\s+/)
    .filter((word) => !/^-\w/.test(word))
    .flatMap((word) => wordsOf(word.replace(/^[a-z]+:(?=\S)/, "")));
  const telling = words.filter((word) => !isSmallWord(word) && (word.length > 1 || UNSPACED.test(word)));
  return (telling.length > 0 ? telling : words).flatMap(beginnings).slice(0, TERMS_MAX);
}

function wordsOf(text: string): string[] {
  return folded(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}]/u;

function beginnings(word: string): string[] {
  if (!UNSPACED.test(word))
    return [` ${word.slice(0, Math.min(STEM_CHARS, Math.max(STEM_CHARS_MIN, word.length - 1)))}`];
  const characters = [...word];
  if (characters.length < 2) return [word];
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** The text without case and accents. */
function folded(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}
