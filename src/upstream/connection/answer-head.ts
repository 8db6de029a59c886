// Reads the head of an HTTP/1.1 answer. It is strict, since an answer that two programs read differently lets one answer pass for
// another: what is not exactly of the protocol (RFC 9110, RFC 9112) is an error.

import { BrokenAnswer } from "./failures.ts";

/** How the end of a body is found: after a number of bytes, by its chunks, or by the end of the connection. */
export type Framing = number | "chunked" | "close";

/** The head of an answer. */
export interface AnswerHead {
  readonly status: number;
  /** The names (in lower case) and values, one after the other, in the order in which they were sent. */
  readonly fields: readonly string[];
  readonly framing: Framing;
  /** Whether the connection may be used again after this answer. */
  readonly isPersistent: boolean;
  /** After how many seconds the server closes the connection when it is idle, if it says so. */
  readonly idleSeconds: number | undefined;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const DIGITS = /^\d{1,15}$/;
/** Maximum number of fields; real answers have a few dozen. */
const FIELDS_MAX = 256;
/** The names that occurred, in lower case. They are few; above this number they are made up by a server. */
const NAMES_MAX = 500;
const names = new Map<string, string>();

/** Reads the head, without the empty line at its end, for a request with this method. Throws `BrokenAnswer`. */
export function parseAnswerHead(text: string, method: string): AnswerHead {
  const lines = text.split("\r\n");
  const start = STATUS_LINE.exec(lines[0] as string);
  if (start === null) throw new BrokenAnswer("The answer does not begin like HTTP/1.1.");
  if (lines.length - 1 > FIELDS_MAX) throw new BrokenAnswer("The answer has too many headers.");
  const fields: string[] = [];
  let length: string | undefined;
  let coding: string | undefined;
  let connection = "";
  let keepAlive = "";
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at] as string;
    const colon = line.indexOf(":");
    const name = nameOf(line.slice(0, Math.max(colon, 0)));
    const value = withoutSpace(line, colon + 1);
    if (!VALUE.test(value)) throw new BrokenAnswer("A header of the answer has a control character.");
    fields.push(name, value);
    if (name === "content-length") {
      if (!DIGITS.test(value) || (length !== undefined && length !== value))
        throw new BrokenAnswer("The length of the answer is not one number.");
      length = value;
    } else if (name === "transfer-encoding") coding = coding === undefined ? value : `${coding}, ${value}`;
    else if (name === "connection") connection += `,${value.toLowerCase()}`;
    else if (name === "keep-alive") keepAlive = value;
  }
  const status = Number(start[2]);
  const isOld = start[1] === "0";
  const framing = framingOf({ status, method, isOld, length, coding });
  return {
    status,
    fields,
    framing,
    isPersistent: framing !== "close" && !isOld && (connection === "" || !/[,\s]close(?=[,\s]|$)/.test(connection)),
    idleSeconds: keepAlive === "" ? undefined : idleSecondsOf(keepAlive),
  };
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

/** The name of a field in lower case. Throws for a name with other characters, and so for a line that continues another. */
function nameOf(raw: string): string {
  const known = names.get(raw);
  if (known !== undefined) return known;
  if (!NAME.test(raw)) throw new BrokenAnswer("A header of the answer has no valid name.");
  const name = raw.toLowerCase();
  if (names.size < NAMES_MAX) names.set(raw, name);
  return name;
}

interface Delimiters {
  readonly status: number;
  readonly method: string;
  readonly isOld: boolean;
  readonly length: string | undefined;
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
  return length === undefined ? "close" : Number(length);
}

function idleSecondsOf(value: string): number | undefined {
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?=[\s,;]|$)/i.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}
