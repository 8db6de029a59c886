// The ledger: names that a summary must not lose, such as paths, addresses, identifiers and amounts. They are extracted from the
// text by patterns, since models drop or change them. The newest names are kept.

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
/** Longer names are left out: nobody needs them word for word. */
const NAME_CHARS_MAX = 200;
/** Maximum number of characters of all kinds together, and the share that one kind may take. */
const CHARS_MAX = 12_000;
const KIND_SHARE = 1 / 3;
/** Maximum number of characters of one text that are examined: half at its beginning, half at its end. */
const TEXT_CHARS_MAX = 20_000;

// Every repetition in these patterns is bounded, so that the work per character is bounded.
const URL = /\bhttps?:\/\/[^\s"'<>`\\)\]}]{1,500}/g;
const PATH = /(?:\.{0,2}\/|~\/|[A-Za-z]:\\)?[\w.@+-]{1,80}(?:[/\\][\w.@+-]{1,80}){1,20}\/?/g;
const FILE =
  /\b[\w-]{1,80}\.(?:tsx?|jsx?|mjs|cjs|py|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sh|sql|json|ya?ml|toml|md|txt|csv|html?|css|lock|env|pdf|png|jpe?g)\b/g;
const IDENTIFIER =
  /\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{7,64}|[A-Z][A-Z0-9]{1,15}-\d{1,12}|[A-Za-z]{1,12}[-_][A-Za-z0-9]{0,40}\d[A-Za-z0-9]{0,40})\b|#\d{1,12}\b/g;
const AMOUNT =
  /(?:[$€£¥]\s?\d[\d,.]{0,20}(?:\s?(?:k|m|bn|million|billion)\b)?|\b\d[\d,.]{0,20}\s?(?:%|(?:percent|ms|s|min|hours?|days?|KB|MB|GB|KiB|MiB|GiB|km|kg|USD|EUR|GBP|CHF|tokens?|rows?|requests?)\b))/g;

/** An empty ledger. */
export function emptyLedger(): Ledger {
  return { paths: [], urls: [], identifiers: [], amounts: [], media: [] };
}

/** The ledger with the names of a text added; the argument is not changed. */
export function enter(ledger: Ledger, text: string): Ledger {
  const looked =
    text.length <= TEXT_CHARS_MAX
      ? text
      : `${text.slice(0, TEXT_CHARS_MAX / 2)}\n${text.slice(text.length - TEXT_CHARS_MAX / 2)}`;
  const urls = namesIn(looked, URL).map((url) => url.replace(/[;:!?]+$/, ""));
  const rest = looked.replace(URL, " ");
  const paths = [...namesIn(rest, PATH).filter(isPath), ...namesIn(rest, FILE)];
  const identifiers = namesIn(rest, IDENTIFIER).filter((name) => /\d/.test(name));
  return {
    paths: together(ledger.paths, paths),
    urls: together(ledger.urls, urls),
    identifiers: together(ledger.identifiers, identifiers),
    amounts: together(ledger.amounts, namesIn(rest, AMOUNT)),
    media: ledger.media,
  };
}

/** The ledger with the labels of images and files added. */
export function enterMedia(ledger: Ledger, labels: readonly string[]): Ledger {
  return labels.length === 0 ? ledger : { ...ledger, media: together(ledger.media, labels) };
}

/** Words separated by a slash are alternatives ("and/or") more often than paths. */
function isPath(name: string): boolean {
  return name.includes("\\") || /^[.~/]/.test(name) || /\.\w{1,8}$/.test(name) || name.split("/").length > 2;
}

function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)]
    .map(([name]) => name.trim().replace(/[.,]+$/, ""))
    .filter((name) => name.length <= NAME_CHARS_MAX);
}

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
