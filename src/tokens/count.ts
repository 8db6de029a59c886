// Counts the tokens of texts by the public vocabulary o200k_base, in about linear time. No count blocks the event loop for long:
// a large text is counted in steps or, if the count is needed synchronously, estimated from samples.

import { loadRanksInTurns, TOKEN_BYTES_MAX } from "./ranks.ts";

type Counting = typeof import("./counting.ts")["counting"];
let loaded: Counting | undefined;

/** Loaded with the first text that is counted. */
function countingSteps(): Counting {
  if (loaded === undefined) {
    const { counting }: typeof import("./counting.ts") = require("./counting.ts");
    loaded = counting;
  }
  return loaded;
}

/**
 * Texts up to this size, with a limited share of words that are not single tokens, are counted exactly even synchronously, which
 * takes milliseconds, and a tenth of a second for a run of one sign such as hyphens.
 */
const AT_ONCE_CHARACTERS_MAX = 1 << 18;
const AT_ONCE_MERGED_MAX = 1 << 16;

/** Larger texts are sampled at this many evenly spread positions. */
const SAMPLES = 8;
const SAMPLE_CHARACTERS = 2048;

/**
 * The tokens of a text in o200k_base. Names of special tokens count as ordinary text, as in a message. For more than a few
 * hundred thousand characters, the result is extrapolated from samples.
 */
export function countTokens(text: string): number {
  if (text.length === 0) return 0;
  const exact = text.length <= AT_ONCE_CHARACTERS_MAX ? countAtOnce(text, AT_ONCE_MERGED_MAX) : undefined;
  return exact ?? sampled(text.length, (from, to) => text.slice(from, to));
}

/** The same of the text of these lines. If they are long, they are not joined for it. */
export function countLineTokens(lines: readonly string[]): number {
  const characters = lines.reduce((sum, { length }) => sum + length, Math.max(0, lines.length - 1));
  if (characters <= AT_ONCE_CHARACTERS_MAX) return countTokens(lines.join("\n"));
  return sampled(characters, (from, to) => joinedPart(lines, from, to));
}

/** `lines.join("\n").slice(from, to)` */
function joinedPart(lines: readonly string[], from: number, to: number): string {
  const parts: string[] = [];
  let at = 0;
  for (const line of lines) {
    if (at > to) break;
    const end = at + line.length;
    if (at > from) parts.push("\n");
    if (end >= from) parts.push(line.slice(Math.max(0, from - at), to - at));
    at = end + 1;
  }
  return parts.join("");
}

/** The tokens of a text, extrapolated from parts of it. */
function sampled(characters: number, slice: (from: number, to: number) => string): number {
  const apart = (characters - SAMPLE_CHARACTERS) / (SAMPLES - 1);
  let counted = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const from = Math.round(sample * apart);
    counted += countAtOnce(slice(from, from + SAMPLE_CHARACTERS))!;
  }
  return Math.ceil((counted * characters) / (SAMPLES * SAMPLE_CHARACTERS));
}

/** The tokens of several texts together, which are extrapolated in the same way if they are long together. */
export function countAllTokens(texts: readonly string[]): number {
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  if (characters > AT_ONCE_CHARACTERS_MAX) return countLineTokens(texts);
  return texts.reduce((sum, text) => sum + countTokens(text), 0);
}

/** The number of tokens; undefined if more than `mergedMax` bytes would have to be merged. */
function countAtOnce(text: string, mergedMax = Number.POSITIVE_INFINITY): number | undefined {
  const work = { bytes: 0, merged: 0 };
  const steps = countingSteps()(text, work);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (work.merged > mergedMax) return undefined;
  }
}

/** Counts texts of any size exactly, one after the other, and lets other work run in between. */
export class TokenCounter {
  /** Counted over all texts, since many small ones are as much work as a large one. */
  readonly #work = { bytes: 0, merged: 0 };

  /** The tokens of a text. If there are more than `enough`, any number above it, immediately. */
  async count(text: string, enough = Number.POSITIVE_INFINITY): Promise<number> {
    if (text.length === 0) return 0;
    // A character has at least one byte.
    const least = Math.ceil(text.length / TOKEN_BYTES_MAX);
    if (least > enough) return least;
    await loadRanksInTurns();
    const steps = countingSteps()(text, this.#work);
    for (;;) {
      const { value, done } = steps.next();
      if (done === true || value > enough) return value;
      await new Promise<void>((resume) => setImmediate(resume));
    }
  }
}

/** Loads the vocabulary and compiles the counting code, so that no request waits for it. */
export async function warmTokens(): Promise<void> {
  await new TokenCounter().count(WARMING);
}

/** A long word, which is the slowest input. */
const WARMING = "a".repeat(4000);
