// Parses a JSON text without its long lists of numbers: for vectors that are only passed on. Each list is checked against the
// grammar of JSON, four characters in a step, and parsed as if it were `[0]`. This takes a fifth of the time of a whole parse,
// and finds the same errors.

import { isAscii } from "node:buffer";
import { lazily } from "./lazily.ts";

/** A JSON text that was parsed without its long lists of numbers. */
export interface Outline {
  /** The value, with `[0]` in the place of each long list. */
  readonly value: unknown;
  /** The text of the value, in ASCII. */
  readonly text: string;
  /** The offset in the bytes that belongs to an offset in the text. */
  offsetOf(at: number): number;
  /** Whether nothing was left out. */
  readonly isWhole: boolean;
}

/** A list that was left out: its offset in the bytes, and that of its stand-in in the text. */
interface Cut {
  readonly start: number;
  readonly end: number;
  readonly at: number;
}

const STAND_IN = "[0]";
/** Shorter lists are parsed with the rest. */
const LIST_BYTES_MIN = 128;
const OPEN = 91;

/**
 * Parses JSON in UTF-8. Undefined if it has no long list of numbers, or other characters than ASCII outside of them: it must
 * then be parsed as a whole. Throws `SyntaxError` if it is not JSON.
 */
export function parseOutline(bytes: Uint8Array): Outline | undefined {
  const cuts: Cut[] = [];
  const parts: Uint8Array[] = [];
  let kept = 0;
  let shorter = 0;
  const words = wordsOf(bytes);
  for (let at = bytes.indexOf(OPEN); at >= 0; at = bytes.indexOf(OPEN, at + 1)) {
    const end = endOfNumbers(bytes, at + 1, words);
    if (end - at < LIST_BYTES_MIN) continue;
    parts.push(bytes.subarray(kept, at));
    cuts.push({ start: at, end, at: at - shorter });
    shorter += end - at - STAND_IN.length;
    kept = end;
    at = end - 1;
  }
  if (cuts.length === 0) return undefined;
  parts.push(bytes.subarray(kept));
  if (!parts.every((part) => isAscii(part))) return undefined;
  const decoder = new TextDecoder();
  const text = parts.map((part) => decoder.decode(part)).join(STAND_IN);
  const offsetOf = (at: number) => {
    const cut = cuts.findLast((one) => one.at < at);
    return cut === undefined ? at : cut.end + (at - cut.at - STAND_IN.length);
  };
  return { value: JSON.parse(text), text, offsetOf, isWhole: false };
}

/** Parses JSON in ASCII as a whole. Undefined if there are other characters. Throws `SyntaxError` if it is not JSON. */
export function wholeOutline(bytes: Uint8Array): Outline | undefined {
  if (!isAscii(bytes)) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return { value: JSON.parse(text), text, offsetOf: (at) => at, isWhole: true };
}

/** Kinds of bytes, as far as lists of numbers distinguish them. */
const KINDS = ["123456789", "0", "-", ".", "eE", "+", ",", " \t\r\n", "]"] as const;
const OTHER = KINDS.length;
const KINDS_COUNT = KINDS.length + 1;
const [DIGIT, ZERO, MINUS, DOT, EXPONENT, PLUS, COMMA, SPACE, CLOSE] = KINDS.keys();

/** What has been read of a list: the last part of a number, or what separates two. */
const STATES = ["item", "minus", "zero", "whole", "dot", "fraction", "e", "sign", "power", "after"] as const;
type State = (typeof STATES)[number];
const STATES_COUNT = STATES.length;
/** The list ended with the first or the second character of the pair, or it is not a list of numbers. */
const [ENDED_FIRST, ENDED_SECOND, BROKEN] = [STATES_COUNT, STATES_COUNT + 1, STATES_COUNT + 2];

const AFTER_NUMBER = [
  [COMMA, "item"],
  [SPACE, "after"],
  [CLOSE, "end"],
] as const;

/** The grammar of RFC 8259, section 6, with the separators of a list. */
const NEXT: Readonly<Record<State, readonly (readonly [kind: number | undefined, next: State | "end"])[]>> = {
  item: [
    [SPACE, "item"],
    [MINUS, "minus"],
    [ZERO, "zero"],
    [DIGIT, "whole"],
  ],
  minus: [
    [ZERO, "zero"],
    [DIGIT, "whole"],
  ],
  zero: [[DOT, "dot"], [EXPONENT, "e"], ...AFTER_NUMBER],
  whole: [[DIGIT, "whole"], [ZERO, "whole"], [DOT, "dot"], [EXPONENT, "e"], ...AFTER_NUMBER],
  dot: [
    [DIGIT, "fraction"],
    [ZERO, "fraction"],
  ],
  fraction: [[DIGIT, "fraction"], [ZERO, "fraction"], [EXPONENT, "e"], ...AFTER_NUMBER],
  e: [
    [DIGIT, "power"],
    [ZERO, "power"],
    [PLUS, "sign"],
    [MINUS, "sign"],
  ],
  sign: [
    [DIGIT, "power"],
    [ZERO, "power"],
  ],
  power: [[DIGIT, "power"], [ZERO, "power"], ...AFTER_NUMBER],
  after: AFTER_NUMBER,
};

