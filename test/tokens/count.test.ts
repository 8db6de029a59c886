import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countTokens as reference } from "gpt-tokenizer/encoding/o200k_base";
import { countLineTokens, countTokens, TokenCounter, warmTokens } from "../../src/tokens/count.ts";
import { pieceEnd } from "../../src/tokens/pieces.ts";
import { anyText } from "../support/any-text.ts";
import { leastMs, STEP_MS_MAX } from "../support/least-ms.ts";

/** The reference counts special tokens as such only on request. With this option it never refuses them. */
const expected = (text: string) => reference(text, { disallowedSpecial: new Set() });

const SAMPLES: readonly [string, string][] = [
  ["nothing", ""],
  ["prose", "The quick brown fox didn't jump; it SHOULD'VE, they'll say. I'm sure we'd agree: that's that."],
  [
    "code",
    "export function f<T>(a: T[]): T {\n\treturn a.map((x) => `${x}`)[0]!; // why?\n}\r\n\r\n  if (x) { y(); }\n",
  ],
  ["paths", "https://example.com/a/b/c?d=e&f=g#h //// \n\n///\r\n"],
  ["numbers", "3.14159265 1234567890 ١٢٣٤ ⅻ ½²³ 0xdeadbeef"],
  ["spaces", "   a    b\t\tc \n \n\n   d\u00a0\u2003e   "],
  ["capitals", "HTTPServer ABCdef abcDEF XMLHttpRequest ÀÉÎõü ǅungla ªAªA aªB 中A文B"],
  ["marks", "e\u0301 \u0301A \u0301a A\u0301B !\u0301x नमस्ते ไม่มีปัญหา"],
  ["Chinese, Japanese, Korean", "你好,世界。今日はいい天気ですね。カタカナ 한국어 문장입니다."],
  ["emoji", "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 1️⃣ 🇨🇭🇯🇵 ☃️"],
  ["Arabic, Hebrew, Russian, Greek", "مرحبا بالعالم שלום עולם Привет, мир! Καλημέρα κόσμε"],
  ["astral letters", "𝐀𝐁𝐂 𝐚𝐛𝐜 𝟘𝟙 𐐀𐐨 𠀀𠀁"],
  ["halves of pairs", "a\ud800b\udc00\udc00 \ud83d"],
  ["special tokens as text", "<|endoftext|> and <|endofprompt|>"],
  ["contractions", "'S 'T 'RE 'Ve x'm X'LL y'D y'l y'r y's's '"],
  ["a long run", "a".repeat(5_000)],
  ["a long word", Array.from({ length: 5000 }, (_, n) => "etaoinshrdlu"[(n * n + (n >> 2)) % 12]).join("")],
  ["a long run of marks and signs", `${"\u0301".repeat(3000)}${"=".repeat(3000)}${"-+".repeat(1500)}`],
  ["base64", btoa(String.fromCharCode(...Array.from({ length: 6000 }, (_, n) => (n * 7919 + (n >> 3)) % 251)))],
];

describe("countTokens", () => {
  test.each(SAMPLES)("counts as the reference: %s", (_, text) => {
    expect(countTokens(text)).toBe(expected(text));
  });

  test("counts as the reference: any text", () => {
    const unit = fc.oneof(
      anyText(),
      fc.string({ unit: "grapheme" }),
      fc.constantFrom(
        " ",
        "\n",
        "\r\n",
        "\t",
        "'s",
        "'LL",
        "/",
        "A",
        "a",
        "ª",
        "\u0301",
        "中",
        "7",
        "ǅ",
        "\u2028",
        "\u3000",
      ),
      fc.lorem(),
    );
    const text = fc.array(unit, { maxLength: 20 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (given) => {
        // JavaScript's \s, by which the reference divides text, differs from Unicode's white space in these two characters.
        const plain = given.replaceAll(/[\u0085\ufeff]/g, "");
        expect(countTokens(plain)).toBe(expected(plain));
      }),
      { numRuns: 500 },
    );
  });

  test("counts as the reference: long runs, mixed with characters that end them", () => {
    const unit = fc.constantFrom(
      "a",
      "Z",
      "ab",
      "1",
      " ",
      "\n",
      "=",
      "-+",
      "é",
      "\u0301",
      "中",
      "文字",
      "か",
      "👋",
      "🏽",
      "\u200d",
      "ß",
      "'s",
    );
    const run = fc.tuple(unit, fc.integer({ min: 1, max: 300 })).map(([one, times]) => one.repeat(times));
    const text = fc.array(run, { minLength: 1, maxLength: 6 }).map((runs) => runs.join(""));
    fc.assert(
      fc.property(text, (given) => {
        expect(countTokens(given)).toBe(expected(given));
      }),
      { numRuns: 150 },
    );
  });

  test("counts as the reference: words of letters drawn from a few", () => {
    // Many tokens overlap in these words, so that earlier merges must often be undone.
    const word = fc
      .tuple(
        fc.constantFrom("ab", "aeiou", "etaoinshrdlu", "=-", "的一是不了人", "абвгд"),
        fc.array(fc.nat(), { maxLength: 400 }),
      )
      .map(([letters, draws]) => draws.map((draw) => letters[draw % letters.length]).join(""));
    fc.assert(
      fc.property(word, (given) => {
        expect(countTokens(given)).toBe(expected(given));
      }),
      { numRuns: 300 },
    );
  });

  test("sixty thousand letters without a space", () => {
    // There are eight letters per token. The reference gives the same after some seconds.
    expect(countTokens("a".repeat(60_000))).toBe(7_500);
  });

  test("white space is defined by Unicode", () => {
    // As in the vocabulary's own program, a next-line character before a word begins a piece, and a byte order mark counts as a
    // symbol.
    expect(pieceEnd("\u0085\u0085a", 0)).toBe(1);
    expect(pieceEnd("\ufeff\ufeffa", 0)).toBe(2);
  });

  test("pieces cover the text without gaps or overlaps", () => {
    fc.assert(
      fc.property(anyText({ minLength: 1 }), (text) => {
        let at = 0;
        while (at < text.length) {
          const end = pieceEnd(text, at);
          expect(end).toBeGreaterThan(at);
          at = end;
        }
        expect(at).toBe(text.length);
      }),
    );
  });

  test("a large text that must be counted synchronously is estimated from samples", () => {
    const words = "word ".repeat(100_000);
    expect(Math.abs(countTokens(words) / 100_001 - 1)).toBeLessThan(0.01);
    // Text of ordinary words is counted further than text whose words are not tokens.
    expect(countTokens("word ".repeat(50_000))).toBe(50_001);
    const letters = Array.from({ length: 130_000 }, (_, n) => "bcdfghjklm"[(n * n + (n >> 3)) % 10]).join("");
    const counted = countTokens(letters);
    expect(Math.abs(counted / countTokens(letters.slice(0, 60_000)) / (130 / 60) - 1)).toBeLessThan(0.03);
    // This also holds if the beginning differs from the rest. 128 spaces are one token.
    const uneven = " ".repeat(300_000) + "word ".repeat(60_000);
    expect(Math.abs(countTokens(uneven) / (300_000 / 128 + 60_000) - 1)).toBeLessThan(0.2);
  });
});

