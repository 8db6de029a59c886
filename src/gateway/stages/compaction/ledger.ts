// The ledger: names that a summary must not lose, such as paths, addresses, identifiers and amounts. They are extracted from the
// text by rule, since models drop or change them. The newest names are kept.

import { createPause } from "../../../base/time-slices.ts";
import type { Entry, Piece } from "../../../chat/entries.ts";
import type { FoundNames } from "./names.ts";

/** The names of a conversation, oldest first. */
export interface Ledger {
  paths: string[];
  urls: string[];
  identifiers: string[];
  amounts: string[];
  media: string[];
}

/** The kinds of names with their headings, in the order in which they are written. */
export const LEDGER_KINDS = {
  paths: "Paths",
  urls: "Addresses",
  identifiers: "Identifiers",
  amounts: "Amounts",
  media: "Images and files",
} as const satisfies Record<keyof Ledger, string>;

/** Maximum number of names of one kind. */
const NAMES_MAX = 150;
/** Maximum number of characters of all kinds together, and the share that one kind may take. */
const CHARS_MAX = 12_000;
const KIND_SHARE = 1 / 3;
/** Maximum number of characters of one text that are examined: half at its beginning, half at its end. */
const TEXT_CHARS_MAX = 12_000;
/** Maximum number of characters of all texts that are examined, the newest first. */
const TEXTS_CHARS_MAX = 200_000;
/** Longer labels of images and files are cut. */
const LABEL_CHARS_MAX = 200;

/** An empty ledger. */
export function emptyLedger(): Ledger {
  return { paths: [], urls: [], identifiers: [], amounts: [], media: [] };
}

/**
 * The ledger with the names of a conversation's entries added; the argument is not changed. The newest entries are examined first,
 * up to a total length. Lets other work run in between.
 */
export async function enterAll(
  ledger: Ledger,
  entries: readonly Entry[],
  signal?: AbortSignal | undefined,
): Promise<Ledger> {
  const { findNames } = await import("./names.ts");
  const pause = createPause();
  const newest: Record<keyof FoundNames, Set<string>> = {
    paths: new Set(),
    urls: new Set(),
    identifiers: new Set(),
    amounts: new Set(),
  };
  let charsLeft = TEXTS_CHARS_MAX;
  for (let at = entries.length - 1; at >= 0 && charsLeft > 0; at--) {
    for (const piece of entries[at]!.pieces.toReversed()) {
      const text = textOfPiece(piece);
      if (text === "") continue;
      const looked = ends(text, Math.min(TEXT_CHARS_MAX, charsLeft));
      charsLeft -= looked.length;
      const found = findNames(piece.type === "call" && looked === text ? stringsOf(text) : looked);
      for (const kind of FOUND_KINDS) {
        const names = newest[kind];
        for (let i = found[kind].length - 1; i >= 0 && names.size < NAMES_MAX; i--) names.add(found[kind][i]!);
      }
      await pause();
      signal?.throwIfAborted();
      if (charsLeft <= 0) break;
    }
  }
  const out = { ...ledger, media: counted(ledger.media, entries.flatMap(mediaOf)) };
  for (const kind of FOUND_KINDS) out[kind] = together(ledger[kind], [...newest[kind]].reverse());
  return out;
}

const FOUND_KINDS = ["paths", "urls", "identifiers", "amounts"] as const satisfies (keyof FoundNames)[];

function textOfPiece(piece: Piece): string {
  if (piece.type === "text" || piece.type === "result" || piece.type === "call") return piece.text;
  return piece.type === "compaction" ? (piece.text ?? "") : "";
}

function mediaOf(entry: Entry): string[] {
  return entry.pieces.flatMap((piece) =>
    piece.type === "media" ? [piece.label] : piece.type === "result" ? [...piece.media] : [],
  );
}

/** The strings in a call's arguments: in JSON, escaped characters stand beside the names. */
function stringsOf(json: string): string {
  const strings: string[] = [];
  try {
    JSON.parse(json, (_, value: unknown) => {
      if (typeof value === "string" || typeof value === "number") strings.push(String(value));
      return value;
    });
  } catch {
    return json;
  }
  return strings.join("\n");
}

/** The beginning and the end of a text. Names are not cut: a part ends where a word ends. */
function ends(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  let to = Math.floor(charsMax / 2);
  let from = text.length - to;
  while (to > 0 && !APART.test(text[to]!)) to--;
  while (from < text.length && !APART.test(text[from - 1]!)) from++;
  return `${text.slice(0, to)}\n${text.slice(from)}`;
}

const APART = /[\s"]/;

/** Both lists joined; a name that occurs twice keeps only its last position. */
function together(before: readonly string[], found: readonly string[]): string[] {
  if (found.length === 0) return [...before];
  const names = new Set(before);
  for (const name of found) {
    names.delete(name);
    names.add(name);
  }
  return [...names].slice(-NAMES_MAX);
}

const TIMES = / × (\d{1,9})$/;

/** The labels of images and files, each with its number if there are several. */
function counted(before: readonly string[], labels: readonly string[]): string[] {
  if (labels.length === 0) return [...before];
  const numbers = new Map(
    before.map((label) => [label.replace(TIMES, ""), Number(TIMES.exec(label)?.[1] ?? 1)] as const),
  );
  for (const label of labels) {
    const name = label.slice(0, LABEL_CHARS_MAX).replace(/[\s|]+/g, " ");
    const number = numbers.get(name) ?? 0;
    numbers.delete(name);
    numbers.set(name, number + 1);
  }
  return [...numbers].map(([name, number]) => (number === 1 ? name : `${name} × ${number}`)).slice(-NAMES_MAX);
}

/** The ledger as lines; "" if it is empty. `charsMax`: its approximate maximum length. */
export function ledgerText(ledger: Ledger, charsMax = CHARS_MAX): string {
  const most = Math.min(CHARS_MAX, charsMax) * KIND_SHARE;
  const lines: string[] = [];
  for (const [kind, heading] of Object.entries(LEDGER_KINDS)) {
    const names = newest(ledger[kind as keyof Ledger], most);
    if (names.length > 0) lines.push(`${heading}: ${names.join(" | ")}`);
  }
  return lines.join("\n");
}

function newest(names: readonly string[], charsMax: number): string[] {
  let chars = 0;
  const kept: string[] = [];
  for (const name of [...names].reverse()) {
    chars += name.length + 3;
    if (chars > charsMax) break;
    kept.push(name);
  }
  return kept.reverse();
}

/** Reads what `ledgerText` wrote. */
export function parseLedger(text: string): Ledger {
  const ledger = emptyLedger();
  for (const line of text.split("\n")) {
    for (const [kind, heading] of Object.entries(LEDGER_KINDS)) {
      if (line.startsWith(`${heading}: `)) {
        ledger[kind as keyof Ledger] = line
          .slice(heading.length + 2)
          .split(" | ")
          .slice(-NAMES_MAX);
      }
    }
  }
  return ledger;
}