/** The tables of the scan, made with the first answer that needs them. */
const tables = lazily(() => {
  const kinds = new Uint8Array(256).fill(OTHER);
  for (const [kind, characters] of KINDS.entries()) {
    for (const character of characters) kinds[character.charCodeAt(0)] = kind;
  }
  const pairs = new Uint8Array(65_536);
  for (let pair = 0; pair < pairs.length; pair++) {
    pairs[pair] = (kinds[pair >> 8] as number) * KINDS_COUNT + (kinds[pair & 255] as number);
  }
  const one = (state: State, kind: number) => NEXT[state].find(([taken]) => taken === kind)?.[1];
  const steps = new Uint8Array(STATES_COUNT * KINDS_COUNT * KINDS_COUNT);
  for (let at = 0; at < steps.length; at++) {
    const [first, second] = [Math.floor(at / KINDS_COUNT) % KINDS_COUNT, at % KINDS_COUNT];
    const middle = one(STATES[Math.floor(at / (KINDS_COUNT * KINDS_COUNT))] as State, first);
    const last = middle === undefined || middle === "end" ? middle : one(middle, second);
    steps[at] =
      middle === "end"
        ? ENDED_FIRST
        : last === undefined
          ? BROKEN
          : last === "end"
            ? ENDED_SECOND
            : STATES.indexOf(last);
  }
  return { pairs, steps, ...quadsOf(pairs, steps) };
});

/** A space and any byte after it. */
const SPACE_BEFORE = 32 << 8;
/** A step of four characters within which the list ends or breaks; it is then taken in pairs. */
const CLOSER = 65_535;

/**
 * Steps of four characters. Pairs that lead from every state to the same one are of one class, so that the table of two classes
 * stays small. `quads` holds the row of the next state, which the loop adds to a pair of classes.
 */
function quadsOf(pairs: Uint8Array, steps: Uint8Array) {
  const next = (state: number, pair: number) => steps[state * (KINDS_COUNT * KINDS_COUNT) + pair] as number;
  const columns = new Map<string, number>();
  const members: number[] = [];
  const classOf = new Uint8Array(KINDS_COUNT * KINDS_COUNT);
  for (let pair = 0; pair < classOf.length; pair++) {
    const column = STATES.map((_, state) => next(state, pair)).join();
    if (!columns.has(column)) columns.set(column, members.push(pair) - 1);
    classOf[pair] = columns.get(column) as number;
  }
  const count = members.length;
  const quads = new Uint16Array(STATES_COUNT * count * count);
  for (let at = 0; at < quads.length; at++) {
    const pair = (index: number) => members[Math.floor(index) % count] as number;
    const middle = next(Math.floor(at / (count * count)), pair(at / count));
    const last = middle < STATES_COUNT ? next(middle, pair(at)) : middle;
    quads[at] = last < STATES_COUNT ? last * count * count : CLOSER;
  }
  // The bytes of a word stand in the order of this machine.
  const classes = new Uint8Array(pairs.length);
  const order = new Uint8Array(2);
  const word = new Uint16Array(order.buffer);
  for (let pair = 0; pair < pairs.length; pair++) {
    order.set([pair >> 8, pair & 255]);
    classes[word[0] as number] = classOf[pairs[pair] as number] as number;
  }
  return { classes, count, quads };
}

/** The memory of the bytes two by two. They may begin in the middle of a pair. */
function wordsOf({ buffer }: Uint8Array): Uint16Array {
  return new Uint16Array(buffer, 0, buffer.byteLength >> 1);
}

/** The offset after the list of numbers whose first item may begin at `from`; -1 if it is not such a list. */
function endOfNumbers(bytes: Uint8Array, from: number, words: Uint16Array): number {
  const { pairs, steps, classes, count, quads } = tables();
  const { byteOffset } = bytes;
  let at = from;
  let state = 0;
  if ((byteOffset + at) % 2 === 1) {
    // What is read from an even place comes in pairs: the first byte goes with a space before it.
    state = steps[pairs[SPACE_BEFORE | (bytes[at] as number)] as number] as number;
    if (state >= STATES_COUNT) return -1;
    at++;
  }
  let row = state * count * count;
  const last = ((byteOffset + bytes.length) >> 1) - 1;
  let word = (byteOffset + at) >> 1;
  for (; word < last; word += 2) {
    const next = quads[
      row + (classes[words[word] as number] as number) * count + (classes[words[word + 1] as number] as number)
    ] as number;
    if (next === CLOSER) break;
    row = next;
  }
  at = (word << 1) - byteOffset;
  state = row / (count * count);
  for (; at < bytes.length; at += 2) {
    // Past the end there is nothing, which is no part of a list.
    const pair = pairs[((bytes[at] as number) << 8) | (bytes[at + 1] as number)] as number;
    state = steps[state * (KINDS_COUNT * KINDS_COUNT) + pair] as number;
    if (state >= STATES_COUNT) return state === ENDED_FIRST ? at + 1 : state === ENDED_SECOND ? at + 2 : -1;
  }
  return -1;
}
