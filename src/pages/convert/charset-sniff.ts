// Guesses the encoding of bytes that declare none. Each candidate encoding decodes a sample, and the one whose text looks most
// like the languages it was made for is taken.

import { lazily } from "../../base/lazily.ts";

/** An encoding, and how text that was decoded with it is judged. */
interface Candidate {
  readonly label: string;
  /** How much a non-ASCII character supports the encoding (usually 1), or speaks against it. */
  worth(code: number): number;
  /** Letters of a script whose words contain no Latin letters. ("dйjа" is French that was decoded wrongly.) */
  readonly script?: (code: number) => boolean;
  /** Pairs of neighbouring characters that occur in no word. */
  readonly isTorn?: (before: number, code: number) => boolean;
  /** How many characters of the script are needed as evidence. */
  readonly least?: number;
}

/** Words with non-ASCII bytes are collected up to this length, which is enough to judge. */
const WORDS_CHARS_MAX = 20_000;
/** One or two letters of another alphabet may be symbols, as in "£5". */
const LETTERS_MIN = 3;
/** The value of characters that no text contains. */
const STRAY = -4;

/** The label of the most likely encoding. */
export function sniffCharset(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return hasJapaneseShifts(bytes) ? "iso-2022-jp" : "utf-8";
  const words = foreignWords(bytes);
  let best = "windows-1252";
  let bestScore = 0;
  for (const candidate of CANDIDATES) {
    const score = plausibility(candidate, words);
    if (score > bestScore + 1e-9) {
      best = candidate.label;
      bestScore = score;
    }
  }
  return best;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    // Decoded as a stream, so that a character cut off at the end of the sample is not an error.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether the text switches to Japanese and back by escape sequences. ISO-2022-JP is otherwise ASCII. */
function hasJapaneseShifts(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return /\x1b\$[@B][\x21-\x7e]+\x1b\([BJ]/.test(text);
}

function foreignWords(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  let words = "";
  // In all of these encodings, no character contains the byte of a space or an angle bracket.
  for (const [word] of text.matchAll(/[^\s<>]{0,100}[\x80-\xff][^\s<>]{0,1000}/g)) {
    words += `${word} `;
    if (words.length > WORDS_CHARS_MAX) break;
  }
  return Buffer.from(words, "latin1");
}

/** How much the words look like text: they consist of letters of the encoding's languages, without isolated foreign ones. */
function plausibility({ label, worth, script, isTorn, least = 1 }: Candidate, words: Uint8Array): number {
  const text = new TextDecoder(label as Bun.Encoding).decode(words);
  let foreign = 0;
  let good = 0;
  let before = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0x80) {
      foreign++;
      good += isStray(code) ? STRAY : worth(code);
    }
    if (script !== undefined && ((isLatin(before) && script(code)) || (script(before) && isLatin(code)))) good -= 1;
    if (isTorn?.(before, code) === true) good -= 1.5;
    before = code;
  }
  // Encodings with two bytes per character explain the same bytes by fewer characters, so the mean is taken.
  return foreign < least ? 0 : good / foreign;
}

function isStray(code: number): boolean {
  return code === 0xfffd || (code >= 0x80 && code < 0xa0) || (code >= 0xe000 && code < 0xf900);
}

function letters(good: number, text: string, bad: number): (code: number) => number {
  const known = new Set([...text, ...text.toUpperCase()].map((letter) => letter.codePointAt(0)));
  return (code) => (known.has(code) ? good : bad);
}

function within(first: number, last: number): (code: number) => boolean {
  return (code) => code >= first && code <= last;
}

