// Reads the words of class names and texts as signs: numbers that stand for a word and the place where it stands. The words
// are hashed while they are read, so that a page's words need no texts of their own.

import type { PageElement } from "../dom/node.ts";
import type { Neighbourhood } from "./context.ts";

/**
 * The numbers of a block's signs in lists, which blocks share, such as that of the containers around them. A letter says where the
 * word of a sign stands: in the names of the block's own element (a), of the two elements around it (b) or further up (c); in the
 * text (t); in the heading above (h). `T` and `S` are a short text and the first two words of a longer one, `H` is a heading.
 */
export interface BlockSigns {
  readonly names: readonly (readonly number[])[];
  readonly texts: readonly (readonly number[])[];
}

/** Gives the number of a sign, which is told by its hash; -1 for one that does not count. */
export type SignIndex = (sign: number) => number;

const NAME_CHARS_MAX = 300;
const NAME_WORDS_MAX = 16;
/** A list has no more signs than this. */
const LIST_MAX = 200;
const TEXT_CHARS_MAX = 100;
const TEXT_WORDS_MAX = 10;
/** A text up to this length is a sign as a whole. */
const SHORT_CHARS_MAX = 40;
const START_WORDS = 2;
const HEADING_WORDS_MAX = 8;
const NOTHING: readonly number[] = [];
const HEADING = /^h[1-6]$/;

/** Reads the signs of all blocks. */
export function readWordSigns(neighbourhood: Neighbourhood, index: SignIndex): readonly BlockSigns[] {
  const namesOf = nameReader(neighbourhood, index);
  const words = new Int32Array(SHORT_CHARS_MAX);
  const read = (place: number, count: number, whole: number) => {
    const numbers: number[] = [];
    add(numbers, index(whole));
    for (let i = 0; i < count; i++) add(numbers, index(signOf(place, words[i] as number)));
    return numbers;
  };
  let heading = NOTHING;
  return neighbourhood.blocks.map(({ element, text }, at) => {
    const names = namesOf(at);
    const isShort = text.length <= SHORT_CHARS_MAX;
    const count = hashWords(text, words, isShort ? SHORT_CHARS_MAX : TEXT_WORDS_MAX);
    const whole = isShort ? wholeOf(SHORT_TEXT, words, count) : wholeOf(START, words, Math.min(START_WORDS, count));
    const own = read(IN_TEXT, Math.min(TEXT_WORDS_MAX, count), whole);
    if (!HEADING.test(element.tag)) return { names, texts: [own, heading] };
    const inHeading = Math.min(HEADING_WORDS_MAX, count);
    heading = read(IN_HEADING, inHeading, wholeOf(WHOLE_HEADING, words, inHeading));
    return { names, texts: [own] };
  });
}

/** The letters of the places. */
const [OWN, NEAR, FAR, IN_TEXT, IN_HEADING, SHORT_TEXT, START, WHOLE_HEADING] = Array.from("abcthTSH", (letter) =>
  letter.charCodeAt(0),
) as [number, number, number, number, number, number, number, number];

/** The hash of a sign: the letter of its place, and its words. Of places with single words, only the first word counts. */
export function hashSign(letter: string, text: string): number {
  const words = new Int32Array(text.length);
  const count = hashWords(text, words, words.length);
  const place = letter.charCodeAt(0);
  const isWhole = place === SHORT_TEXT || place === START || place === WHOLE_HEADING;
  return isWhole ? wholeOf(place, words, count) : signOf(place, words[0] ?? 0);
}

/** The start and the factor of a hash (FNV-1a), and the factors that mix in a place. */
const HASH_START = 0x811c9dc5;
const HASH_FACTOR = 0x01000193;
const PLACE_FACTOR = 0x9e3779b1;
const MIX_FACTOR = 0x85ebca6b;

