// Reads the head of an HTTP/1.1 answer. It is strict, since an answer that two programs read differently lets one answer pass for
// another: what is not exactly of the protocol (RFC 9110, RFC 9112) is an error.
//
// Nearly all fields of nearly all answers are never read, so the bytes are checked as they are, and texts are only made of the
// few fields that say where the answer ends, and of the others once somebody asks.

import { BrokenAnswer } from "./failures.ts";

/** How the end of a body is found: after a number of bytes, by its chunks, or by the end of the connection. */
export type Framing = number | "chunked" | "close";

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const LENGTH_DIGITS_MAX = 15;
/** Maximum number of fields; real answers have a few dozen. */
const FIELDS_MAX = 256;
/** The names that occurred, in lower case. They are few; above this number they are made up by a server. */
const NAMES_MAX = 500;
const names = new Map<string, string>();

interface StatusLine {
  readonly status: number;
  readonly isOld: boolean;
}

/** The status line that was read last: nearly all answers begin alike. */
let lastLine: { readonly bytes: Buffer; readonly read: StatusLine } | undefined;

/** What each byte may be part of. */
const NAME = 1;
const VALUE = 2;
const KINDS = new Uint8Array(256);
for (const char of "!#$%&'*+.^_`|~0123456789-") KINDS[char.charCodeAt(0)] = NAME;
for (let letter = 0; letter < 26; letter++) {
  KINDS[65 + letter] = NAME;
  KINDS[97 + letter] = NAME;
}
for (let byte = 0; byte < 256; byte++) {
  if (byte === 9 || (byte >= 0x20 && byte <= 0x7e) || byte >= 0x80) KINDS[byte] = (KINDS[byte] ?? 0) | VALUE;
}
const CR = 13;
const LF = 10;
const COLON = 58;
const ZERO = 48;
/** The bit in which upper and lower case differ. */
const CASE = 0x20;

/** The fields that are read while the head is checked. */
const LENGTH = Buffer.from("content-length");
const CODING = Buffer.from("transfer-encoding");
const CONNECTION = Buffer.from("connection");
const KEEP_ALIVE = Buffer.from("keep-alive");
const ENCODING = Buffer.from("content-encoding");

/** The head of an answer. */
export class AnswerHead {
  readonly status: number;
  readonly framing: Framing;
  /** Whether the connection may be used again after this answer. */
  readonly isPersistent: boolean;
  /** After how many seconds the server closes the connection when it is idle, if it says so. */
  readonly idleSeconds: number | undefined;
  /** The value of the first `Content-Encoding`. */
  readonly encoding: string | undefined;
  readonly #place: HeadPlace;
  #fields: readonly string[] | undefined;

  constructor({ status, isOld }: StatusLine, said: SaidOfFraming, method: string, place: HeadPlace) {
    const { length, coding, connection, keepAlive, encoding } = said;
    this.status = status;
    this.framing = framingOf({ status, method, isOld, length, coding });
    this.isPersistent =
      this.framing !== "close" && !isOld && (connection === "" || !/[,\s]close(?=[,\s]|$)/.test(connection));
    this.idleSeconds = keepAlive === "" ? undefined : idleSecondsOf(keepAlive);
    this.encoding = encoding;
    this.#place = place;
  }

  /** The names (in lower case) and values, one after the other, in the order in which they were sent. */
  get fields(): readonly string[] {
    const { bytes, start, end } = this.#place;
    this.#fields ??= fieldsOf(bytes.toString("latin1", start, end));
    return this.#fields;
  }
}

/** Where a head stands in what was received. */
interface HeadPlace {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** What the fields of a head say of its body and its connection. */
interface SaidOfFraming {
  length: number | undefined;
  /** With how many digits the length is written. */
  digits: number;
  coding: string | undefined;
  connection: string;
  keepAlive: string;
  encoding: string | undefined;
}

/** Finds the end of a head: the position of the empty line after it, or -1. */
export function headEndOf(bytes: Buffer, from: number): number {
  // Most bytes are part of no line end, so that only one of four is looked at.
  for (let at = from + 3; at < bytes.length; ) {
    const byte = bytes[at];
    if (byte !== LF && byte !== CR) at += 4;
    else if (byte === LF && bytes[at - 1] === CR && bytes[at - 2] === LF && bytes[at - 3] === CR) return at - 3;
    else at++;
  }
  return -1;
}

/** Reads the head between two positions, without the empty line at its end, for a request with this method. Throws `BrokenAnswer`. */
export function parseAnswerHead(bytes: Buffer, start: number, end: number, method: string): AnswerHead {
  let at = lineEndOf(bytes, start, end);
  const first = statusLineOf(bytes, start, at);
  const framing: SaidOfFraming = {
    length: undefined,
    digits: 0,
    coding: undefined,
    connection: "",
    keepAlive: "",
    encoding: undefined,
  };
  for (let count = 0; at < end; count++) {
    if (count === FIELDS_MAX) throw new BrokenAnswer("The answer has too many headers.");
    at = readField(bytes, at + 2, end, framing);
  }
  return new AnswerHead(first, framing, method, { bytes, start, end });
}

/** The position of the next line end, or `end`. */
function lineEndOf(bytes: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && !(bytes[at] === CR && bytes[at + 1] === LF)) at++;
  return at;
}

