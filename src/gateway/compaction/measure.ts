// Counts the tokens of a conversation. An estimate from its length costs almost nothing for each request; if that is not enough,
// each message is counted once. Both are corrected by what providers report.

import { createTurns } from "../../base/turns.ts";
import { type Element, type Entry, type EntryFormat, type Piece, textOfEntry } from "../../chat/entries.ts";
import { TokenCounter } from "../../tokens/count.ts";

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
/** Tokens assumed for a document. */
const DOCUMENT_TOKENS = 3000;
/** Tokens of the role and the separators around a message. */
const MESSAGE_TOKENS = 4;

/** Maximum number of remembered message counts; each takes a few dozen bytes. */
const COUNTS_MAX = 100_000;
/** Maximum number of models whose correction is remembered. */
const MODELS_MAX = 1000;

/** Tokens per character of JSON, assumed until the model's own ratio is known. Most texts have fewer. */
const FIRST_GUESS = 0.4;
/** No text has fewer tokens per character. A report below this leaves something out, such as cached tokens. */
const PER_CHAR_MIN = 0.1;
/** The weight of a new report against the earlier ones. */
const NEW_SHARE = 0.2;

/** A model's reported tokens per character, and per token counted by the gateway. */
interface Rates {
  perChar: number | undefined;
  /** The model's tokens per token counted by the gateway. */
  perToken: number | undefined;
}

/** Remembers the token counts of texts and the ratios of models. */
export class TokenMemory {
  readonly #counts = new Map<number | bigint, number>();
  readonly #rates = new Map<string, Rates>();

  /** Estimates the tokens of a request by the length of its text alone. */
  guess(model: string, chars: number): number {
    return chars * (this.#rates.get(model)?.perChar ?? FIRST_GUESS);
  }

  /** Corrects the gateway's count by the model's ratio. */
  own(model: string, counted: number): number {
    return Math.ceil(counted * (this.#rates.get(model)?.perToken ?? 1));
  }

  /** Learns from the tokens that a model reported for a request with this many characters or counted tokens. */
  learn(model: string, reported: number, sent: { chars?: number | undefined; counted?: number | undefined }): void {
    if (!(reported > 0)) return;
    const { perChar, perToken } = this.#rates.get(model) ?? {};
    const { chars = 0, counted = 0 } = sent;
    this.#put(model, {
      perChar: chars < CHARS_MIN ? perChar : blend(perChar, clamp(reported / chars, PER_CHAR_MIN, 2)),
      perToken: counted < COUNTED_MIN ? perToken : blend(perToken, clamp(reported / counted, 0.5, 3)),
    });
  }

  /** Raises a model's ratio after it refused a request that was counted as short enough. */
  correct(model: string, reported: number, counted: number): void {
    if (counted <= 0) return;
    const known = this.#rates.get(model);
    const perToken = clamp(reported / counted, 0.5, 5);
    if (perToken > (known?.perToken ?? 1)) this.#put(model, { perChar: known?.perChar, perToken });
  }

  #put(model: string, rates: Rates): void {
    if (this.#rates.has(model) || this.#rates.size < MODELS_MAX) this.#rates.set(model, rates);
  }

  /** The elements with their token counts. Lets other work run between two elements. */
  async measure(list: readonly Element[], format: EntryFormat): Promise<MeasuredElement[]> {
    const counter = new TokenCounter();
    const turn = createTurns();
    const out: MeasuredElement[] = [];
    let prefix: number | bigint = 0n;
    for (const element of list) {
      const entry = format.entry(element);
      const text = textOfEntry(entry);
      const own = Bun.hash(text);
      if (entry.role !== "system") {
        prefix = Bun.hash(`${entry.role}\u0000${shapeOf(entry)}\u0000${own.toString(16)}`, BigInt(prefix));
      }
      out.push({
        element,
        entry,
        tokens: (await this.#count(own, text, counter)) + besides(entry),
        prefix: prefix.toString(16),
      });
      await turn();
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

/** In shorter requests the ratio depends mostly on the protocol's overhead, so nothing is learned from them. */
const CHARS_MIN = 2000;
const COUNTED_MIN = 500;

function blend(known: number | undefined, found: number): number {
  return known === undefined ? found : known + (found - known) * NEW_SHARE;
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
