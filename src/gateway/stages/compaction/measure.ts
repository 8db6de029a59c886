// Counts the tokens of a conversation. Each message is counted once. The count is corrected by what providers report for the same
// account's requests, and only upwards, so that nobody's requests make another's seem shorter than they are.

import { createPause } from "../../../base/time-slices.ts";
import { type Element, type Entry, type EntryFormat, type Piece, textOfEntry } from "../../../chat/entries.ts";
import { TokenCounter } from "../../../tokens/count.ts";

/** An element with its tokens and its hash. */
export interface MeasuredElement {
  element: Element;
  entry: Entry;
  tokens: number;
  /** Hash of all elements up to this one. System messages are left out, as compaction never changes them. */
  prefix: string;
}

/** Tokens of a large image; the gateway does not examine its pixels. */
const IMAGE_TOKENS = 1600;
/** Tokens assumed for a document, which is the largest kind of media. */
export const DOCUMENT_TOKENS = 3000;
/** Tokens of the role and the separators around a message. */
const MESSAGE_TOKENS = 4;

/** Maximum number of remembered message counts; each takes a few dozen bytes. */
const COUNTS_MAX = 100_000;
/** Maximum number of corrections that are remembered, of all accounts and models. */
const RATIOS_MAX = 10_000;
/** The weight of a new report against the earlier ones. */
const NEW_SHARE = 0.2;
/** In shorter requests the ratio depends mostly on the protocol's overhead, so nothing is learned from them. */
const COUNTED_MIN = 500;

/** Whose requests to which model. */
export interface Sender {
  accountId: string;
  model: string;
}

/** Remembers the token counts of texts, and what models count for an account's requests. */
export class TokenMemory {
  readonly #counts = new Map<number | bigint, number>();
  /** A model's tokens per token counted by the gateway, at least 1. */
  readonly #ratios = new Map<string, number>();

  /** A model's tokens per token counted by the gateway. */
  ratio(sender: Sender): number {
    return this.#ratios.get(keyOf(sender)) ?? 1;
  }

  /** Corrects the gateway's count by the model's ratio. */
  own(sender: Sender, counted: number): number {
    return Math.ceil(counted * this.ratio(sender));
  }

  /** Learns from the tokens that a model reported for a request. `counted`: the gateway's count of what was sent to it. */
  learn(sender: Sender, reported: number, counted: number): void {
    if (!(reported > 0) || counted < COUNTED_MIN) return;
    const known = this.#ratios.get(keyOf(sender));
    const found = clamp(reported / counted, 1, 3);
    this.#put(sender, known === undefined ? found : known + (found - known) * NEW_SHARE);
  }

  /** Raises the ratio after a model refused a request that was counted as short enough. */
  correct(sender: Sender, reported: number, counted: number): void {
    if (counted <= 0) return;
    const ratio = clamp(reported / counted, 1, 5);
    if (ratio > this.ratio(sender)) this.#put(sender, ratio);
  }

  #put(sender: Sender, ratio: number): void {
    const key = keyOf(sender);
    this.#ratios.delete(key);
    this.#ratios.set(key, ratio);
    const oldest = this.#ratios.keys().next().value;
    if (this.#ratios.size > RATIOS_MAX && oldest !== undefined) this.#ratios.delete(oldest);
  }

  /** The elements with their token counts. Lets other work run between two elements. */
  async measure(list: readonly Element[], format: EntryFormat): Promise<MeasuredElement[]> {
    const counter = new TokenCounter();
    const pause = createPause();
    const out: MeasuredElement[] = [];
    let prefix: number | bigint = 0n;
    for (const element of list) {
      const entry = format.entry(element);
      const text = textOfEntry(entry);
      const own = Bun.hash(text);
      if (entry.role !== "system") {
        prefix = Bun.hash(`${entry.role}\u0000${shapeOf(entry)}\u0000${own.toString(16)}`, BigInt(prefix));
      }
      // Nearly all of a conversation was counted with its earlier requests: what is known waits for nothing.
      const counted = this.#counts.get(own) ?? (await this.#count(own, text, counter));
      out.push({ element, entry, tokens: counted + besides(entry), prefix: prefix.toString(16) });
      const wait = pause();
      if (wait !== undefined) await wait;
    }
    return out;
  }

  /** Counts the tokens of a text; each text is counted only once. */
  async count(text: string): Promise<number> {
    return this.#count(Bun.hash(text), text, new TokenCounter());
  }

  async #count(key: number | bigint, text: string, counter: TokenCounter): Promise<number> {
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const tokens = await counter.count(text);
    if (this.#counts.size >= COUNTS_MAX) {
      const oldest = this.#counts.keys().next().value;
      if (oldest !== undefined) this.#counts.delete(oldest);
    }
    this.#counts.set(key, tokens);
    return tokens;
  }
}

function keyOf({ accountId, model }: Sender): string {
  return `${accountId}\u0000${model}`;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** The kinds and ids of an entry's parts, so that a call and a text with the same words have different hashes. */
function shapeOf(entry: Entry): string {
  return entry.pieces
    .filter((piece) => piece.type !== "reasoning")
    .map((piece) => ("id" in piece ? `${piece.type} ${piece.id}` : piece.type))
    .join(",");
}

/** Tokens of an entry beside its text: separators, media and reasoning. */
function besides(entry: Entry): number {
  return MESSAGE_TOKENS + entry.pieces.reduce((sum, piece) => sum + tokensBeside(piece), 0);
}

function tokensBeside(piece: Piece): number {
  if (piece.type === "media") return mediaTokens(piece.label);
  if (piece.type === "result") return MESSAGE_TOKENS + piece.media.reduce((sum, label) => sum + mediaTokens(label), 0);
  // Most providers drop earlier reasoning, so an estimate from its length suffices.
  if (piece.type === "reasoning") return Math.ceil(piece.text.length / 4);
  return piece.type === "call" ? MESSAGE_TOKENS : 0;
}

function mediaTokens(label: string): number {
  return label.startsWith("document") || label.startsWith("file") ? DOCUMENT_TOKENS : IMAGE_TOKENS;
}
