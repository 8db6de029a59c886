// Formats one log record as one bounded line without secrets: JSON, or text for a terminal. Control characters are escaped,
// so that no value can forge a line or control a terminal. Never throws, whatever the values are.

import { LineRuns } from "./line-runs.ts";
import { isSecretName, REDACTED, type Redact } from "./redact.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Fields beside the message. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface LogRecord {
  timeMs: number;
  level: LogLevel;
  message: string;
  fields: LogFields | undefined;
  /** Further fields, after the others. */
  more?: LogFields | undefined;
}

/** Longer values are truncated. */
const STRING_CHARS_MAX = 4096;
/** How much of a longer value is read before secrets are removed; see `safeText`. */
const STRING_CHARS_READ = 8192;
/** A partial secret at the cut cannot be recognised, so this much of the end is dropped too. */
const CUT_MARGIN_CHARS = 2048;
/** Most log collectors split lines at 16 KiB. */
const LINE_CHARS_MAX = 16_000;
const DEPTH_MAX = 4;
const ENTRIES_MAX = 50;
const STACK_LINES_MAX = 12;
/** Request ids come from clients, so logs cut them off at this length. */
const REQUEST_ID_CHARS_MAX = 200;
const UNREADABLE = "[unreadable]";

const NO_FIELDS: LogFields = {};

/** A member of the lines of requests: its quoted name, and its last text with how the whole member is then written. */
interface KnownMember {
  readonly begin: string;
  readonly isSecret: boolean;
  readonly isRequestId: boolean;
  text: string;
  whole: string;
}

/**
 * What the lines of one redactor have in common. Most values of a request's line are those of the request before: methods, routes,
 * models, providers, accounts. They are looked through for secrets when they change; numbers hold none.
 */
export interface KnownMembers {
  readonly members: Map<string, KnownMember>;
  /** Of the lines of requests, by their paths. */
  readonly runs: Map<unknown, LineRuns>;
}

/** Creates what a redactor's lines have in common, before the first one. */
export function noKnownMembers(): KnownMembers {
  return { members: new Map(), runs: new Map() };
}

/** Above this number of names they come from data and are not kept. */
const MEMBERS_MAX = 200;
/** Above this number of paths they are all forgotten. */
const PATHS_MAX = 16;
/** Longer texts are not kept. */
const KEPT_CHARS_MAX = 200;

/** A JSON line with its newline. `known`: kept from line to line as long as the redactor is the same. */
export function jsonLine(record: LogRecord, redact: Redact, known: KnownMembers = noKnownMembers()): string {
  const message = textMember(known, "msg", record.message, redact);
  const start = `{"time":"${cachedIsoTime(record.timeMs)}","level":"${record.level}",${message}`;
  // The lines of requests alone have further fields.
  const { fields = NO_FIELDS, more } = record;
  const runs = more === undefined ? undefined : runsOf(known, readMember(fields, "path"));
  const line =
    runs === undefined ? undefined : lineInRuns(start, { runs, fields, more: more ?? NO_FIELDS }, redact, known);
  if (line !== undefined && line.length < LINE_CHARS_MAX) return `${line}}\n`;
  return lineOfMembers(start, [fields, more ?? NO_FIELDS], redact, known);
}

function lineOfMembers(start: string, objects: readonly LogFields[], redact: Redact, known: KnownMembers): string {
  let line = start;
  for (const fields of objects) {
    for (const name in fields) {
      const member = memberText(name, readMember(fields, name), redact, known);
      if (member === "") continue;
      if (line.length + member.length >= LINE_CHARS_MAX) return `${line},"truncated":true}\n`;
      line = `${line},${member}`;
    }
  }
  return `${line}}\n`;
}

function runsOf({ runs }: KnownMembers, path: unknown): LineRuns {
  let found = runs.get(path);
  if (found === undefined) {
    if (runs.size >= PATHS_MAX) runs.clear();
    found = new LineRuns();
    runs.set(path, found);
  }
  return found;
}

interface RequestFields {
  readonly runs: LineRuns;
  readonly fields: LogFields;
  readonly more: LogFields;
}

/** The line without its end, of any length. */
function lineInRuns(start: string, request: RequestFields, redact: Redact, known: KnownMembers): string {
  const { runs } = request;
  let line = start;
  let place = 0;
  /** Where the run begins that has not been written yet. */
  let from = 0;
  for (let object = 0; object < 2; object++) {
    const fields = object === 0 ? request.fields : request.more;
    for (const name in fields) {
      const value = readMember(fields, name);
      if (!runs.isSame(place, name, value)) {
        if (place > from) line += runs.textOf(from, place) ?? keptRun(request, from, place, redact, known);
        from = place + 1;
        const member = memberText(name, value, redact, known);
        if (member !== "") line = `${line},${member}`;
      }
      place++;
    }
  }
  if (place > from) line += runs.textOf(from, place) ?? keptRun(request, from, place, redact, known);
  return line;
}

