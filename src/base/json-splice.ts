// Edits top-level members of a JSON object as text, so that everything else keeps its bytes: unknown fields, numbers that
// parsing would round, key order, escapes. The text must be valid JSON.

/** The position of a top-level member. */
export interface MemberSpan {
  /** Offset of the key's opening quote. */
  keyStart: number;
  valueStart: number;
  /** Offset just after the value. */
  valueEnd: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/** Offset after the string whose opening quote is at `at`. Jumps from quote to quote, so megabytes of base64 cost little. */
export function stringEnd(text: string, at: number): number {
  let quote = at;
  for (;;) {
    quote = text.indexOf('"', quote + 1);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
}

function skipSpace(text: string, at: number): number {
  // Compact texts have none.
  if (text.charCodeAt(at) > 32) return at;
  let i = at;
  while (isSpace(text.charCodeAt(i))) i++;
  return i;
}

/** Offset after the JSON value that starts at `at`. */
function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return stringEnd(text, at);
  if (first !== 123 && first !== 91) {
    let i = at;
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === 44 || code === 125 || code === 93 || isSpace(code)) break;
    }
    return i;
  }
  let depth = 0;
  // Few texts have any.
  let numbers: NumberLists | undefined;
  for (let i = at; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = stringEnd(text, i) - 1;
    else if (code === 91 && isNumeric(text.charCodeAt(i + 1))) {
      depth++;
      numbers ??= new NumberLists(text);
      i = numbers.endOf(i);
    } else if (code === 123 || code === 91) depth++;
    else if ((code === 125 || code === 93) && --depth === 0) return i + 1;
  }
  return text.length;
}

function isNumeric(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 45;
}

