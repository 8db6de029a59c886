// JSON of megabytes. Its bytes stay as they are, and are decoded and parsed piece by piece: the event loop continues meanwhile, and
// no text of the whole exists. What is edited is the outline, a text in which marks stand for the long values. The result of a
// parse, and what is refused, is the same as with JSON.parse.

import { isAscii } from "node:buffer";
import type { LargeJsonLook, ListSpan, Span } from "./json-scan.ts";

/** Bytes examined in one step. */
const SLICE_BYTES = 1024 * 1024;
/** The same where there are escapes, which cost fifty times as much. */
const ESCAPED_BYTES = 128 * 1024;

const OPEN = 91;
const BACKSLASH = 92;
const CLOSE = 93;
const LETTER_U = 117;

/** The text of a JSON value: as a string or, if it is long, as bytes. */
export type BodyText = string | LongJson;

/** Long values of a text, and the marks that stand for them. */
interface Marks {
  readonly bytes: Buffer;
  /** Unpredictable for the text's author. */
  readonly mark: string;
  readonly spans: readonly (Span | ListSpan)[];
  readonly spellsCharacters: boolean;
}

/** A JSON text of megabytes. */
export class LongJson {
  /** The text, with a mark in the place of each long string, and a list of one mark in the place of each long list. */
  readonly outline: string;
  readonly #marks: Marks;
  #parts: readonly Buffer[] | undefined;

  constructor(marks: Marks, outline: string) {
    this.#marks = marks;
    this.outline = outline;
  }

  /** A text that was written in parts. Its outline is empty. */
  static ofParts(parts: readonly Buffer[]): LongJson {
    const text = new LongJson({ bytes: Buffer.of(), mark: "", spans: [], spellsCharacters: false }, "");
    text.#parts = parts;
    return text;
  }

  isSameAs(other: LongJson): boolean {
    if (this.#marks === other.#marks) return this.outline === other.outline;
    return this.length === other.length && Buffer.concat(this.parts).equals(Buffer.concat(other.parts));
  }

  /** The same with a changed outline. */
  edited(outline: string): LongJson {
    return outline === this.outline ? this : new LongJson(this.#marks, outline);
  }

  /** The bytes, in parts that are not copied. */
  get parts(): readonly Buffer[] {
    this.#parts ??= this.#divided();
    return this.#parts;
  }

  #divided(): Buffer[] {
    const { bytes, mark, spans } = this.#marks;
    const parts: Buffer[] = [];
    let at = 0;
    for (const found of this.outline.matchAll(new RegExp(`\\["${mark}(\\d+)"\\]|"${mark}(\\d+)"`, "g"))) {
      parts.push(Buffer.from(this.outline.slice(at, found.index)));
      const { start, end } = spans[Number(found[1] ?? found[2])]!;
      parts.push(bytes.subarray(start, end));
      at = found.index + found[0].length;
    }
    parts.push(Buffer.from(this.outline.slice(at)));
    return parts;
  }

  /** The number of bytes. */
  get length(): number {
    return this.parts.reduce((sum, part) => sum + part.length, 0);
  }

  /** Whether the text contains a word. */
  includes(word: string): boolean {
    return this.parts.some((part) => part.includes(word));
  }

  /** Whether characters are spelled as `\u`. */
  get spellsCharacters(): boolean {
    return this.#marks.spellsCharacters;
  }

  toString(): string {
    return Buffer.concat(this.parts).toString();
  }
}

/** The text as a string. A long one is decoded anew in each call. */
export function stringOf(text: BodyText): string {
  return typeof text === "string" ? text : text.toString();
}

/** Whether two texts are the same. */
export function isSameText(one: BodyText, other: BodyText): boolean {
  if (typeof one === "string" || typeof other === "string") return one === other;
  return one.isSameAs(other);
}

/** The size of a text in UTF-8. */
export function bytesOf(text: BodyText): number {
  return typeof text === "string" ? Buffer.byteLength(text) : text.length;
}

/** Edits a text by its outline. */
export function editedText(text: BodyText, edit: (text: string) => string): BodyText {
  return typeof text === "string" ? edit(text) : text.edited(edit(text.outline));
}

/** A text and its value. */
export interface ParsedJson {
  readonly text: LongJson;
  readonly value: unknown;
}

/** Parses UTF-8 without errors, of which `look` was found, and calls `pause` between the steps. Throws `SyntaxError`. */
export async function parseLongJson(
  bytes: Buffer,
  { longTexts, lists, spellsCharacters }: LargeJsonLook,
  pause: () => Promise<void>,
): Promise<ParsedJson> {
  const mark = crypto.randomUUID();
  const spans = longTexts === undefined ? [] : outermost(longTexts, lists);
  const outline = marked(bytes, { start: 0, end: bytes.length }, { mark, spans });
  const value = JSON.parse(outline) as unknown;
  const text = new LongJson({ bytes, mark, spans, spellsCharacters }, outline);
  if (spans.length === 0) return { text, value };
  const values: unknown[] = [];
  for (const span of spans) {
    const inner = longTexts?.filter(({ start }) => start >= span.start && start < span.end) ?? [];
    values.push(
      "cuts" in span
        ? await listOf(bytes, span, { texts: inner, mark, pause })
        : await stringAt(bytes, { start: span.start + 1, end: span.end - 1 }, pause),
    );
    await pause();
  }
  return { text, value: unmarked(value, mark, values) };
}

/** The long lists and the long strings outside of them, in order. */
function outermost(longTexts: readonly Span[], lists: readonly ListSpan[]): (Span | ListSpan)[] {
  const spans = [...longTexts.filter((text) => !lists.some((list) => isWithin(text, list))), ...lists];
  return spans.sort((a, b) => a.start - b.start);
}

function isWithin(inner: Span, outer: Span): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}