/** Writes the members from one place to another, and keeps their text. */
function keptRun(
  { runs, fields, more }: RequestFields,
  from: number,
  to: number,
  redact: Redact,
  known: KnownMembers,
): string {
  let text = "";
  let place = 0;
  for (const one of [fields, more]) {
    for (const name in one) {
      if (place >= from && place < to) text += `,${memberText(name, readMember(one, name), redact, known)}`;
      place++;
    }
  }
  runs.keepText(from, to, text);
  return text;
}

function memberText(name: string, value: unknown, redact: Redact, known: KnownMembers): string {
  if (typeof value === "string") return textMember(known, name, value, redact);
  if (typeof value === "number" && Number.isFinite(value)) {
    const { begin, isSecret } = memberOf(known, name);
    return isSecret ? `${begin}"${REDACTED}"` : begin + value;
  }
  return otherMember(name, value, redact);
}

function memberOf(known: KnownMembers, name: string): KnownMember {
  let member = known.members.get(name);
  if (member === undefined) {
    const isRequestId = name === "request_id" || name === "requestId";
    // The message is no field.
    const isSecret = name !== "msg" && isSecretName(name);
    const begin = `${quote(name)}:`;
    member = { begin, isSecret, isRequestId, text: "", whole: `${begin}""` };
    if (known.members.size < MEMBERS_MAX) known.members.set(name, member);
  }
  return member;
}

/** `"name":"text"`, without secrets. */
function textMember(known: KnownMembers, name: string, text: string, redact: Redact): string {
  const member = memberOf(known, name);
  if (member.isSecret) return `${member.begin}"${REDACTED}"`;
  if (member.text === text) return member.whole;
  const whole = member.begin + quote(safeText(member.isRequestId ? text.slice(0, REQUEST_ID_CHARS_MAX) : text, redact));
  if (text.length <= KEPT_CHARS_MAX && !member.isRequestId) {
    member.text = text;
    member.whole = whole;
  }
  return whole;
}

/** The same of a value that is no text and no number; empty if there is nothing to write. */
function otherMember(name: string, value: unknown, redact: Redact): string {
  const safe = safeValue(name, value, redact);
  if (safe === undefined) return "";
  return `${quote(name)}:${escapeRest(JSON.stringify(safe))}`;
}

const COLOURS: Readonly<Record<LogLevel, string>> = { debug: "90", info: "32", warn: "33", error: "31" };

/** A line for a terminal, with its newline; stack frames follow, indented. */
export function prettyLine(record: LogRecord, redact: Redact, options: { colour: boolean }): string {
  const paint = (text: string, code: string) => (options.colour ? `\x1b[${code}m${text}\x1b[0m` : text);
  const time = cachedIsoTime(record.timeMs).slice(11, 23);
  const word = paint(record.level.toUpperCase().padEnd(5), COLOURS[record.level]);
  let line = "";
  let frames: readonly unknown[] = [];
  const entries = [...entriesOf(record.fields, redact), ...entriesOf(record.more, redact)];
  for (const [name, value] of entries) {
    if (value === undefined) continue;
    let shown = value;
    if (isErrorView(value)) {
      frames = value.stack;
      shown = `${value.name}: ${value.message}`;
    }
    const text = typeof shown === "string" && /^[\w./:@+-]+$/.test(shown) ? shown : JSON.stringify(shown);
    const member = ` ${paint(`${bare(name)}=`, "90")}${escapeRest(text)}`;
    if (line.length + member.length > LINE_CHARS_MAX) {
      line += " …";
      break;
    }
    line += member;
  }
  const stack = frames.map((frame) => `\n    ${bare(String(frame))}`).join("");
  return `${paint(time, "90")} ${word} ${bare(safeText(record.message, redact))}${line}${stack}\n`;
}

/** The logged form of an Error. */
interface ErrorView {
  name: string;
  message: string;
  stack: unknown[];
}

const isErrorView = (value: unknown): value is ErrorView =>
  typeof value === "object" && value !== null && "stack" in value && Array.isArray(value.stack) && "message" in value;

/** The fields as plain, bounded values without secrets. */
function* entriesOf(fields: LogFields | undefined, redact: Redact): Generator<[string, unknown]> {
  if (fields === undefined) return;
  for (const name in fields) yield [name, safeValue(name, readMember(fields, name), redact)];
}

