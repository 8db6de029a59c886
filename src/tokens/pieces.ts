// Splits text into the pieces within which o200k_base merges, in the same way as its regular expression. The scanner examines
// each character a limited number of times, so that no text makes it slow.

/** The classes of a character, as bits. */
const LETTER = 1;
/** A character that may start a word: upper case, title case, modifier, other letter, mark. */
const OPENS = 2;
/** A character that may continue a word: lower case, modifier, other letter, mark. */
const CONTINUES = 4;
const NUMBER = 8;
const SPACE = 16;
const BREAK = 32;
const KNOWN = 128;

/** The end of the piece that starts at `start`, in code units. `start` must be within the text. */
export function pieceEnd(text: string, start: number): number {
  const first = text.codePointAt(start)!;
  const kind = classOf(first);
  const word = wordEnd(text, start, kind);
  if (word !== -1) return contractionEnd(text, word);
  if ((kind & NUMBER) !== 0) return numberEnd(text, start);
  const symbols = first === 0x20 ? start + 1 : start;
  const end = runEnd(text, symbols, isSymbol);
  if (end > symbols) return runEnd(text, end, isBreakOrSlash);
  return spaceEnd(text, start);
}

/**
 * The end of `[^\r\n\p{L}\p{N}]?` with a word after it, which has lower-case letters or consists of capitals; -1 if there is
 * none.
 */
function wordEnd(text: string, start: number, kind: number): number {
  const bare = (kind & (OPENS | CONTINUES)) !== 0;
  const prefixed = (kind & (LETTER | NUMBER | BREAK)) === 0;
  const second = prefixed ? start + widthAt(text, start) : start;
  let end = prefixed ? smallWordEnd(text, second) : -1;
  if (end === -1 && bare) end = smallWordEnd(text, start);
  if (end !== -1) return end;
  // No word with lower-case letters was found, so none can follow a run of capitals either.
  if (prefixed) {
    end = runEnd(text, second, opens);
    if (end > second) return end;
  }
  return bare ? runEnd(text, start, opens) : -1;
}

/**
 * The end of capitals (or none) followed by at least one letter that is not a capital; if capitals follow that one, the last such
 * letter.
 */
function smallWordEnd(text: string, start: number): number {
  let at = start;
  let last = -1;
  for (; at < text.length; at += widthAt(text, at)) {
    const kind = classAt(text, at);
    if ((kind & OPENS) === 0) break;
    if ((kind & CONTINUES) !== 0) last = at + widthAt(text, at);
  }
  const end = runEnd(text, at, continues);
  return end > at ? end : last;
}

/** The end of a word with `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` after it. */
function contractionEnd(text: string, end: number): number {
  if (text.charCodeAt(end) !== 0x27) return end;
  const one = text.charCodeAt(end + 1) | 0x20;
  if (one === 0x73 || one === 0x74 || one === 0x6d || one === 0x64) return end + 2;
  const two = text.charCodeAt(end + 2) | 0x20;
  if ((one === 0x72 || one === 0x76) && two === 0x65) return end + 3;
  return one === 0x6c && two === 0x6c ? end + 3 : end;
}

/** The end of up to three digits. */
function numberEnd(text: string, start: number): number {
  let end = start;
  for (let digits = 0; digits < 3 && end < text.length; digits++) {
    if ((classAt(text, end) & NUMBER) === 0) break;
    end += widthAt(text, end);
  }
  return end;
}

/**
 * The end of white space: after its last line break or, if there is none, before its last character, which belongs to the next
 * piece.
 */
function spaceEnd(text: string, start: number): number {
  const end = runEnd(text, start, isSpace);
  for (let at = end; at > start; at--) if (isBreak(text.charCodeAt(at - 1))) return at;
  return end === text.length || end === start + 1 ? end : end - 1;
}

function runEnd(text: string, start: number, belongs: (kind: number, code: number) => boolean): number {
  let end = start;
  while (end < text.length) {
    const code = text.codePointAt(end)!;
    if (!belongs(classOf(code), code)) break;
    end += code > 0xffff ? 2 : 1;
  }
  return end;
}

const opens = (kind: number): boolean => (kind & OPENS) !== 0;
const continues = (kind: number): boolean => (kind & CONTINUES) !== 0;
const isSpace = (kind: number): boolean => (kind & SPACE) !== 0;
const isSymbol = (kind: number): boolean => (kind & (LETTER | NUMBER | SPACE)) === 0;
const isBreakOrSlash = (_: number, code: number): boolean => isBreak(code) || code === 0x2f;

function isBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d;
}

function widthAt(text: string, at: number): number {
  return text.codePointAt(at)! > 0xffff ? 2 : 1;
}

function classAt(text: string, at: number): number {
  return classOf(text.codePointAt(at)!);
}

/** The classes by code point, computed on first use. Unused memory pages cost nothing. */
const classes = new Uint8Array(0x110000);

function classOf(code: number): number {
  const known = classes[code]!;
  if (known !== 0) return known;
  const kind = KNOWN | classify(String.fromCodePoint(code));
  classes[code] = kind;
  return kind;
}

function classify(character: string): number {
  if (/\p{L}/u.test(character)) {
    if (/[\p{Lu}\p{Lt}]/u.test(character)) return LETTER | OPENS;
    return /\p{Ll}/u.test(character) ? LETTER | CONTINUES : LETTER | OPENS | CONTINUES;
  }
  if (/\p{M}/u.test(character)) return OPENS | CONTINUES;
  if (/\p{N}/u.test(character)) return NUMBER;
  if (/[\r\n]/.test(character)) return SPACE | BREAK;
  // The original program uses Unicode's white space, from which JavaScript's \s differs in two characters.
  return /\p{White_Space}/u.test(character) ? SPACE : 0;
}