/** The text of a part of the bytes, with marks for spans in it. */
function marked(
  bytes: Buffer,
  { start, end }: Span,
  { mark, spans }: { mark: string; spans: readonly (Span | ListSpan)[] },
): string {
  if (spans.length === 0) return bytes.toString("utf8", start, end);
  const parts: string[] = [];
  let at = start;
  for (const [index, span] of spans.entries()) {
    // A string could be read as a key where a list cannot.
    const stands = "cuts" in span ? `["${mark}${index}"]` : `"${mark}${index}"`;
    parts.push(bytes.toString("utf8", at, span.start), stands);
    at = span.end;
  }
  parts.push(bytes.toString("utf8", at, end));
  return parts.join("");
}

/** The elements of a long list. */
async function listOf(
  bytes: Buffer,
  { start, end, cuts }: ListSpan,
  { texts, mark, pause }: { texts: readonly Span[]; mark: string; pause: () => Promise<void> },
): Promise<unknown[]> {
  const elements: unknown[] = [];
  let at = start + 1;
  for (const next of [...cuts, end - 1]) {
    if (at > start + 1) await pause();
    const piece = { start: at, end: next };
    const spans = texts.filter((text) => isWithin(text, piece));
    const some = JSON.parse(listText(bytes, piece, { mark, spans }, next === end - 1)) as unknown[];
    // There must be an element before and after each comma.
    if (cuts.length > 0 && some.length === 0) throw new SyntaxError("An element of a list is missing.");
    const strings: string[] = [];
    for (const span of spans) {
      strings.push(await stringAt(bytes, { start: span.start + 1, end: span.end - 1 }, pause));
      await pause();
    }
    const whole = strings.length === 0 ? some : (unmarked(some, mark, strings) as unknown[]);
    for (const element of whole) elements.push(element);
    at = next + 1;
  }
  return elements;
}

/** The text of a list of the elements in a piece. The last piece ends as the list itself does, which may be wrong. */
function listText(
  bytes: Buffer,
  { start, end }: Span,
  { mark, spans }: { mark: string; spans: readonly Span[] },
  isLast: boolean,
): string {
  if (spans.length > 0) {
    const close = isLast ? bytes.toString("latin1", end, end + 1) : "]";
    return `[${marked(bytes, { start, end }, { mark, spans })}${close}`;
  }
  // Around the piece there are the brackets of the list, or commas. In their place, the text needs no copy with brackets.
  const before = bytes[start - 1] as number;
  const after = bytes[end] as number;
  bytes[start - 1] = OPEN;
  if (!isLast) bytes[end] = CLOSE;
  const text = bytes.toString("utf8", start - 1, end + 1);
  bytes[start - 1] = before;
  bytes[end] = after;
  return text;
}