const isCyrillic = within(0x400, 0x4ff);
const isGreek = within(0x386, 0x3ce);
const isHebrew = within(0x5d0, 0x5ea);
const isArabic = (code: number) => within(0x621, 0x64a)(code) || [0x67e, 0x686, 0x698, 0x6a9, 0x6af].includes(code);
const isThai = within(0xe01, 0xe5b);
const isHan = within(0x4e00, 0x9fff);
const isKana = within(0x3040, 0x30ff);
const isIdeographicSign = within(0x3000, 0x303f);
const isPunctuation = (code: number) => "«»„“”‘’–—…·°€№§©®\u00a0".includes(String.fromCodePoint(code));

/** The most frequent characters of Chinese, which wrongly decoded text rarely contains. */
const COMMON_HAN = new Set(
  [
    ..."的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它與從時來國們會這個為過發後裡經麼學現當沒動麵還進樣開實無",
  ].map((character) => character.codePointAt(0) ?? 0),
);

/**
 * The characters of an encoding for this range of first and second bytes. The ranges below contain the common characters. They
 * are decoded when they are first needed, because most threads never need them.
 */
function plane(label: string, leads: readonly [number, number], trails: readonly (readonly [number, number])[]) {
  return lazily(() => charactersAt(label, leads, trails));
}

function charactersAt(label: string, leads: readonly [number, number], trails: readonly (readonly [number, number])[]) {
  const bytes: number[] = [];
  for (let lead = leads[0]; lead <= leads[1]; lead++)
    for (const [first, last] of trails) for (let trail = first; trail <= last; trail++) bytes.push(lead, trail);
  const text = new TextDecoder(label as Bun.Encoding).decode(Uint8Array.from(bytes));
  return new Set([...text].map((character) => character.codePointAt(0) ?? 0));
}

const HIGH: readonly [number, number] = [0xa1, 0xfe];
const SIMPLIFIED = plane("gbk", [0xb0, 0xd7], [HIGH]);
const TRADITIONAL = plane("big5", [0xa4, 0xc6], [[0x40, 0x7e], HIGH]);
const KANJI = plane("euc-jp", [0xb0, 0xcf], [HIGH]);
const HANGUL = plane("euc-kr", [0xb0, 0xc8], [HIGH]);

function japanese(code: number): number {
  // Kana distinguish Japanese from Chinese. Half-width kana are what wrongly decoded Latin text looks like.
  if (isKana(code)) return 1.4;
  if (isHan(code)) return KANJI().has(code) ? 0.75 : 0.3;
  if (code >= 0xff61 && code <= 0xff9f) return -0.5;
  return code >= 0x3000 ? 0.6 : -0.5;
}

function chinese(level: () => ReadonlySet<number>): (code: number) => number {
  return (code) => {
    if (COMMON_HAN.has(code)) return 1;
    if (isHan(code)) return level().has(code) ? 0.85 : 0.1;
    if (isIdeographicSign(code)) return 0.8;
    return code >= 0xff00 ? 0.7 : -0.5;
  };
}

function korean(code: number): number {
  return HANGUL().has(code) ? 1.1 : isIdeographicSign(code) ? 0.5 : -0.3;
}

function cyrillic(code: number): number {
  if (within(0x430, 0x44f)(code) || "іїєґ".includes(String.fromCodePoint(code))) return 1;
  if (within(0x410, 0x42f)(code) || code === 0x451) return 0.5;
  return isPunctuation(code) ? 0.3 : -0.6;
}

/** Judges a text in one alphabet: its letters, and the punctuation beside them. */
function alphabet(isLetter: (code: number) => boolean, good: number): (code: number) => number {
  return (code) => (isLetter(code) ? good : isPunctuation(code) ? 0.3 : -0.6);
}

const centralEuropean = letters(0.75, "ąćęłńśźżěščřžýáíéúůťďňőűöüóđăâîşţ„”–…", -0.8);
/** The Hungarian letters that change when the text is decoded as windows-1252; all others stay the same. */
const HUNGARIAN = new Set([..."őűŐŰ"].map((letter) => letter.codePointAt(0) ?? 0));
/** Letters that occur in none of the other languages here. */
const BALTIC = new Set([..."ėįųūāēģīķļņĖĮŲŪĀĒĢĪĶĻŅ"].map((letter) => letter.codePointAt(0) ?? 0));
const baltic = letters(0.74, "ąčęšžõäöü„“–…", -0.8);
const turkish = letters(0.77, "çöüâîû’“”–…", -0.8);