describe("TokenCounter", () => {
  // Text is examined in windows that end after 65,536 characters. Here the end is within a contraction, within spaces, and within
  // a surrogate pair.
  const endsIn = (what: string) => `${"word ".repeat(13_107).slice(0, 65_533)}${what} and on.`;
  const large: [string, string][] = [
    ["prose", "The quick brown fox didn't jump over it; they'll say 12345. ".repeat(3000)],
    ["long words", `${"中文字かな漢".repeat(20)} ${"b".repeat(100)} `.repeat(600)],
    ["emoji", "👩‍👩‍👧‍👦 \n\n   x".repeat(9000)],
    ["a window that ends in a contraction", endsIn("x'll")],
    ["a window that ends in spaces", endsIn(`${" ".repeat(40)}x`)],
    ["a window that ends in line breaks", endsIn(" \n \n\n x")],
    ["a window that ends in a number", endsIn(" 1234567")],
    ["a window that ends in a pair", endsIn(".👋🏽👋🏽")],
    ["a window that ends in the second pair", endsIn("..👋🏽👋🏽")],
  ];

  test.each(large)("counts large texts exactly: %s", async (_, text) => {
    expect(await new TokenCounter().count(text)).toBe(expected(text));
  });

  test("the error for a word larger than a window is at most the number of its cuts", async () => {
    const tokens = await new TokenCounter().count("a".repeat(200_001));
    expect(Math.abs(tokens - 25_001)).toBeLessThanOrEqual(4);
  });

  test("stops when a limit is exceeded, whatever follows", async () => {
    const counter = new TokenCounter();
    expect(await counter.count("word ".repeat(400), 100)).toBeGreaterThan(100);
    const endless = "word ".repeat(1_200_000);
    const enough = await counter.count(endless, 65_536);
    expect(enough).toBeGreaterThan(65_536);
    // The count stopped immediately after that.
    expect(enough).toBeLessThan(65_536 + 16_384);
    expect(await counter.count(" ".repeat(20_000_000), 65_536)).toBeGreaterThan(65_536);
  });

  test("lets other work run meanwhile", async () => {
    let turns = 0;
    let counting = true;
    const other = async () => {
      while (counting) {
        turns += 1;
        await new Promise<void>((resume) => setImmediate(resume));
      }
    };
    const busy = other();
    await new TokenCounter().count("The quick brown fox. ".repeat(20_000));
    // Many small texts need as much work as a large one.
    const before = turns;
    const counter = new TokenCounter();
    for (let n = 0; n < 200; n++) await counter.count("The quick brown fox. ".repeat(40));
    counting = false;
    await busy;
    expect(before).toBeGreaterThan(20);
    expect(turns - before).toBeGreaterThan(8);
  });
});

test("lines count as the text that they make, in short and where long ones are sampled", () => {
  const line = fc.oneof(
    fc.constantFrom("", "\n", "one line of words"),
    fc.integer({ min: 1, max: 40_000 }).map(numbered),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
      expect(countLineTokens(lines)).toBe(countTokens(lines.join("\n")));
    }),
    { numRuns: 60, examples: [[[]], [["", ""]], [[numbered(300_000)]], [[...Array(300_000).keys()].map(() => "")]] },
  );
});

/** Different words, so that each part has a number of tokens of its own. */
function numbered(characters: number): string {
  let text = "";
  for (let n = characters; text.length < characters; n = (n * 7919 + 13) % 1_000_003) text += `${n.toString(36)} `;
  return text.slice(0, characters);
}

test.each(["-", "*", "=", "#", "/"])("a run of one sign, which has a token of nearly each length: %s", async (sign) => {
  await warmTokens();
  const run = sign.repeat(30_000);
  expect(leastMs(() => countTokens(run))).toBeLessThan(STEP_MS_MAX);
});
