// Parses a JSON text without its long lists of numbers: for vectors that are only passed on. Each list is checked against the
// grammar of JSON, four characters in a step and in four places at once, and parsed as if it were `[0]`. This takes a tenth of the
// time of a whole parse, and finds the same errors.

import { isAscii } from "node:buffer";
import { lazily } from "./lazily.ts";

/** A JSON text that was parsed without its long lists of numbers. */
export interface Outline {
  /** The value, with `[0]` in the place of each long list. */
  readonly value: unknown;
  /** The text of the value. */
  readonly text: string;
  /** The offset in what was parsed that belongs to an offset in the text. */
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
const CLOSE = 93;

/**
 * Parses JSON in UTF-8. Undefined if it has no long list of numbers, or other characters than ASCII outside of them: it must
 * then be parsed as a whole. Throws `SyntaxError` if it is not JSON.
 */
export function parseOutline(bytes: Uint8Array): Outline | undefined {
  const cuts: Cut[] = [];
  const parts: Uint8Array[] = [];
  let kept = 0;
  let shorter = 0;
  let close = -1;
  for (let at = bytes.indexOf(OPEN), next: number; at >= 0; at = next) {
    next = bytes.indexOf(OPEN, at + 1);
    if (close < at) close = bytes.indexOf(CLOSE, at);
    if (close < 0) break;
    const end = close + 1;
    const isInner = next < 0 || next > close;
    if (!isInner || end - at < LIST_BYTES_MIN || !areNumbers(bytes, at + 1, close)) continue;
    parts.push(bytes.subarray(kept, at));
    cuts.push({ start: at, end, at: at - shorter });
    shorter += end - at - STAND_IN.length;
    kept = end;
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

/** Parses JSON as a whole. Throws `SyntaxError` if it is not JSON. */
export function wholeOutline(text: string): Outline {
  return { value: JSON.parse(text), text, offsetOf: (at) => at, isWhole: true };
}

/** Kinds of bytes, as far as lists of numbers distinguish them. */
const KINDS = ["123456789", "0", "-", ".", "eE", "+", ",", " \t\r\n"] as const;
const OTHER = KINDS.length;
const KINDS_COUNT = KINDS.length + 1;
const [DIGIT, ZERO, MINUS, DOT, EXPONENT, PLUS, COMMA, SPACE] = KINDS.keys();

/** What has been read of a list: the last part of a number, or what separates two. */
const STATES = ["item", "minus", "zero", "whole", "dot", "fraction", "e", "sign", "power", "after"] as const;
type State = (typeof STATES)[number];
/** It is not a list of numbers, whatever follows. */
const BROKEN = STATES.length;
/** The states in which a list may end. */
const LAST_STATES: readonly (State | undefined)[] = ["zero", "whole", "fraction", "power", "after"];

const AFTER_NUMBER = [
  [COMMA, "item"],
  [SPACE, "after"],
] as const;

/** The grammar of RFC 8259, section 6, with the separators of a list. */
const NEXT: Readonly<Record<State, readonly (readonly [kind: number | undefined, next: State])[]>> = {
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

/** The state after a character of a kind. */
function stateAfter(state: number, kind: number): number {
  const name = STATES[state];
  const next = name === undefined ? undefined : NEXT[name].find(([taken]) => taken === kind)?.[1];
  return next === undefined ? BROKEN : STATES.indexOf(next);
}

/** Pairs of characters that lead from every state to the same one are of one class. There are fewer classes than this. */
const CLASS_BITS = 5;
const ROW_BITS = 2 * CLASS_BITS;

/** The tables of the scan, made with the first answer that needs them. */
const tables = lazily(() => {
  const kinds = new Uint8Array(256).fill(OTHER);
  for (const [kind, characters] of KINDS.entries()) {
    for (const character of characters) kinds[character.charCodeAt(0)] = kind;
  }
  const afterPair = (state: number, first: number, second: number) => stateAfter(stateAfter(state, first), second);
  const columns = new Map<string, readonly number[]>();
  const classOf = Array.from({ length: KINDS_COUNT * KINDS_COUNT }, (_, pair) => {
    const column = [...STATES.keys(), BROKEN].map((state) =>
      afterPair(state, Math.floor(pair / KINDS_COUNT), pair % KINDS_COUNT),
    );
    columns.set(column.join(), columns.get(column.join()) ?? column);
    return [...columns.keys()].indexOf(column.join());
  });
  // The first of two characters is in the lower byte of a word: all machines that the runtime supports have this order.
  const seconds = new Uint8Array(65_536);
  const firsts = new Uint16Array(65_536);
  for (let word = 0; word < seconds.length; word++) {
    seconds[word] = classOf[(kinds[word & 255] as number) * KINDS_COUNT + (kinds[word >> 8] as number)] as number;
    firsts[word] = (seconds[word] as number) << CLASS_BITS;
  }
  const quads = new Uint16Array((BROKEN + 1) << ROW_BITS);
  const classes = [...columns.values()];
  for (let state = 0; state <= BROKEN; state++) {
    for (const [first, middle] of classes.entries()) {
      for (const [second, last] of classes.entries()) {
        quads[(state << ROW_BITS) | (first << CLASS_BITS) | second] =
          (last[middle[state] as number] as number) << ROW_BITS;
      }
    }
  }
  const steps = Uint8Array.from({ length: (BROKEN + 1) * KINDS_COUNT }, (_, at) =>
    stateAfter(Math.floor(at / KINDS_COUNT), at % KINDS_COUNT),
  );
  return { kinds, steps, firsts, seconds, quads };
});

/** A list is read in four places at once, since each step waits for the one before it in its place. */
const LANES = 4;
/** Shorter lists are read in one place. */
const LANES_BYTES_MIN = 1024;
/** How far from its place a lane may begin. */
const ITEM_BYTES_MAX = 64;

/** A part of a list that begins with an item. */
interface Lane {
  /** The next byte. */
  at: number;
  readonly end: number;
  state: number;
}

/** Whether the bytes are the items of a list of numbers. */
function areNumbers(bytes: Uint8Array, from: number, to: number): boolean {
  const lanes = lanesOf(bytes, from, to);
  if (lanes.length === LANES) {
    // Words begin at every fourth byte of the memory.
    for (const lane of lanes) stepTo(bytes, lane, lane.at + (-(bytes.byteOffset + lane.at) & 3));
    runTogether(bytes, lanes as [Lane, Lane, Lane, Lane]);
  }
  return lanes.every((lane) => {
    stepTo(bytes, lane, lane.end);
    return lane.end === to ? LAST_STATES.includes(STATES[lane.state]) : STATES[lane.state] === "item";
  });
}

/** Four lanes of about the same length, each of which begins after a comma; one if there are no such places. */
function lanesOf(bytes: Uint8Array, from: number, to: number): Lane[] {
  const starts = [from];
  for (let lane = 1; lane < LANES && to - from >= LANES_BYTES_MIN; lane++) {
    let at = from + lane * Math.floor((to - from) / LANES);
    const last = at + ITEM_BYTES_MAX;
    while (at < last && bytes[at] !== COMMA_CODE) at++;
    if (at < last) starts.push(at + 1);
  }
  if (starts.length < LANES) return [{ at: from, end: to, state: 0 }];
  return starts.map((at, index) => ({ at, end: starts[index + 1] ?? to, state: 0 }));
}

const COMMA_CODE = 44;

/** Takes a lane to a byte, one byte in a step. */
function stepTo(bytes: Uint8Array, lane: Lane, end: number): void {
  const { kinds, steps } = tables();
  let { at, state } = lane;
  for (; at < end && state !== BROKEN; at++) {
    state = steps[state * KINDS_COUNT + (kinds[bytes[at] as number] as number)] as number;
  }
  lane.at = at;
  lane.state = state;
}

/** Takes all lanes as far as the shortest has whole words. */
function runTogether({ buffer, byteOffset }: Uint8Array, lanes: readonly [Lane, Lane, Lane, Lane]): void {
  const { firsts, seconds, quads } = tables();
  const words = new Int32Array(buffer, 0, buffer.byteLength >> 2);
  const [a, b, c, d] = lanes;
  let rowA = a.state << ROW_BITS;
  let rowB = b.state << ROW_BITS;
  let rowC = c.state << ROW_BITS;
  let rowD = d.state << ROW_BITS;
  const at = (byteOffset + a.at) >> 2;
  const toB = ((byteOffset + b.at) >> 2) - at;
  const toC = ((byteOffset + c.at) >> 2) - at;
  const toD = ((byteOffset + d.at) >> 2) - at;
  const count = Math.min(...lanes.map((lane) => (lane.end - lane.at) >> 2));
  for (let word = at; word < at + count; word++) {
    const inA = words[word] as number;
    const inB = words[word + toB] as number;
    const inC = words[word + toC] as number;
    const inD = words[word + toD] as number;
    rowA = quads[rowA | (firsts[inA & 65_535] as number) | (seconds[inA >>> 16] as number)] as number;
    rowB = quads[rowB | (firsts[inB & 65_535] as number) | (seconds[inB >>> 16] as number)] as number;
    rowC = quads[rowC | (firsts[inC & 65_535] as number) | (seconds[inC >>> 16] as number)] as number;
    rowD = quads[rowD | (firsts[inD & 65_535] as number) | (seconds[inD >>> 16] as number)] as number;
  }
  for (const [index, row] of [rowA, rowB, rowC, rowD].entries()) {
    const lane = lanes[index] as Lane;
    lane.state = row >> ROW_BITS;
    lane.at += 4 * count;
  }
}