/** If two candidates are equally likely, the first one is taken. */
const CANDIDATES: readonly Candidate[] = [
  { label: "shift_jis", worth: japanese },
  { label: "euc-jp", worth: japanese },
  { label: "gb18030", worth: chinese(SIMPLIFIED) },
  { label: "big5", worth: chinese(TRADITIONAL) },
  { label: "euc-kr", worth: korean },
  { label: "windows-1251", worth: cyrillic, script: isCyrillic, least: LETTERS_MIN, isTorn: goesOnInCapitals },
  { label: "koi8-r", worth: cyrillic, script: isCyrillic, least: LETTERS_MIN, isTorn: goesOnInCapitals },
  { label: "windows-1252", worth: letters(0.78, "àâäáãåæçèéêëìíîïñòóôöõøœùúûüÿßðþý«»„“”‘’–—…·°€£©®¿¡\u00a0", -0.3) },
  { label: "windows-1250", worth: (code) => (HUNGARIAN.has(code) ? 1.2 : centralEuropean(code)) },
  { label: "iso-8859-2", worth: (code) => (HUNGARIAN.has(code) ? 1.2 : centralEuropean(code)) },
  // It differs from windows-1252 in six letters only; without them the two are equal.
  { label: "windows-1254", worth: (code) => (TURKISH.has(code) ? 0.86 : turkish(code)) },
  { label: "windows-1257", worth: (code) => (BALTIC.has(code) ? 0.86 : baltic(code)), least: 2 * LETTERS_MIN },
  {
    label: "windows-1253",
    // The Russian letters "а" and "А" become these two characters when decoded as Greek, where they are very rare.
    worth: (code) => (code === 0x3b0 || code === 0x390 ? -1 : alphabet(isGreek, 1.02)(code)),
    script: isGreek,
    least: LETTERS_MIN,
    isTorn: goesOnInCapitals,
  },
  {
    label: "windows-1255",
    worth: alphabet(isHebrew, 1.05),
    script: isHebrew,
    least: LETTERS_MIN,
    isTorn: isHebrewEndInside,
  },
  { label: "windows-1256", worth: alphabet(isArabic, 1.03), script: isArabic, least: LETTERS_MIN },
  { label: "windows-874", worth: alphabet(isThai, 0.95), script: isThai, least: LETTERS_MIN, isTorn: isThaiMarkAlone },
];
const TURKISH = new Set([..."ğışĞİŞ"].map((letter) => letter.codePointAt(0) ?? 0));

/** Whether a capital follows a lower-case letter within a word, which indicates the wrong alphabet. */
function goesOnInCapitals(before: number, code: number): boolean {
  return before >= 0x80 && code >= 0x80 && isLower(before) && isUpper(code);
}

/** Whether a letter in its final form is followed by another letter. Five Hebrew letters have such a form. */
function isHebrewEndInside(before: number, code: number): boolean {
  return "ךםןףץ".includes(String.fromCodePoint(before)) && isHebrew(code);
}

/** Whether a vowel sign or tone mark does not follow a consonant. */
function isThaiMarkAlone(before: number, code: number): boolean {
  const isMark = (at: number) => at === 0xe31 || within(0xe34, 0xe3a)(at) || within(0xe47, 0xe4e)(at);
  return isMark(code) && !isMark(before) && !within(0xe01, 0xe2e)(before);
}

function isLatin(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

function isUpper(code: number): boolean {
  const letter = String.fromCodePoint(code);
  return letter !== letter.toLowerCase();
}

function isLower(code: number): boolean {
  const letter = String.fromCodePoint(code);
  return letter !== letter.toUpperCase();
}
