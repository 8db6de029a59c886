// Guesses the language of a query from its script and words. An uncertain guess counts as none, and engines then search in all
// languages.

/** Scripts that belong to one language, or to one far more than to others. The first match decides. */
const SCRIPTS: readonly (readonly [RegExp, string])[] = [
  [/[\u3040-\u30ff]/, "ja"],
  [/[\uac00-\ud7af\u1100-\u11ff]/, "ko"],
  [/\p{Script=Han}/u, "zh"],
  [/[іїєґ]/i, "uk"],
  [/\p{Script=Cyrillic}/u, "ru"],
  [/\p{Script=Greek}/u, "el"],
  [/\p{Script=Hebrew}/u, "he"],
  [/[پچژگ]/, "fa"],
  [/\p{Script=Arabic}/u, "ar"],
  [/\p{Script=Thai}/u, "th"],
  [/\p{Script=Devanagari}/u, "hi"],
  [/\p{Script=Bengali}/u, "bn"],
  [/\p{Script=Tamil}/u, "ta"],
  [/\p{Script=Georgian}/u, "ka"],
  [/\p{Script=Armenian}/u, "hy"],
];

/** Function words that rarely occur in the other languages of the list. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  en: [
    "the",
    "of",
    "and",
    "how",
    "what",
    "why",
    "where",
    "when",
    "who",
    "which",
    "with",
    "for",
    "does",
    "are",
    "from",
    "to",
    "vs",
  ],
  de: [
    "der",
    "die",
    "das",
    "und",
    "wie",
    "was",
    "ist",
    "für",
    "mit",
    "nicht",
    "ein",
    "eine",
    "warum",
    "wo",
    "wann",
    "wer",
    "von",
    "zum",
    "zur",
    "im",
  ],
  fr: [
    "le",
    "les",
    "des",
    "du",
    "et",
    "est",
    "pour",
    "avec",
    "dans",
    "comment",
    "pourquoi",
    "quel",
    "quelle",
    "où",
    "une",
    "sur",
    "aux",
  ],
  es: [
    "el",
    "los",
    "las",
    "y",
    "qué",
    "cómo",
    "por",
    "para",
    "dónde",
    "cuándo",
    "una",
    "del",
    "quién",
    "cuál",
    "mejor",
    "como",
  ],
  it: ["il", "gli", "di", "che", "perché", "dove", "quando", "della", "del", "sono", "nel", "migliore", "è"],
  pt: ["os", "uma", "como", "não", "são", "porque", "onde", "quando", "melhor", "do", "da", "em", "no", "na", "é", "o"],
  nl: ["het", "een", "van", "hoe", "wat", "waarom", "waar", "wanneer", "niet", "zijn", "beste", "voor", "met"],
  pl: ["jak", "co", "gdzie", "dlaczego", "kiedy", "jest", "nie", "się", "na", "w", "do", "dla"],
  sv: ["och", "hur", "vad", "varför", "när", "är", "inte", "för", "med", "en", "ett", "på"],
  tr: ["ve", "nasıl", "nedir", "neden", "nerede", "için", "bir", "ile", "mi"],
};

/** Letters that occur only in some of the languages. */
const LETTERS: readonly (readonly [RegExp, ...string[]])[] = [
  [/ß/, "de"],
  [/[ñ¿¡]/, "es"],
  [/[ãõ]/, "pt"],
  [/[łśźżęą]/, "pl"],
  [/[ğış]/, "tr"],
  [/å/, "sv"],
  [/[œèêëûîç]/, "fr"],
  [/ü/, "de"],
  [/[äö]/, "de", "sv"],
];

/** A letter of a single language counts as much as two function words. */
const LETTER_POINTS = 2;

/** The language of a query as an ISO 639-1 code; undefined if it is uncertain. */
export function guessLanguage(query: string): string | undefined {
  const script = SCRIPTS.find(([pattern]) => pattern.test(query));
  if (script !== undefined) return script[1];
  const text = query.toLowerCase();
  const words = text.split(/[^\p{L}]+/u);
  const points = new Map<string, number>();
  const add = (language: string, count: number) => points.set(language, (points.get(language) ?? 0) + count);
  for (const [language, known] of Object.entries(WORDS))
    for (const word of words) if (known.includes(word)) add(language, 1);
  const letter = LETTERS.find(([pattern]) => pattern.test(text));
  const [, ...languages] = letter ?? [];
  for (const language of languages) add(language, LETTER_POINTS / languages.length);
  const [first, second] = [...points].sort(([, a], [, b]) => b - a);
  if (first === undefined || first[1] === second?.[1]) return undefined;
  return first[0];
}

const SMALL_WORDS: ReadonlySet<string> = new Set([
  ...Object.values(WORDS).flat(),
  "a",
  "an",
  "in",
  "on",
  "is",
  "it",
  "to",
  "by",
  "at",
  "or",
  "be",
  "do",
  "i",
  "my",
]);

/** Whether a lower-case word is a stop word. */
export function isSmallWord(word: string): boolean {
  return SMALL_WORDS.has(word);
}
