// Whether what an engine gave has anything to do with what it was asked: some engines answer a suspicious client with
// hits for something else, which is worse than no answer.

import { isSmallWord } from "./language.ts";

/** Fewer hits tell nothing. */
const JUDGED_MIN = 3;
/** What comes after these is farther from the query anyway. */
const JUDGED_MAX = 30;
/**
 * Endings differ between forms of a word: only this much of its beginning is compared, except for short words, which
 * lose a letter.
 */
const STEM_CHARS = 4;
const STEM_CHARS_MIN = 3;
const TERMS_MAX = 20;

/** What is examined of a hit. */
interface Words {
  readonly title: string;
  readonly snippet: string;
  readonly url: string;
}

/** True when most of the first hits hold no term of the query at all. */
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
 * What to look for: the beginnings of the words asked for, each after a space; scripts without spaces in pairs of characters.
 * Operators and what is excluded are no words, and small words count only where there are no others.
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