/** Skips lists of numbers, such as vectors, thousands of characters at a time. */
class NumberLists {
  readonly #text: string;
  // The next position of each character. It is searched for again only when it has been passed, so the text is scanned
  // once for each character.
  #close = -1;
  #open = -1;
  #quote = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Offset just before the end of the list if it contains neither strings nor lists; otherwise `at`, the offset of its
   * bracket.
   */
  endOf(at: number): number {
    if (this.#close <= at) this.#close = this.#next("]", at);
    if (this.#open <= at) this.#open = this.#next("[", at);
    if (this.#quote <= at) this.#quote = this.#next('"', at);
    return this.#close < this.#open && this.#close < this.#quote ? this.#close - 1 : at;
  }

  #next(character: string, at: number): number {
    const found = this.#text.indexOf(character, at + 1);
    return found < 0 ? Number.POSITIVE_INFINITY : found;
  }
}

/**
 * The top-level members of a JSON object text, in order; a repeated key occurs repeatedly. `from` is the offset of `{`; with
 * `only`, just the members with these names.
 */
export function topLevelMembers(
  text: string,
  from = 0,
  only?: Readonly<Record<string, unknown>>,
): Map<string, MemberSpan[]> {
  const members = new Map<string, MemberSpan[]>();
  for (const { key, ...span } of spansOf(text, from, only)) {
    const spans = members.get(key);
    if (spans === undefined) members.set(key, [span]);
    else spans.push(span);
  }
  return members;
}

interface NamedSpan extends MemberSpan {
  readonly key: string;
}

/** The top-level members in order. */
function spansOf(text: string, from: number, only: Readonly<Record<string, unknown>> | undefined): NamedSpan[] {
  const spans: NamedSpan[] = [];
  let i = skipSpace(text, from) + 1;
  for (;;) {
    i = skipSpace(text, i);
    if (text.charCodeAt(i) !== QUOTE) return spans;
    const keyStart = i;
    const keyEnd = stringEnd(text, i);
    const raw = text.slice(keyStart + 1, keyEnd - 1);
    const key = raw.includes("\\") ? (JSON.parse(text.slice(keyStart, keyEnd)) as string) : raw;
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = valueEnd(text, valueStart);
    if (only === undefined || Object.hasOwn(only, key)) spans.push({ key, keyStart, valueStart, valueEnd: end });
    i = skipSpace(text, end);
    if (text.charCodeAt(i) !== 44) return spans;
    i++;
  }
}

/** The positions of the elements of a JSON array text; `from` is the offset of `[`. */
export function arrayElements(text: string, from: number): { start: number; end: number }[] {
  const elements: { start: number; end: number }[] = [];
  let i = skipSpace(text, from + 1);
  while (i < text.length && text.charCodeAt(i) !== 93) {
    const end = valueEnd(text, i);
    elements.push({ start: i, end });
    i = skipSpace(text, end);
    if (text.charCodeAt(i) === 44) i = skipSpace(text, i + 1);
  }
  return elements;
}

/**
 * Sets and removes top-level members of a JSON object text: undefined removes, anything else replaces the old value or is
 * appended as the last member. Everything else keeps its bytes. `parsed`: exactly what the text says, which mostly saves a walk through it.
 */
export function spliceMembers(
  text: string,
  members: Readonly<Record<string, unknown>>,
  parsed?: Readonly<Record<string, unknown>>,
): string {
  const names = Object.keys(members);
  return (parsed && replaced(text, names, { members, parsed })) ?? spliced(text, names, members);
}

/**
 * The text with other values for members that it has; undefined if one is new or to be removed, or if its name may occur elsewhere too,
 * as a key or a value.
 */
function replaced(
  text: string,
  names: readonly string[],
  { members, parsed }: Readonly<Record<"members" | "parsed", Readonly<Record<string, unknown>>>>,
): string | undefined {
  if (names.length > SOUGHT_NAMES_MAX || text.includes("\\u")) return undefined;
  let out = "";
  let copied = 0;
  for (const name of names) {
    const value = members[name];
    if (value === undefined || !Object.hasOwn(parsed, name)) return undefined;
    const quoted = quotedWord(name);
    const key = quoted === undefined ? -1 : soleIndex(text, quoted);
    // The walk finds members that stand in another order than the names.
    if (key < copied) return undefined;
    const start = valueAfter(text, key + name.length + 2);
    if (start === undefined) return undefined;
    out += text.slice(copied, start) + jsonOf(value);
    copied = valueEnd(text, start);
  }
  return out + text.slice(copied);
}

/** The offset of the value of a key that ends at `keyEnd`; undefined if it is no key. */
function valueAfter(text: string, keyEnd: number): number | undefined {
  const colon = skipSpace(text, keyEnd);
  return text.charCodeAt(colon) === COLON ? skipSpace(text, colon + 1) : undefined;
}

/** The only position of a text within another; -1 if there are none or several. */
function soleIndex(text: string, sought: string): number {
  const at = text.indexOf(sought);
  return at < 0 || text.includes(sought, at + sought.length) ? -1 : at;
}

/**
 * The position of the text of a key's value, without its quotes, in a JSON text in which some object has that key with a text; undefined
 * if it may be another one's, and has to be looked for.
 */
export function soleText(text: string, key: string): { start: number; end: number } | undefined {
  const at = soleIndex(text, `"${key}"`);
  if (at < 0) return undefined;
  const quote = valueAfter(text, at + key.length + 2);
  if (quote === undefined || text.charCodeAt(quote) !== QUOTE) return undefined;
  const [start, end] = [quote + 1, stringEnd(text, quote) - 1];
  // A key may be spelled with escapes.
  const spelled = text.indexOf("\\u");
  const isOutside = spelled >= 0 && (spelled < start || text.includes("\\u", end));
  return isOutside ? undefined : { start, end };
}

function spliced(text: string, names: readonly string[], members: Readonly<Record<string, unknown>>): string {
  // The positions in `names` of those that were found.
  const found: number[] = [];
  let out = "";
  let copied = 0;
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = stringEnd(text, at);
    const which = keyAmong(names, text, at, keyEnd);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = valueEnd(text, start);
    if (which >= 0) {
      const value = members[names[which] as string];
      if (value === undefined || found.includes(which)) return rebuilt(text, topLevelMembers(text), members);
      found.push(which);
      out += text.slice(copied, start) + jsonOf(value);
      copied = end;
      if (found.length === names.length && isLast(names, text, end)) return out + text.slice(end);
    }
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== COMMA) break;
    at = skipSpace(text, at + 1);
  }
  let appended = "";
  for (let which = 0; which < names.length; which++) {
    const name = names[which] as string;
    if (members[name] === undefined || found.includes(which)) continue;
    appended += `,${jsonOf(name)}:${jsonOf(members[name])}`;
  }
  if (appended === "") return out + text.slice(copied);
  const close = text.lastIndexOf("}");
  out += text.slice(copied, close);
  const isEmpty = skipSpace(text, text.indexOf("{") + 1) === close;
  return out + (isEmpty ? appended.slice(1) : appended) + text.slice(close);
}

