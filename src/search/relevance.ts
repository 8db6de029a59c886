// Whether hits are related to the query: some engines serve a suspicious client unrelated hits, which are worse than none.

import { isSmallWord } from "./language.ts";

/** Fewer hits are no evidence. */
const JUDGED_MIN = 3;
/** Later hits are less relevant anyway. */
const JUDGED_MAX = 30;
/**
 * Word endings vary: only this much of a word's beginning is compared; short words lose one letter.
 */
const STEM_CHARS = 4;
const STEM_CHARS_MIN = 3;
const TERMS_MAX = 20;

/** The examined text of a hit. */
interface Words {
  readonly title: string;
  readonly snippet: string;
  readonly url: string;
}

/** True if most of the first hits contain no term of the query at all. */
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
 * The search terms: the beginnings of the query's words, each after a space; scripts without spaces in pairs of characters.
 * Operators and excluded words do not count, and stop words only if there are no others.
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

/** Without case and accents. */
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
