// Path patterns: `*` matches within a segment, `**` across segments, `?` one character. They must match the whole path, or the
// whole address if the pattern has a scheme; a missing leading slash is added. Patterns are untrusted, so a match never
// backtracks: it takes a few native searches over the address.

import { percentDecoded } from "../base/percent.ts";

/** Longer patterns are refused. */
const CHARS_MAX = 500;
/** Maximum number of wildcards in a pattern; each may be searched for in every segment of an address. */
const WILDCARDS_MAX = 30;

/** Tells whether an address matches the pattern. `paths` are the address's paths, for callers that test many patterns. */
export type Glob = (address: string, paths?: readonly string[]) => boolean;

/** Compiles a pattern; undefined if it is invalid. */
export function compileGlob(pattern: string): Glob | undefined {
  const text = pattern.trim();
  if (text === "" || text.length > CHARS_MAX) return undefined;
  const isWhole = text.includes("://");
  const tokens = (isWhole || text.startsWith("/") ? text : `/${text}`)
    .replace(/\*{3,}/g, "**")
    .split(/(\/\*\*\/|\*\*|\*|\?)/)
    .filter((token) => token !== "");
  if (tokens.filter((token) => WILDCARDS.has(token)).length > WILDCARDS_MAX) return undefined;
  const runs = readRuns(tokens);
  if (isWhole) return (address) => matches(runs, address);
  return (address, paths = pathsOf(address)) => paths.some((path) => matches(runs, path));
}

/** The path of an address, and its unescaped form if that differs. */
export function pathsOf(address: string): readonly string[] {
  const { pathname } = new URL(address);
  const plain = percentDecoded(pathname);
  return plain === pathname ? [pathname] : [pathname, plain];
}

/** The cost of a pattern per letter of an address. Each `?` searches all of the address. */
export function globCost(pattern: string): number {
  return 1 + [...pattern].filter((letter) => letter === "?").length;
}

/** `**` with a slash on each side matches a slash, or any number of whole segments with their slashes. */
const WILDCARDS: ReadonlySet<string> = new Set(["*", "**", "?", "/**/"]);

/** A part of a pattern without `*`; it may contain `?`. */
interface Piece {
  length: number;
  readonly texts: { readonly offset: number; readonly text: string }[];
  readonly anyAt: number[];
}

/** The part of a pattern between two `**`: pieces separated by `*`. It matches exactly as many slashes as it contains. */
interface Run {
  /** Where a match may begin: `anywhere` after the previous run, or only `after a slash`. */
  readonly begins: "anywhere" | "after a slash";
  readonly pieces: [Piece, ...Piece[]];
}

const noPiece = (): Piece => ({ length: 0, texts: [], anyAt: [] });

function readRuns(tokens: readonly string[]): [Run, ...Run[]] {
  let piece = noPiece();
  let run: Run = { begins: "anywhere", pieces: [piece] };
  const runs: [Run, ...Run[]] = [run];
  const begin = (begins: Run["begins"]) => {
    piece = noPiece();
    run = { begins, pieces: [piece] };
    runs.push(run);
  };
  const add = (text: string) => {
    piece.texts.push({ offset: piece.length, text });
    piece.length += text.length;
  };
  for (const token of tokens) {
    if (token === "**") begin("anywhere");
    else if (token === "/**/") {
      // The first slash of `/**/` ends the previous run. Its last slash may be the same one.
      add("/");
      begin("after a slash");
    } else if (token === "*") {
      piece = noPiece();
      run.pieces.push(piece);
    } else if (token === "?") piece.anyAt.push(piece.length++);
    else add(token);
  }
  return runs;
}

/** Matches each run at its earliest end, which leaves the most text to the following runs, so no run has to be tried twice. */
function matches(runs: readonly [Run, ...Run[]], text: string): boolean {
  const last = runs.length - 1;
  let end = endFrom(runs[0], text, { at: 0, mustEnd: last === 0 });
  for (let index = 1; index <= last && end >= 0; index++)
    end = endAfter(runs[index] as Run, text, { from: end, mustEnd: index === last });
  return end >= 0;
}

/** The earliest end of a match that begins at `from` or later; -1 if there is none. */
function endAfter(run: Run, text: string, { from, mustEnd }: { from: number; mustEnd: boolean }): number {
  const [first, ...others] = run.pieces;
  if (run.begins === "anywhere" && others.length === 0) {
    const at = mustEnd ? text.length - first.length : find(first, text, { from, last: text.length });
    return at >= from && fits(first, text, at) ? at + first.length : -1;
  }
  for (let at = from; at <= text.length; ) {
    const start = run.begins === "anywhere" ? find(first, text, { from: at, last: text.length }) : at;
    if (start < 0) return -1;
    const end = endFrom(run, text, { at: start, mustEnd });
    if (end >= 0) return end;
    // Within the same segment, a later start cannot find more than this one did.
    const slash = text.indexOf("/", start);
    if (slash < 0) return -1;
    at = slash + 1;
  }
  return -1;
}

/** The earliest end of a match that begins at `at`; -1 if there is none. */
function endFrom(run: Run, text: string, { at, mustEnd }: { at: number; mustEnd: boolean }): number {
  const { pieces } = run;
  let end = at;
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index] as Piece;
    let start = end;
    if (mustEnd && index === pieces.length - 1) start = text.length - piece.length;
    if (index > 0) {
      const slash = text.indexOf("/", end);
      const last = slash < 0 ? text.length : slash;
      start = find(piece, text, { from: Math.max(start, end), last });
    }
    if (start < end || start < 0 || !fits(piece, text, start)) return -1;
    if (index === 0 && start !== at) return -1;
    end = start + piece.length;
  }
  return mustEnd && end !== text.length ? -1 : end;
}

/** The first position of a piece from `from` to `last`; -1 if there is none. */
function find(piece: Piece, text: string, { from, last }: { from: number; last: number }): number {
  const [key] = piece.texts;
  if (key === undefined) {
    for (let at = from; at <= last; at++) if (fits(piece, text, at)) return at;
    return -1;
  }
  for (let hit = text.indexOf(key.text, from + key.offset); hit >= 0; hit = text.indexOf(key.text, hit + 1)) {
    const at = hit - key.offset;
    if (at > last) return -1;
    if (fits(piece, text, at)) return at;
  }
  return -1;
}

function fits({ length, texts, anyAt }: Piece, text: string, at: number): boolean {
  return (
    at + length <= text.length &&
    texts.every((part) => text.startsWith(part.text, at + part.offset)) &&
    anyAt.every((offset) => text[at + offset] !== "/")
  );
}