function statusLineOf(bytes: Buffer, start: number, end: number): StatusLine {
  if (lastLine !== undefined && holds(bytes, start, end, lastLine.bytes)) return lastLine.read;
  const line = bytes.toString("latin1", start, end);
  const found = STATUS_LINE.exec(line);
  if (found === null) throw new BrokenAnswer("The answer does not begin like HTTP/1.1.");
  const read = { status: Number(found[2]), isOld: found[1] === "0" };
  lastLine = { bytes: Buffer.from(line, "latin1"), read };
  return read;
}

/** Whether the bytes between two positions are these. */
function holds(bytes: Buffer, start: number, end: number, wanted: Buffer): boolean {
  if (end - start !== wanted.length) return false;
  for (let at = 0; at < wanted.length; at++) if (bytes[start + at] !== wanted[at]) return false;
  return true;
}

/** Checks the field that begins at a position, and returns the position of the line end after it. */
function readField(bytes: Buffer, from: number, end: number, framing: SaidOfFraming): number {
  let at = from;
  while (at < end && ((KINDS[bytes[at] as number] as number) & NAME) !== 0) at++;
  // This also refuses a line that continues another.
  if (at === from || at === end || bytes[at] !== COLON)
    throw new BrokenAnswer("A header of the answer has no valid name.");
  const colon = at++;
  while (at < end && ((KINDS[bytes[at] as number] as number) & VALUE) !== 0) at++;
  if (at < end && !(bytes[at] === CR && bytes[at + 1] === LF))
    throw new BrokenAnswer("A header of the answer has a control character.");
  note(framing, bytes, { from, colon, to: at });
  return at;
}

interface Place {
  readonly from: number;
  readonly colon: number;
  readonly to: number;
}

/** Keeps the value of a field that says something of the body or the connection. */
function note(framing: SaidOfFraming, bytes: Buffer, { from, colon, to }: Place): void {
  switch (colon - from) {
    case 14:
      if (isNamed(bytes, from, LENGTH)) noteLength(framing, bytes, colon + 1, to);
      return;
    case 17: {
      if (!isNamed(bytes, from, CODING)) return;
      const value = textOf(bytes, colon, to);
      framing.coding = framing.coding === undefined ? value : `${framing.coding}, ${value}`;
      return;
    }
    case 10:
      if (isNamed(bytes, from, CONNECTION)) framing.connection += optionsOf(bytes, colon, to);
      else if (isNamed(bytes, from, KEEP_ALIVE)) framing.keepAlive = textOf(bytes, colon, to);
      return;
    case 16:
      if (isNamed(bytes, from, ENCODING)) framing.encoding ??= textOf(bytes, colon, to);
  }
}

/** The options of a connection; none for what holds anyway. */
function optionsOf(bytes: Buffer, colon: number, to: number): string {
  return holds(bytes, colon + 2, to, KEEP_ALIVE) ? "" : `,${textOf(bytes, colon, to).toLowerCase()}`;
}

function noteLength(framing: SaidOfFraming, bytes: Buffer, from: number, to: number): void {
  let at = from;
  let end = to;
  while (at < end && isSpace(bytes[at] as number)) at++;
  while (at < end && isSpace(bytes[end - 1] as number)) end--;
  const digits = end - at;
  let length = digits === 0 || digits > LENGTH_DIGITS_MAX ? Number.NaN : 0;
  for (; at < end; at++) {
    const digit = (bytes[at] as number) - ZERO;
    length = digit >= 0 && digit <= 9 ? length * 10 + digit : Number.NaN;
  }
  const isOther = framing.length !== undefined && (framing.length !== length || framing.digits !== digits);
  if (Number.isNaN(length) || isOther) throw new BrokenAnswer("The length of the answer is not one number.");
  framing.length = length;
  framing.digits = digits;
}

/** Whether a name that has the right length is this one. No two characters of names differ in the bit of the case only, but letters. */
function isNamed(bytes: Buffer, from: number, name: Buffer): boolean {
  for (let at = 0; at < name.length; at++) if (((bytes[from + at] as number) | CASE) !== name[at]) return false;
  return true;
}

function textOf(bytes: Buffer, colon: number, to: number): string {
  return withoutSpace(bytes.toString("latin1", colon + 1, to), 0);
}

function fieldsOf(text: string): string[] {
  const fields: string[] = [];
  const lines = text.split("\r\n");
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at] as string;
    const colon = line.indexOf(":");
    fields.push(nameOf(line.slice(0, colon)), withoutSpace(line, colon + 1));
  }
  return fields;
}

/** The rest of a line without spaces and tabs at its ends. `trim` also removes other characters. */
function withoutSpace(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isSpace(line.charCodeAt(start))) start++;
  while (start < end && isSpace(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

const isSpace = (code: number) => code === 32 || code === 9;

/** The name of a field in lower case. */
function nameOf(raw: string): string {
  const known = names.get(raw);
  if (known !== undefined) return known;
  const name = raw.toLowerCase();
  if (names.size < NAMES_MAX) names.set(raw, name);
  return name;
}

interface Delimiters {
  readonly status: number;
  readonly method: string;
  readonly isOld: boolean;
  readonly length: number | undefined;
  readonly coding: string | undefined;
}

function framingOf({ status, method, isOld, length, coding }: Delimiters): Framing {
  if (coding !== undefined) {
    // With both, two readers may disagree on where the answer ends.
    if (length !== undefined) throw new BrokenAnswer("The answer states both a length and a transfer coding.");
    if (coding.toLowerCase() !== "chunked" || isOld)
      throw new BrokenAnswer("The transfer coding of the answer is not supported.");
  }
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) return "chunked";
  return length ?? "close";
}

function idleSecondsOf(value: string): number | undefined {
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?=[\s,;]|$)/i.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}