/** The string of which the bytes between the quotes are given. */
async function stringAt(bytes: Buffer, inner: Span, pause: () => Promise<void>): Promise<string> {
  const isPlain = await hasNoEscapes(bytes, inner, pause);
  return isPlain ? decoded(bytes, inner, pause) : unescaped(bytes, inner, pause);
}

/** Neither a backslash nor a control character, which JSON.parse refuses. */
async function hasNoEscapes(bytes: Buffer, { start, end }: Span, pause: () => Promise<void>): Promise<boolean> {
  for (let at = start; at < end; at += SLICE_BYTES) {
    if (at > start) await pause();
    if (/[\u0000-\u001f\\]/.test(bytes.toString("latin1", at, Math.min(end, at + SLICE_BYTES)))) return false;
  }
  return true;
}

async function decoded(bytes: Buffer, { start, end }: Span, pause: () => Promise<void>): Promise<string> {
  if (isAscii(bytes.subarray(start, end))) return bytes.toString("latin1", start, end);
  const parts: string[] = [];
  for (let at = start; at < end; ) {
    const next = at + SLICE_BYTES >= end ? end : beforeCharacter(bytes, at + SLICE_BYTES);
    parts.push(bytes.toString("utf8", at, next));
    at = next;
    await pause();
  }
  return parts.join("");
}

async function unescaped(bytes: Buffer, { start, end }: Span, pause: () => Promise<void>): Promise<string> {
  const parts: string[] = [];
  for (let at = start; at < end; ) {
    const next = at + ESCAPED_BYTES >= end ? end : beforeEscape(bytes, at, at + ESCAPED_BYTES);
    parts.push(JSON.parse(`"${bytes.toString("utf8", at, next)}"`) as string);
    at = next;
    await pause();
  }
  return parts.join("");
}

/** The start of the character that the byte at an offset belongs to. */
function beforeCharacter(bytes: Buffer, end: number): number {
  let at = end;
  while (((bytes[at] as number) & 0xc0) === 0x80) at--;
  return at;
}

/** The end of a slice from `from`: about `end`, or the start of an escape that it would split. */
function beforeEscape(bytes: Buffer, from: number, end: number): number {
  for (let at = end - 1; at > end - 6; at--) {
    if (bytes[at] !== BACKSLASH) continue;
    let first = at;
    while (first > from && bytes[first - 1] === BACKSLASH) first--;
    // Backslashes come in pairs; an odd one begins an escape.
    if ((at - first) % 2 === 1) break;
    return at + (bytes[at + 1] === LETTER_U ? 6 : 2) > end ? at : beforeCharacter(bytes, end);
  }
  return beforeCharacter(bytes, end);
}

/** Replaces marks by their values, wherever they are. */
function unmarked(value: unknown, mark: string, values: readonly unknown[]): unknown {
  const holder = { value };
  const waiting: object[] = [holder];
  const markedBy = (one: unknown): boolean => typeof one === "string" && one.startsWith(mark);
  const standsFor = (one: unknown): unknown => values[Number((one as string).slice(mark.length))];
  const replaces = (value: unknown): unknown => {
    if (markedBy(value)) return standsFor(value);
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value) && value.length === 1 && markedBy(value[0])) {
      const list = standsFor(value[0]);
      // The only element of a short list may be a long string.
      if (Array.isArray(list)) return list;
    }
    waiting.push(value);
    return undefined;
  };
  for (let container = waiting.pop(); container !== undefined; container = waiting.pop()) {
    if (Array.isArray(container)) {
      // By index: a list of a million numbers needs no list of its indices.
      for (let index = 0; index < container.length; index++) {
        const other = replaces(container[index]);
        if (other !== undefined) container[index] = other;
      }
      continue;
    }
    for (const key of Object.keys(container)) {
      const other = replaces((container as Record<string, unknown>)[key]);
      // Plain assignment would lose a member called `__proto__`.
      if (other !== undefined)
        Object.defineProperty(container, key, { value: other, writable: true, enumerable: true, configurable: true });
    }
  }
  return holder.value;
}
