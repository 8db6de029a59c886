// JSON of tool arguments: detects early whether fragments are still a prefix of valid JSON, and repairs the most common
// damage: truncation, trailing commas, single quotes, code fences, unquoted words. Refuses anything else.

import { isNestedDeeper, JSON_LEVELS_MAX } from "./json-depth.ts";
import { entryOf } from "./json-object.ts";
import { topLevelMembers } from "./json-splice.ts";
import { lookUp } from "./look-up.ts";

type Mode =
  | "value"
  | "string"
  | "escape"
  | "unicode"
  | "number"
  | "word"
  | "key-or-end"
  | "key"
  | "colon"
  | "comma-or-end"
  | "end";

const NUMBER_CHARS = "0123456789+-.eE";
const NUMBER_WHOLE = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NUMBER_PREFIX = /^-?(?:0|[1-9]\d*)?(?:(?<=\d)\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?$/;
const TWO_DIGITS = /\d\d$/;
const WORDS = ["true", "false", "null"];

/** Deeper nesting is refused; no tool schema comes near it, and it bounds memory. */
const DEPTH_MAX = 512;

/** An incremental JSON checker: given fragments, it knows whether they are a prefix of one valid JSON text (RFC 8259). */
export class JsonPrefix {
  #mode: Mode = "value";
  #stack: ("{" | "[")[] = [];
  /** Where the open objects and lists begin, and the last key. */
  #starts: number[] = [];
  #keyAt = 0;
  /** Number of characters of earlier fragments. */
  #before = 0;
  #token = "";
  #inKey = false;
  #emptyAllowed = false;
  #hexLeft = 0;
  #valid = true;

  /** Takes a fragment; true while everything so far can still become valid JSON. Once false it stays false. */
  push(text: string): boolean {
    for (let i = 0; i < text.length && this.#valid; i++) {
      if (this.#mode === "string") {
        i = this.#skipPlain(text, i);
        if (i >= text.length) break;
      }
      if (!this.#step(text[i] as string, this.#before + i)) this.#valid = false;
    }
    this.#before += text.length;
    return this.#valid;
  }

  /** Whether the fragments are one complete JSON value. */
  get complete(): boolean {
    if (!this.#valid || this.#stack.length > 0) return false;
    return this.#mode === "end" || (this.#mode === "number" && NUMBER_WHOLE.test(this.#token));
  }

  /**
   * The text that completes a valid prefix by closing what is open (a truncated answer); undefined if it was invalid. `text`
   * is all fragments: a truncated key is not taken for an earlier one, whose value would be lost.
   */
  closing(text: string): string | undefined {
    if (!this.#valid) return undefined;
    const closers = this.#stack.map((open) => entryOf(CLOSERS, open)).reverse();
    return this.#closeToken(text) + closers.join("");
  }

  #closeToken(text: string): string {
    switch (this.#mode) {
      case "value":
        if (this.#emptyAllowed) return "";
        return this.#stack.length === 0 ? "{}" : "null";
      case "string":
      case "escape":
      case "unicode":
        return this.#endOfEscape() + (this.#inKey ? `${this.#ownName(text)}":null` : '"');
      case "number":
        return NUMBER_WHOLE.test(this.#token) ? "" : "0";
      case "word":
        return (WORDS.find((word) => word.startsWith(this.#token)) ?? "").slice(this.#token.length);
      case "key":
        return `"${this.#ownName(text)}":null`;
      case "colon":
        return ":null";
      default:
        return "";
    }
  }

  #endOfEscape(): string {
    if (this.#mode === "escape") return "\\";
    return this.#mode === "unicode" ? "0".repeat(this.#hexLeft) : "";
  }

  /** Completes a truncated or missing key so that it differs from the keys of its object. */
  #ownName(text: string): string {
    const start = this.#mode === "key" ? text.length : this.#keyAt;
    const name = JSON.parse(`${text.slice(start) || '"'}${this.#endOfEscape()}"`) as string;
    const taken = topLevelMembers(text.slice(0, start), this.#starts.at(-1));
    let added = "";
    while (taken.has(name + added)) added += "_";
    return added;
  }

  /** Offset of the next character of a string that needs handling. */
  #skipPlain(text: string, from: number): number {
    let i = from;
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === 34 || code === 92 || code < 32) break;
    }
    return i;
  }

  #step(char: string, at: number): boolean {
    switch (this.#mode) {
      case "string":
        if (char === '"') this.#mode = this.#inKey ? "colon" : this.#after();
        else if (char === "\\") this.#mode = "escape";
        else if (char < " ") return false;
        return true;
      case "escape":
        if (char === "u") {
          this.#hexLeft = 4;
          this.#mode = "unicode";
          return true;
        }
        this.#mode = "string";
        return '"\\/bfnrt'.includes(char);
      case "unicode":
        if (!/[0-9a-fA-F]/.test(char)) return false;
        if (--this.#hexLeft === 0) this.#mode = "string";
        return true;
      case "number":
        if (NUMBER_CHARS.includes(char)) {
          // A third digit in a row changes nothing: a broken model may repeat digits endlessly, and each would test all before it.
          if (TWO_DIGITS.test(this.#token) && char >= "0" && char <= "9") return true;
          this.#token += char;
          return NUMBER_PREFIX.test(this.#token);
        }
        if (!NUMBER_WHOLE.test(this.#token)) return false;
        this.#mode = this.#after();
        return this.#step(char, at);
      case "word":
        this.#token += char;
        if (WORDS.includes(this.#token)) this.#mode = this.#after();
        return WORDS.some((word) => word.startsWith(this.#token));
      default:
        return char === " " || char === "\n" || char === "\t" || char === "\r" || this.#structure(char, at);
    }
  }

  #structure(char: string, at: number): boolean {
    switch (this.#mode) {
      case "value":
        if (char === "]" && this.#emptyAllowed) return this.#close("[");
        this.#emptyAllowed = false;
        return this.#startValue(char, at);
      case "key-or-end":
        if (char === "}") return this.#close("{");
        return this.#startKey(char, at);
      case "key":
        return this.#startKey(char, at);
      case "colon":
        this.#mode = "value";
        this.#inKey = false;
        return char === ":";
      case "comma-or-end":
        if (char === ",") {
          this.#mode = this.#stack.at(-1) === "{" ? "key" : "value";
          return true;
        }
        return char === "}" ? this.#close("{") : char === "]" && this.#close("[");
      default:
        return false;
    }
  }

  #startKey(char: string, at: number): boolean {
    this.#keyAt = at;
    this.#inKey = true;
    this.#mode = "string";
    return char === '"';
  }

  #startValue(char: string, at: number): boolean {
    if (char === "{" || char === "[") {
      this.#stack.push(char);
      this.#starts.push(at);
      this.#emptyAllowed = char === "[";
      this.#mode = char === "{" ? "key-or-end" : "value";
      return this.#stack.length <= DEPTH_MAX;
    }
    if (char === '"') {
      this.#inKey = false;
      this.#mode = "string";
      return true;
    }
    this.#token = char;
    if (char === "-" || (char >= "0" && char <= "9")) this.#mode = "number";
    else this.#mode = "word";
    return this.#mode === "number" || WORDS.some((word) => word.startsWith(char));
  }

  #close(open: "{" | "["): boolean {
    if (this.#stack.pop() !== open) return false;
    this.#starts.pop();
    this.#emptyAllowed = false;
    this.#mode = this.#after();
    return true;
  }

  #after(): Mode {
    return this.#stack.length === 0 ? "end" : "comma-or-end";
  }
}

/** Whether the text is one valid JSON value. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Argument text as valid JSON: the text itself if it is valid, `{}` if it is empty, the repaired text if the damage is of a
 * known kind, else undefined.
 */
export function repairJson(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return "{}";
  // A string within a request: its nesting does not count towards the request's.
  if (isNestedDeeper(trimmed, JSON_LEVELS_MAX)) return undefined;
  if (isJson(text)) return text;
  // JSON allows four kinds of white space; Unicode has many more, and the byte order mark.
  if (isJson(trimmed)) return trimmed;
  const opened = trimmed.replace(/^```[a-zA-Z]*\s*/, "");
  const bare = opened.endsWith("```") ? opened.slice(0, -3).trimEnd() : opened;
  if (isJson(bare)) return bare;
  // Several concatenated JSON values (`{}{"a":1}`, which occurs if a start frame contains `{}`).
  if (bare.startsWith("{}") && isJson(bare.slice(2))) return bare.slice(2);
  const repaired = repair(bare);
  if (repaired !== undefined && isJson(repaired)) return repaired;
  // Truncated where repairing would leave half a member: the text is kept unchanged.
  const prefix = new JsonPrefix();
  prefix.push(bare);
  const closing = prefix.closing(bare);
  return closing === undefined ? undefined : bare + closing;
}

/** The value of the same text; undefined if there is none. A text that needs no repair, as nearly all, is parsed once. */
export function repairedValue(text: string): unknown {
  if (!isNestedDeeper(text, JSON_LEVELS_MAX)) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      // It is repaired below.
    }
  }
  const repaired = repairJson(text);
  return repaired === undefined ? undefined : (JSON.parse(repaired) as unknown);
}

const CLOSERS: Readonly<Record<string, string>> = { "{": "}", "[": "]" };
const BARE_WORDS: Readonly<Record<string, string>> = {
  True: "true",
  False: "false",
  None: "null",
  undefined: "null",
  NaN: "null",
};

/**
 * Scans the text once, rewriting quotes, unquoted words, control characters and trailing commas, and closing what is open.
 * Takes linear time whatever the text: a broken model may repeat anything endlessly.
 */
function repair(text: string): string | undefined {
  const stack: string[] = [];
  const out: string[] = [];
  /** Where `out` has a comma followed only by white space. */
  let comma: number | undefined;
  let i = 0;
  while (i < text.length) {
    const char = text[i] as string;
    if (isSpace(char) || char === ",") {
      if (char === ",") comma = out.length;
      out.push(char === "," ? char : plainSpace(char));
      i++;
      continue;
    }
    if ((char === "}" || char === "]") && comma !== undefined) out.length = comma;
    comma = undefined;
    if (char === '"' || char === "'") {
      const [string, next] = mendString(text, i, char);
      out.push(string);
      i = next;
    } else if (char === "{" || char === "[") {
      if (stack.length >= DEPTH_MAX) return undefined;
      stack.push(char);
      out.push(char);
      i++;
    } else if (char === "}" || char === "]") {
      if (entryOf(CLOSERS, stack.pop() ?? "") !== char) return undefined;
      out.push(char);
      i++;
    } else {
      const word = /^[A-Za-z_$][\w$]*/.exec(text.slice(i, i + 64))?.[0];
      if (word === undefined) {
        out.push(char);
        i++;
      } else {
        const isKey = /^\s*:/.test(text.slice(i + word.length, i + word.length + 16));
        out.push(isKey ? JSON.stringify(word) : (lookUp(BARE_WORDS, word) ?? word));
        i += word.length;
      }
    }
  }
  if (stack.length > 0) closeTail(out);
  for (let open = stack.pop(); open !== undefined; open = stack.pop()) out.push(entryOf(CLOSERS, open) as string);
  return out.join("");
}

/** A truncated end: completes a dangling comma, colon or key. */
function closeTail(out: string[]): void {
  while (out.length > 0 && (out.at(-1) === "," || isSpace(out.at(-1) as string))) out.pop();
  if (out.at(-1) === ":") out.push("null");
}

function isSpace(char: string): boolean {
  return char.trim() === "";
}

/** White space that JSON knows. */
function plainSpace(char: string): string {
  return " \n\r\t".includes(char) ? char : " ";
}

function mendString(text: string, at: number, quote: string): [string, number] {
  let body = "";
  let i = at + 1;
  for (; i < text.length; i++) {
    const char = text[i] as string;
    if (char === quote) return [`"${body}"`, i + 1];
    if (char === "\\") {
      const next = text[i + 1];
      if (next === undefined) break;
      if (next === "'") body += "'";
      else if (next === "u" && !/^[0-9a-fA-F]{4}/.test(text.slice(i + 2, i + 6))) {
        if (i + 6 > text.length) return [`"${body}"`, text.length];
        body += "\\\\u";
      } else body += '"\\/bfnrtu'.includes(next) ? char + next : `\\\\${next}`;
      i++;
    } else if (char === '"') body += '\\"';
    else body += char < " " ? JSON.stringify(char).slice(1, -1) : char;
  }
  return [`"${body}"`, i];
}