function safeValue(name: string, value: unknown, redact: Redact, depth = 0): unknown {
  if (value === null || value === undefined || typeof value === "boolean") return value;
  if (isSecretName(name)) return REDACTED;
  switch (typeof value) {
    case "string":
      return safeText(
        name === "request_id" || name === "requestId" ? value.slice(0, REQUEST_ID_CHARS_MAX) : value,
        redact,
      );
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "object":
      return depth < DEPTH_MAX ? safeObject(value, redact, depth) : "[deep]";
    case "bigint":
      return String(value);
    default:
      return `[${typeof value}]`;
  }
}

/** Proxies and getters may throw; a log call must not. */
function safeObject(value: object, redact: Redact, depth: number): unknown {
  try {
    return objectView(value, redact, depth);
  } catch {
    return UNREADABLE;
  }
}

function objectView(value: object, redact: Redact, depth: number): unknown {
  if (value instanceof Error) return errorView(value, redact, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[no date]" : value.toISOString();
  if (value instanceof URL) return safeText(value.href, redact);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) {
    const kept = value.slice(0, ENTRIES_MAX).map((item) => safeValue("", item, redact, depth + 1) ?? null);
    return value.length > ENTRIES_MAX ? [...kept, `… ${value.length - ENTRIES_MAX} more`] : kept;
  }
  const out: Record<string, unknown> = {};
  const names = value instanceof Headers || value instanceof Map ? [...value.keys()].map(String) : Object.keys(value);
  for (const name of names.slice(0, ENTRIES_MAX)) {
    const member = value instanceof Headers || value instanceof Map ? value.get(name) : readMember(value, name);
    out[safeText(name, redact)] = safeValue(name, member, redact, depth + 1);
  }
  if (names.length > ENTRIES_MAX) out["…"] = names.length - ENTRIES_MAX;
  return out;
}

function errorView(error: Error, redact: Redact, depth: number): Record<string, unknown> {
  const stack = String(readMember(error, "stack") ?? "").split("\n");
  const frames = stack.map((line) => line.trim()).filter((line) => line.startsWith("at "));
  const view: Record<string, unknown> = {
    name: safeText(String(readMember(error, "name")), redact),
    message: safeText(String(readMember(error, "message")), redact),
    stack: frames.slice(0, STACK_LINES_MAX).map((line) => safeText(line, redact)),
  };
  const code = readMember(error, "code");
  if (code !== undefined) view["code"] = safeValue("code", code, redact, depth + 1);
  const cause = readMember(error, "cause");
  if (cause !== undefined) view["cause"] = safeValue("cause", cause, redact, depth + 1);
  return view;
}

function readMember(object: object, name: string): unknown {
  try {
    return (object as Record<string, unknown>)[name];
  } catch {
    return UNREADABLE;
  }
}

/** Bounded and without secrets; the margin before the cut removes a secret that the cut would halve. */
function safeText(text: string, redact: Redact): string {
  if (text.length <= STRING_CHARS_MAX) return redact(text);
  const read = redact(text.slice(0, STRING_CHARS_READ));
  const whole = text.length <= STRING_CHARS_READ ? read : read.slice(0, Math.max(0, read.length - CUT_MARGIN_CHARS));
  return whole.length <= STRING_CHARS_MAX ? whole : `${whole.slice(0, STRING_CHARS_MAX)}…`;
}

// Characters that JSON writes unchanged. Nearly every name and value of a request's line consists of these, and this check
// costs a fraction of JSON serialisation.
const PLAIN = /^[ !#-[\]-~]*$/;

const quote = (text: string): string => (PLAIN.test(text) ? `"${text}"` : escapeRest(JSON.stringify(text)));

/** Control characters without quotes: for unquoted text. */
const bare = (text: string): string => escapeRest(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"'));

// What JSON does not escape: DEL, the C1 controls, line separators and the marks that reorder text on a screen.
const UNSAFE_REST = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const UNSAFE_REST_ALL = new RegExp(UNSAFE_REST, "g");

function escapeRest(text: string): string {
  if (!UNSAFE_REST.test(text)) return text;
  return text.replace(UNSAFE_REST_ALL, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

let lastSecond = Number.NaN;
let lastPrefix = "";

/** `2026-11-21T14:52:52.123Z`; the part up to the second is cached. */
function cachedIsoTime(timeMs: number): string {
  const second = Math.floor(timeMs / 1000);
  if (second !== lastSecond) {
    lastPrefix = new Date(second * 1000).toISOString().slice(0, 20);
    lastSecond = second;
  }
  return `${lastPrefix}${String(timeMs - second * 1000).padStart(3, "0")}Z`;
}