function signOf(place: number, hash: number): number {
  const mixed = Math.imul(hash ^ Math.imul(place, PLACE_FACTOR), MIX_FACTOR);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** The sign of several words together. */
function wholeOf(place: number, words: Int32Array, count: number): number {
  let hash = HASH_START;
  for (let i = 0; i < count; i++) hash = Math.imul(hash ^ (words[i] as number), HASH_FACTOR) + i;
  return signOf(place, hash);
}

/** Hashes the first words of a text, without regard to capitals. Returns their number. */
function hashWords(text: string, into: Int32Array, most: number): number {
  const end = Math.min(text.length, TEXT_CHARS_MAX);
  let count = 0;
  let hash = HASH_START;
  let isInWord = false;
  for (let i = 0; i < end; i++) {
    const code = text.charCodeAt(i);
    const small = code | SMALL;
    const letter = code >= ASCII_END ? otherLetter(code) : small >= SMALL_A && small <= SMALL_Z ? small : 0;
    if (letter > 0) {
      hash = Math.imul(hash ^ letter, HASH_FACTOR);
      isInWord = true;
    } else if (isInWord) {
      into[count++] = hash;
      if (count === most) return count;
      hash = HASH_START;
      isInWord = false;
    }
  }
  if (isInWord) into[count++] = hash;
  return count;
}

const ASCII_END = 0x80;
/** The bit by which a small letter differs from a large one, and the codes of the first and the last one. */
const SMALL = 0x20;
const SMALL_A = 0x61;
const SMALL_Z = 0x7a;
const NO_LETTER = 1;
const LETTER = /\p{L}/u;

/** The small letter of each code beyond ASCII that was met, or `NO_LETTER`; zero for one that was not met yet. */
const otherLetters = new Uint16Array(0x10000);

/** The small letter of a code beyond ASCII; zero for what is no letter. */
function otherLetter(code: number): number {
  let letter = otherLetters[code] as number;
  if (letter === 0) {
    const char = String.fromCharCode(code);
    letter = LETTER.test(char) ? char.toLowerCase().charCodeAt(0) : NO_LETTER;
    otherLetters[code] = letter;
  }
  return letter === NO_LETTER ? 0 : letter;
}

/** Adds a number that counts and is not in the list. */
function add(numbers: number[], number: number): void {
  if (number >= 0 && !numbers.includes(number)) numbers.push(number);
}

/** The names of an element: the hashes of their words, and the numbers of their signs at each place, once they are asked for. */
interface Names {
  readonly words: Int32Array;
  own: readonly number[] | undefined;
  near: readonly number[] | undefined;
  far: readonly number[] | undefined;
}

/** Reads the names of each block's element and of those around it. */
function nameReader(
  { elements, parents, nodes }: Neighbourhood,
  index: SignIndex,
): (block: number) => readonly (readonly number[])[] {
  const namesOf = namesReader();
  const known: (Names | undefined)[] = new Array(nodes.length);
  const at = (element: number): Names => {
    let names = known[element];
    if (names === undefined) {
      names = namesOf(nodes[element] as PageElement);
      known[element] = names;
    }
    return names;
  };
  const signs = (words: Int32Array, place: number): readonly number[] => {
    if (words.length === 0) return NOTHING;
    const numbers: number[] = [];
    for (let i = 0; i < words.length; i++) add(numbers, index(signOf(place, words[i] as number)));
    return numbers;
  };
  const ownOf = (names: Names) => (names.own ??= signs(names.words, OWN));
  const nearOf = (names: Names) => (names.near ??= signs(names.words, NEAR));
  // Most elements add no word to those of the elements around them and share their list.
  const far: (readonly number[] | undefined)[] = new Array(nodes.length);
  const farOf = (element: number): readonly number[] => {
    if (element < 0) return NOTHING;
    let numbers = far[element];
    if (numbers === undefined) {
      const names = at(element);
      names.far ??= signs(names.words, FAR);
      numbers = joined(farOf(parents[element] as number), names.far);
      far[element] = numbers;
    }
    return numbers;
  };
  /** The lists of the elements around an element, which its siblings share. */
  const around: (readonly (readonly number[])[] | undefined)[] = new Array(nodes.length);
  const aroundOf = (parent: number) => {
    let lists = around[parent];
    if (lists === undefined) {
      const near = nearOf(at(parent));
      const above = parents[parent] as number;
      lists = above < 0 ? [near] : [joined(near, nearOf(at(above))), farOf(parents[above] as number)];
      around[parent] = lists;
    }
    return lists;
  };
  return (block) => {
    const element = elements[block] as number;
    const parent = parents[element] as number;
    const own = ownOf(at(element));
    return parent < 0 ? [own] : [own, ...aroundOf(parent)];
  };
}

/** Both lists as one; the first one if the second adds nothing. */
function joined(list: readonly number[], others: readonly number[]): readonly number[] {
  let all = list;
  for (const number of others) {
    if (all.includes(number) || all.length === LIST_MAX) continue;
    if (all === list) all = [...list];
    (all as number[]).push(number);
  }
  return all;
}

/** Reads all names of an element. Elements with the same class and no other name are read once. */
function namesReader(): (element: PageElement) => Names {
  const known = new Map<string, Names>();
  const buffer = new Int32Array(NAME_WORDS_MAX);
  const read = (...texts: readonly (string | undefined)[]): Names => {
    let count = 0;
    let charsLeft = NAME_CHARS_MAX;
    for (const text of texts) {
      if (text === undefined) continue;
      if (charsLeft > 0) count = hashNames(text, { into: buffer, count, end: Math.min(text.length, charsLeft) });
      charsLeft -= text.length + 1;
    }
    return { words: buffer.slice(0, count), own: undefined, near: undefined, far: undefined };
  };
  return ({ attributes }) => {
    const { class: classes = "", id, role, itemprop, "data-testid": test } = attributes;
    if (id !== undefined || role !== undefined || itemprop !== undefined || test !== undefined)
      return read(classes, id, role, itemprop, test);
    let names = known.get(classes);
    if (names === undefined) {
      names = read(classes);
      known.set(classes, names);
    }
    return names;
  };
}

/** Hashes the words of names, each once: a large letter begins another word, and a single letter is none. Returns their number. */
function hashNames(names: string, { into, count, end }: { into: Int32Array; count: number; end: number }): number {
  let total = count;
  for (let i = 0; i < end && total < NAME_WORDS_MAX; i++) {
    const first = names.charCodeAt(i) | SMALL;
    if (first < SMALL_A || first > SMALL_Z) continue;
    const start = i;
    let hash = Math.imul(HASH_START ^ first, HASH_FACTOR);
    for (let next = names.charCodeAt(i + 1); i + 1 < end && next >= SMALL_A && next <= SMALL_Z; ) {
      hash = Math.imul(hash ^ next, HASH_FACTOR);
      i++;
      next = names.charCodeAt(i + 1);
    }
    if (i === start) continue;
    if (!isAmong(into, total, hash)) into[total++] = hash;
  }
  return total;
}

function isAmong(hashes: Int32Array, count: number, hash: number): boolean {
  for (let i = 0; i < count; i++) if (hashes[i] === hash) return true;
  return false;
}