/** Whether none of the keys can occur at or after an offset, however they are written: letters of a key may be escaped. */
function isLast(names: readonly string[], text: string, from: number): boolean {
  // What is looked for stands mostly at the beginning, and a long text is not searched once for each name.
  if (names.length > SOUGHT_NAMES_MAX || text.includes("\\u", from)) return false;
  for (const name of names) {
    const quoted = quotedWord(name);
    if (quoted === undefined || text.includes(quoted, from)) return false;
  }
  return true;
}

const SOUGHT_NAMES_MAX = 4;
/** A name that JSON writes as it is, or with `\u`. */
const WORD = /^\w+$/;
/** Few names are ever sought; above this number they come from data and are forgotten. */
const QUOTED_MAX = 100;
const quotedWords = new Map<string, string | undefined>();

/** The name in quotes; undefined if it is no such word. */
function quotedWord(name: string): string | undefined {
  let quoted = quotedWords.get(name);
  if (quoted === undefined && !quotedWords.has(name)) {
    if (quotedWords.size >= QUOTED_MAX) quotedWords.clear();
    quoted = WORD.test(name) ? JSON.stringify(name) : undefined;
    quotedWords.set(name, quoted);
  }
  return quoted;
}

/** The position in `names` of the key whose quotes are at `start` and before `end`; -1 if it is none of them. */
function keyAmong(names: readonly string[], text: string, start: number, end: number): number {
  for (let at = start + 1; at < end; at++) {
    if (text.charCodeAt(at) === BACKSLASH) return names.indexOf(JSON.parse(text.slice(start, end)) as string);
  }
  const length = end - start - 2;
  for (let which = 0; which < names.length; which++) {
    const name = names[which] as string;
    if (name.length === length && text.startsWith(name, start + 1)) return which;
  }
  return -1;
}

/** Ids and names of models, which are nearly all that is set. */
const PLAIN = /^[\w\-.:/]{0,100}$/;

function jsonOf(value: unknown): string {
  return typeof value === "string" && PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
}

/** The rare case of removed members: the others keep their bytes, the white space between members does not. */
function rebuilt(text: string, spans: Map<string, MemberSpan[]>, members: Readonly<Record<string, unknown>>): string {
  const kept: { at: number; put: string }[] = [];
  for (const [key, found] of spans) {
    // JSON.parse uses the last of repeated keys; the others are removed, in case an upstream uses another one.
    const span = found.at(-1);
    if (span === undefined) continue;
    if (!Object.hasOwn(members, key)) kept.push({ at: span.keyStart, put: text.slice(span.keyStart, span.valueEnd) });
    else if (members[key] !== undefined) {
      kept.push({ at: span.keyStart, put: text.slice(span.keyStart, span.valueStart) + JSON.stringify(members[key]) });
    }
  }
  kept.sort((a, b) => a.at - b.at);
  const parts = kept.map((member) => member.put);
  for (const [key, value] of Object.entries(members)) {
    if (value !== undefined && !spans.has(key)) parts.push(`${JSON.stringify(key)}:${JSON.stringify(value)}`);
  }
  return `{${parts.join(",")}}`;
}
