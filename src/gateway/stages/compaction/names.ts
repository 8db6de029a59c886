// Finds names in a text by rule: paths, addresses, identifiers and amounts. A name is taken whole or not at all, since a part of an
// invoice number or of an amount would be a false statement. The text is therefore split at characters that no name contains, and
// each word is judged as a whole. The work per character is bounded.

/** The names in a text, in the order of their appearance. */
export interface FoundNames {
  paths: string[];
  urls: string[];
  identifiers: string[];
  amounts: string[];
}

/** Longer names are left out: nobody needs them word for word. */
const NAME_CHARS_MAX = 200;
const IDENTIFIER_CHARS_MAX = 128;

/** A word and its place in the text. */
interface Word {
  text: string;
  from: number;
  to: number;
}

/** The names in a text. */
export function findNames(text: string): FoundNames {
  const found: FoundNames = { paths: [], urls: [], identifiers: [], amounts: [] };
  const words = wordsOf(text, found);
  for (let at = 0; at < words.length; ) {
    const word = words[at]!;
    if (!MAY_BE_NAME.test(word.text)) {
      at++;
      continue;
    }
    const joined = joinedAt(text, words, at);
    if (joined !== undefined) {
      found[joined.kind].push(text.slice(word.from, words[joined.end - 1]!.to));
      at = joined.end;
      continue;
    }
    judge(word.text, found);
    at++;
  }
  return found;
}

