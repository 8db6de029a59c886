import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countTokens as reference } from "gpt-tokenizer/encoding/o200k_base";
import { pieceEnd } from "../../src/base/token-pieces.ts";
import { countTokens } from "../../src/base/tokens.ts";

/** The reference reads special tokens only when asked, and never refuses them here. */
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
      fc.string({ unit: "binary" }),
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
        // JavaScript's \s, which the reference cuts by, is not Unicode's white space in these two.
        const plain = given.replaceAll(/[\u0085\ufeff]/g, "");
        expect(countTokens(plain)).toBe(expected(plain));
      }),
      { numRuns: 500 },
    );
  });

  test("a run longer than what is merged at once", () => {
    // Eight letters a token, as the reference says after some seconds.
    expect(countTokens("a".repeat(60_000))).toBe(7_500);
  });

  test("white space is what Unicode says it is", () => {
    // As in the vocabulary's own program: a next-line before a word is a piece's beginning, a byte order mark a sign.
    expect(pieceEnd("\u0085\u0085a", 0)).toBe(1);
    expect(pieceEnd("\ufeff\ufeffa", 0)).toBe(2);
  });

  test("pieces cover the text without a gap or a backward step", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (text) => {
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

  test("a text beyond a million characters is counted at its beginning and scaled", () => {
    const million = "word ".repeat(200_000);
    const counted = countTokens(million);
    expect(countTokens(million + million.slice(0, 500_000))).toBe(Math.ceil(counted * 1.5));
  });
});
