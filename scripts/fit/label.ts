// Labels the blocks of a page by the main text that people marked: the blocks that the reference text contains.

import type { Block } from "../../src/pages/content/blocks.ts";

/** The known main text of a page: all of it, or pieces that must and must not be in it. */
export interface Truth {
  readonly url?: string;
  readonly text: string;
  readonly with?: readonly string[];
  readonly without?: readonly string[];
  /** The kind of the page. */
  readonly type?: string;
}

/** The share of a block that is main text, and the block's weight (0: nothing is known). */
export interface Label {
  target: number;
  weight: number;
}

const SHINGLE = 4;
/** Shorter texts are repeated by chance. */
const COPY_TOKENS_MIN = 12;
/** The limit of the combined weight of a page's blocks. */
const PAGE_WEIGHT_MAX = 5;

/** Tokens as the scorers count them. */
export function tokensOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/** Labels blocks by the full reference text. */
export function labelByText(blocks: readonly Block[], truth: string): Label[] {
  const reference = tokensOf(truth);
  const at = indexShingles(reference);
  const taken = new Uint8Array(reference.length);
  const tokens = blocks.map((block) => tokensOf(block.text));
  const labels: Label[] = blocks.map((_, i) => ({
    target: 0,
    weight: (tokens[i] as string[]).length / Math.max(60, reference.length),
  }));
  const place: (number | undefined)[] = [];
  const isCopy = findCopies(tokens);
  const longFirst = blocks
    .map((_, i) => i)
    .sort(
      (a, b) =>
        Number(isCopy[a]) - Number(isCopy[b]) ||
        (tokens[b] as string[]).length - (tokens[a] as string[]).length ||
        a - b,
    );
  for (const i of longFirst) {
    const own = tokens[i] as string[];
    if (own.length < SHINGLE) continue;
    const { hits, known, first } = claim(own, at, taken);
    (labels[i] as Label).target = hits;
    if (hits >= 0.5) place[i] = first;
    // The main text occurs twice. Which copy is meant is unknown, so this one has no weight.
    else if (own.length >= COPY_TOKENS_MIN && known > 0.9) (labels[i] as Label).weight = 0;
  }
  // Short blocks are matched only between the positions of their neighbours, since "Home" occurs in every text.
  for (let i = 0; i < blocks.length; i++) {
    const own = tokens[i] as string[];
    if (own.length === 0 || own.length >= SHINGLE) continue;
    const before = nearest(place, i, -1);
    const after = nearest(place, i, 1);
    if (before === undefined && after === undefined && own.length < 2) continue;
    const from = Math.max(0, (before ?? (after ?? 0) - 60) - 2);
    const to = Math.min(reference.length, (after ?? (before ?? reference.length) + 200) + 6);
    for (let start = from; start + own.length <= to; start++) {
      if (!own.every((token, k) => reference[start + k] === token && taken[start + k] === 0)) continue;
      taken.fill(1, start, start + own.length);
      (labels[i] as Label).target = 1;
      place[i] = start;
      break;
    }
  }
  const total = labels.reduce((sum, label) => sum + label.weight, 0);
  if (total > PAGE_WEIGHT_MAX) for (const label of labels) label.weight *= PAGE_WEIGHT_MAX / total;
  return labels;
}

/** Labels blocks by pieces that must or must not be in the main text; all other blocks are unknown. */
export function labelByPieces(blocks: readonly Block[], truth: Truth): Label[] {
  const clean = (text: string) => text.replace(/\s+/g, " ").trim();
  const wanted = (truth.with ?? []).map(clean);
  const unwanted = (truth.without ?? []).map(clean);
  const holds = (block: Block, piece: string) =>
    block.text.includes(piece) || (block.text.length > 15 && piece.includes(block.text));
  const labels = blocks.map((block): Label => {
    if (wanted.some((piece) => holds(block, piece))) return { target: 1, weight: 1 };
    if (unwanted.some((piece) => holds(block, piece))) return { target: 0, weight: 1 };
    return { target: 0, weight: 0 };
  });
  const total = labels.reduce((sum, label) => sum + label.weight, 0);
  for (const label of labels) label.weight *= total === 0 ? 0 : 1.2 / total;
  return labels;
}

/** Finds long blocks that repeat the text of several other blocks, such as data for programs. */
function findCopies(tokens: readonly (readonly string[])[]): boolean[] {
  const keysOf = (own: readonly string[]) =>
    own.slice(0, Math.max(0, own.length - SHINGLE + 1)).map((_, i) => own.slice(i, i + SHINGLE).join(" "));
  const keys = tokens.map(keysOf);
  const longest = new Map<string, number>();
  keys.forEach((own, i) => {
    for (const key of own) {
      const before = longest.get(key);
      if (before === undefined || (keys[before] as string[]).length < own.length) longest.set(key, i);
    }
  });
  const shared = new Map<number, number>();
  keys.forEach((own, i) => {
    for (const key of own) {
      const holder = longest.get(key) as number;
      if (holder !== i && (keys[holder] as string[]).length > 2 * own.length)
        shared.set(holder, (shared.get(holder) ?? 0) + 1);
    }
  });
  return keys.map((own, i) => own.length >= 40 && (shared.get(i) ?? 0) > own.length * 0.6);
}

function indexShingles(tokens: readonly string[]): Map<string, number[]> {
  const at = new Map<string, number[]>();
  for (let i = 0; i + SHINGLE <= tokens.length; i++) {
    const key = tokens.slice(i, i + SHINGLE).join(" ");
    const list = at.get(key);
    if (list === undefined) at.set(key, [i]);
    else list.push(i);
  }
  return at;
}

function claim(
  own: readonly string[],
  at: ReadonlyMap<string, number[]>,
  taken: Uint8Array,
): { hits: number; known: number; first: number | undefined } {
  const covered = new Uint8Array(own.length);
  const claims: number[] = [];
  let first: number | undefined;
  let expected = -1;
  let known = 0;
  for (let i = 0; i + SHINGLE <= own.length; i++) {
    const places = at.get(own.slice(i, i + SHINGLE).join(" "));
    if (places === undefined) continue;
    known++;
    const place = places.includes(expected) && taken[expected] === 0 ? expected : places.find((p) => taken[p] === 0);
    if (place === undefined) continue;
    expected = place + 1;
    first ??= place;
    covered.fill(1, i, i + SHINGLE);
    for (let k = 0; k < SHINGLE; k++) claims.push(place + k);
  }
  for (const place of claims) taken[place] = 1;
  return {
    hits: covered.reduce((sum, value) => sum + value, 0) / own.length,
    known: known / (own.length - SHINGLE + 1),
    first,
  };
}

function nearest(place: readonly (number | undefined)[], from: number, step: 1 | -1): number | undefined {
  for (let i = from + step; i >= 0 && i < place.length && Math.abs(i - from) < 60; i += step)
    if (place[i] !== undefined) return place[i];
  return undefined;
}