/** Every name has a digit, a separator of paths, a dot or an at sign; a currency sign may begin an amount. */
const MAY_BE_NAME = /[\d/\\.@+$€£¥₹₩₽₺]|^[A-Z]{3}$/;
/** Most words need no splitting. */
const PLAIN = /^\w+$/;
const RUN = /[^\s"<>`|“”„«»]+/g;
const WORD = /[\p{L}\p{M}\p{N}_-]/u;
const SCHEME = /[A-Za-z][A-Za-z0-9+.-]{1,20}$/;

/** The words of a text. Addresses with a scheme are added to `found` instead. */
function wordsOf(text: string, found: FoundNames): Word[] {
  const words: Word[] = [];
  for (const { 0: run, index } of text.matchAll(RUN)) {
    if (PLAIN.test(run)) {
      words.push({ text: run, from: index, to: index + run.length });
      continue;
    }
    let from = 0;
    for (let mark = run.indexOf("://"); mark >= 0; mark = run.indexOf("://", from)) {
      const scheme = SCHEME.exec(run.slice(Math.max(from, mark - 21), mark))?.[0] ?? "";
      const end = addressEnd(run, mark + 3);
      const url = run.slice(mark - scheme.length, end);
      const isWhole = scheme !== "" && end > mark + 3 && !WORD.test(run[mark - scheme.length - 1] ?? "");
      if (isWhole && url.length <= NAME_CHARS_MAX) found.urls.push(url);
      addPieces(words, run, { start: from, end: mark - scheme.length, offset: index });
      from = Math.max(end, mark + 3);
    }
    addPieces(words, run, { start: from, end: run.length, offset: index });
  }
  return words;
}

const OPENERS = "([{";
const CLOSERS = ")]}";
const ADDRESS_TAIL = ".,;:!?'’*…\\";

/** The end of an address: before a closing bracket without its opening one, and without punctuation. */
function addressEnd(run: string, start: number): number {
  const openBrackets = [0, 0, 0];
  let end = start;
  for (; end < run.length; end++) {
    const opener = OPENERS.indexOf(run[end]!);
    const closer = CLOSERS.indexOf(run[end]!);
    if (opener >= 0) openBrackets[opener]!++;
    if (closer >= 0 && --openBrackets[closer]! < 0) break;
  }
  while (end > start && ADDRESS_TAIL.includes(run[end - 1]!)) end--;
  return end;
}

/** Characters between names. Some also occur within numbers. */
const BETWEEN = /[()[\]{};=&!?*,'’…\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]/;
const IN_NUMBERS = /[,'’]/;
const DIGIT = /\d/;
/** A path may have such parts in brackets. */
const BRACKETED = /[[(]/;
const SEPARATED = /[/\\]/;
const LEADING = /^[-_./\\:@+%#]/;
const TRAILING = /[-_./\\:@+%#]$/;
const NO_OPENER = /[)\]}*\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;
const NO_END = /[([{*\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/** Adds the words of a part of a run. Pieces of a name that contains other characters are left out. */
function addPieces(
  words: Word[],
  run: string,
  { start, end, offset }: { start: number; end: number; offset: number },
): void {
  if (end <= start) return;
  const add = ({ text, from, to }: Word) => words.push({ text, from: offset + from, to: offset + to });
  const whole = trimmed(run, start, end);
  if (whole.text.length <= NAME_CHARS_MAX && BRACKETED.test(whole.text) && SEPARATED.test(whole.text)) {
    if (PATH.test(whole.text)) {
      add(whole);
      return;
    }
  }
  let from = start;
  for (let at = start; at <= end; at++) {
    if (at < end && !isBetween(run, at)) continue;
    if (at > from) {
      const piece = trimmed(run, from, at);
      // The characters before an address belong to no name if nothing stands between.
      const isGlued = at === end && end < run.length;
      const isCut =
        isGlued ||
        (from > start && LEADING.test(run[from]!) && NO_OPENER.test(run[from - 1]!)) ||
        (at < end && TRAILING.test(run[at - 1]!) && NO_END.test(run[at]!));
      if (!isCut && piece.text !== "") add(piece);
    }
    from = at + 1;
  }
}

function isBetween(run: string, at: number): boolean {
  const char = run[at]!;
  if (!BETWEEN.test(char)) return false;
  return !(IN_NUMBERS.test(char) && at > 0 && DIGIT.test(run[at - 1]!) && DIGIT.test(run[at + 1] ?? ""));
}

/** A part without the punctuation around it. */
function trimmed(run: string, start: number, end: number): Word {
  let [from, to] = [start, end];
  while (from < to && ",;:'’*".includes(run[from]!)) from++;
  while (to > from && ".,;:!?'’*…".includes(run[to - 1]!)) to--;
  return { text: run.slice(from, to), from, to };
}

const NUM = String.raw`\d{1,20}(?:[.,'’]\d{1,20}){0,8}`;
const SIGN = "[$€£¥₹₩₽₺]";
const CODES =
  "USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|TRY|RUB|UAH|BRL|MXN|ZAR|KRW|SGD|HKD|ILS|AED|SAR|BTC|ETH";
const SCALE = "k|K|m|M|bn|Mio|Mrd|thousand|million|billion|trillion";
const UNIT =
  "%|‰|percent|ns|µs|us|ms|s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|months?|years?|[kKMGTP]i?B|bytes?|bits?|[kMG]bit/s|[KMG]B/s|mm|cm|m|km|mi|km/h|mph|mg|g|kg|t|ml|l|W|kW|MW|kWh|MWh|V|A|mA|mAh|Hz|kHz|MHz|GHz|°C|°F|px|dpi|rpm|tokens?|rows?|requests?|items?|users?|pages?|files?|lines?";
const isNumber = new RegExp(`^[-+−]?${NUM}(?:[-–]${NUM})?$`);
const isGroupStart = /^[-+−]?\d{1,3}$/;
const isGroup = /^\d{3}(?:[.,]\d{1,9})?$/;
const isCurrency = new RegExp(`^(?:[A-Z]{0,3}${SIGN}|${CODES})$`);
const isScale = new RegExp(`^(?:${SCALE})$`);
const isUnit = new RegExp(`^(?:${UNIT}|${SIGN}|${CODES})$`);
const isPriced = new RegExp(
  `^(?:[A-Z]{0,3}${SIGN}|${CODES})[-+−]?${NUM}(?:${SCALE})?$|^[-+−]?${SIGN}${NUM}(?:${SCALE})?$`,
);
const isMeasured = new RegExp(`^[-+−]?${NUM}(?:[-–]${NUM})?(?:${SCALE})?(?:${UNIT}|${SIGN}|${CODES})$`);

/** A name of several words that begins at a word, or an amount of one word. `end`: the index after its last word. */
function joinedAt(
  text: string,
  words: readonly Word[],
  at: number,
): { kind: "amounts" | "identifiers"; end: number } | undefined {
  const isNext = (index: number) => {
    const before = words[index - 1];
    const word = words[index];
    return before !== undefined && word?.from === before.to + 1 && SPACE.test(text[before.to]!);
  };
  const first = words[at]!.text;
  const isFigure = DIGIT.test(first[0]!);
  const account = isFigure ? undefined : longCodeEnd(words, at, isNext);
  if (account !== undefined) return { kind: "identifiers", end: account };
  // The figures before it belong to the same number.
  if (isFigure && isNext(at) && isGroup.test(first) && isNumber.test(words[at - 1]!.text)) return undefined;
  let end = at;
  let isAmount = false;
  if ((!isFigure && isPriced.test(first)) || (!DIGIT.test(first.at(-1)!) && isMeasured.test(first))) {
    isAmount = true;
    end++;
  } else {
    if (!isFigure && isCurrency.test(first) && isNext(at + 1)) {
      isAmount = true;
      end++;
    }
    const number = words[end]?.text ?? "";
    if (!isNumber.test(number)) return undefined;
    end++;
    if (isGroupStart.test(number)) while (isNext(end) && isGroup.test(words[end]!.text)) end++;
  }
  if (isNext(end) && DIGIT.test(words[end]!.text[0]!)) return isAmount ? { kind: "amounts", end } : undefined;
  if (isNext(end) && isScale.test(words[end]!.text) && (isAmount || isUnitAt(words, end + 1, isNext))) end++;
  if (isUnitAt(words, end, isNext)) {
    isAmount = true;
    end++;
  }
  return isAmount ? { kind: "amounts", end } : undefined;
}

const SPACE = /[ \u00a0\u202f]/;

function isUnitAt(words: readonly Word[], at: number, isNext: (index: number) => boolean): boolean {
  return isNext(at) && isUnit.test(words[at]!.text);
}

/** The end of a bank account (IBAN) or a telephone number that is written in groups; undefined if there is none. */
function longCodeEnd(words: readonly Word[], at: number, isNext: (index: number) => boolean): number | undefined {
  const first = words[at]!.text;
  const isAccount = /^[A-Z]{2}\d{2}$/.test(first);
  if (!isAccount && !/^\+\d{1,4}$/.test(first)) return undefined;
  const group = isAccount ? /^[A-Z0-9]{4}$/ : /^\d[\d-]{1,12}$/;
  let end = at + 1;
  while (end < at + 9 && isNext(end) && group.test(words[end]!.text)) end++;
  if (isAccount && end >= at + 3 && isNext(end) && /^[A-Z0-9]{1,3}$/.test(words[end]!.text)) end++;
  return end >= at + (isAccount ? 4 : 2) ? end : undefined;
}

const SEGMENT = String.raw`(?:[\p{L}\p{M}\p{N}_.@+~$%#-]+|\[{1,2}[\w.-]+\]{1,2}|\([\w.-]+\))`;
const PATH = new RegExp(String.raw`^(?:[A-Za-z]:)?[/\\]{0,2}${SEGMENT}(?:[/\\]${SEGMENT})*[/\\]?$`, "u");
const LINE = /(?::\d{1,7}){1,2}$/;
const EXTENSIONS = new Set(
  "ts tsx js jsx mjs cjs mts cts py rs go java kt c h cc cpp hpp cs rb php swift sh sql json jsonl yaml yml toml md mdx txt csv tsv xml html htm css scss vue svelte lock env log ini cfg conf pdf png jpg jpeg gif svg webp docx xlsx pptx zip gz tar ipynb proto tf".split(
    " ",
  ),
);
const FILE = /^[\p{L}\p{M}\p{N}_.@+~$%-]+$/u;
const EMAIL = /^[\w.+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/;
const ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|\/\d{1,2})?$/;
const HOST_PORT = /^(?:localhost|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}):\d{2,5}$/;

/** Adds a word to the kind of names that it belongs to, if any. */
function judge(word: string, found: FoundNames): void {
  if (word.length < 2 || word.length > NAME_CHARS_MAX) return;
  const bare = word.replace(LINE, "");
  if (EMAIL.test(word) || ADDRESS.test(word)) found.urls.push(word);
  else if (isPath(bare) || isFile(bare)) found.paths.push(bare);
  else if (HOST_PORT.test(word)) found.urls.push(word);
  else if (isIdentifier(word)) found.identifiers.push(word);
}

/** Words separated by a slash are alternatives ("and/or") more often than paths. */
function isPath(name: string): boolean {
  if (!SEPARATED.test(name) || !PATH.test(name) || !/[\p{L}\p{N}]/u.test(name)) return false;
  if (/^[.~]{0,2}[/\\]|^[A-Za-z]:[/\\]/.test(name) || isFile(name.slice(name.search(/[^/\\]+$/)))) return true;
  return /\.[A-Za-z]\w{0,7}$/.test(name) || (name.split(/[/\\]/).length > 2 && !/^[\d/]+$/.test(name));
}

function isFile(name: string): boolean {
  const dot = name.lastIndexOf(".");
  return dot >= 0 && EXTENSIONS.has(name.slice(dot + 1)) && FILE.test(name);
}

const GROUPS = /^[#A-Za-z0-9_]+(?:[-.:#/+][A-Za-z0-9_]+)*$/;
const PURE_NUMBER = /^[\d.,:/-]+$/;
const TIME = /^\d{4}-\d{2}-\d{2}T/;
/** Such as "24-hour". */
const COMPOUND = /^\d+-[a-z]+$/;
const VERSION = /^[A-Za-z]*\d+(?:\.\d+)+[A-Za-z0-9]*$/;

function isIdentifier(word: string): boolean {
  if (word.length > IDENTIFIER_CHARS_MAX || !DIGIT.test(word) || !GROUPS.test(word)) return false;
  if (word.startsWith("#")) return /^#\d{1,12}$/.test(word);
  if (TIME.test(word) || COMPOUND.test(word)) return false;
  const separators = new Set(word.replace(/[A-Za-z0-9]+/g, ""));
  if (PURE_NUMBER.test(word)) {
    // Versions, dates and book numbers; other figures mean nothing without their words.
    return /^\d+(?:\.\d+){2,}$|^\d+(?:-\d+){2,}$|^\d{7,20}$/.test(word);
  }
  if (separators.size === 0) {
    return /^[0-9a-fA-F]{7,64}$|^[A-Z]{1,6}\d{3,}[A-Z0-9]{0,30}$|^[A-Za-z]{1,12}\d{4,20}$/.test(word);
  }
  if (separators.size === 1 && separators.has(".")) return VERSION.test(word);
  return word.length >= (separators.has("-") || separators.has("_") ? 4 : 6);
}
