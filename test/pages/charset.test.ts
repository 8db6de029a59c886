import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeHtml, detectCharset } from "../../src/pages/convert/charset.ts";
import { anyText } from "../support/any-text.ts";

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))));
/** "Привет мир" and more, as single bytes. */
const CYRILLIC = [
  0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x20, 0xec, 0xe8, 0xf0, 0x2c, 0x20, 0xea, 0xe0, 0xea, 0x20, 0xe4, 0xe5, 0xeb,
  0xe0,
];
/** "これはテストです" in Shift_JIS and EUC-JP. */
const SJIS = [0x82, 0xb1, 0x82, 0xea, 0x82, 0xcd, 0x83, 0x65, 0x83, 0x58, 0x83, 0x67, 0x82, 0xc5, 0x82, 0xb7];
const EUCJP = [0xa4, 0xb3, 0xa4, 0xec, 0xa4, 0xcf, 0xa5, 0xc6, 0xa5, 0xb9, 0xa5, 0xc8, 0xa4, 0xc7, 0xa4, 0xb9];
/** "我们的中国人是不是" in GBK. */
const GBK = [
  0xce, 0xd2, 0xc3, 0xc7, 0xb5, 0xc4, 0xd6, 0xd0, 0xb9, 0xfa, 0xc8, 0xcb, 0xca, 0xc7, 0xb2, 0xbb, 0xca, 0xc7,
];
/** "안녕하세요" in EUC-KR. */
const EUCKR = [0xbe, 0xc8, 0xb3, 0xe7, 0xc7, 0xcf, 0xbc, 0xbc, 0xbf, 0xe4];

const wide = (text: string) => Buffer.from(text, "utf16le");

/** Encodes each character as one byte, by the decoder's own table. */
function encode(label: string, text: string): Buffer {
  const decoded = new TextDecoder(label as Bun.Encoding).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  return Buffer.from([...text].map((letter) => decoded.indexOf(letter)));
}

/** Text in the languages for which each encoding was made, as on pages that declare no encoding. */
const UNDECLARED: [charset: string, text: string][] = [
  ["windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy"],
  ["windows-1250", "Zażółć gęślą jaźń pod względem godności"],
  ["windows-1250", "Minden emberi lény szabadon születik, egyenlő méltósága és joga van, tűzőgép"],
  ["iso-8859-2", "Příliš žluťoučký kůň úpěl ďábelské ódy"],
  ["windows-1251", "Всички хора се раждат свободни и равни"],
  ["windows-1251", "Всі люди народжуються вільними і рівними"],
  ["windows-1251", "МОСКВА. Главные новости дня"],
  ["koi8-r", "Все люди рождаются свободными и равными"],
  ["windows-1252", "Alle Menschen sind frei und gleich an Würde geboren"],
  ["windows-1252", "Todos los seres humanos nacen libres; ¿qué? dotados de razón, niño"],
  ["windows-1252", "Todos os seres humanos têm direitos. ação, coração, não são"],
  ["windows-1252", "naïve – test"],
  ["windows-1252", "only £5"],
  ["windows-1253", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι"],
  ["windows-1254", "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar"],
  ["windows-1255", "כל בני אדם נולדו בני חורין ושווים בערכם"],
  ["windows-1256", "يولد جميع الناس أحراراً متساوين في الكرامة"],
  ["windows-1257", "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā"],
  ["windows-874", "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน"],
];

const CASES: [name: string, bytes: Buffer, contentType: string | null, charset: string][] = [
  ["a UTF-8 mark wins", bytes([0xef, 0xbb, 0xbf], "<p>x"), "text/html; charset=iso-8859-1", "utf-8"],
  ["a UTF-16 mark wins", bytes([0xff, 0xfe, 0x41, 0]), "text/html; charset=utf-8", "utf-16le"],
  [
    "the header comes before the page",
    bytes('<meta charset="utf-8">é'),
    "text/html; charset=windows-1251",
    "windows-1251",
  ],
  ["quoted header values", bytes("x"), 'text/html; charset="Shift_JIS"', "shift_jis"],
  ["an unknown header is passed over", bytes('<meta charset="koi8-r">'), "text/html; charset=nonsense", "koi8-r"],
  ["meta charset", bytes("<meta charset=euc-kr>"), null, "euc-kr"],
  [
    "meta http-equiv",
    bytes('<meta http-equiv="Content-Type" content="text/html; charset=gb2312">'),
    "text/html",
    "gbk",
  ],
  ["an XML declaration", bytes('<?xml version="1.0" encoding="iso-8859-2"?><html>'), null, "iso-8859-2"],
  ["a meta in a comment does not count", bytes('<!-- <meta charset="big5"> --><p>a'), null, "utf-8"],
  ["a meta cannot say UTF-16", bytes('<meta charset="utf-16">'), null, "utf-8"],
  ["plain ASCII", bytes("<p>hello"), "text/html", "utf-8"],
  ["valid UTF-8", Buffer.from("<p>Grüße 世界"), null, "utf-8"],
  ["UTF-16 without a mark", Buffer.from("<html><p>hello</p></html>", "utf16le"), null, "utf-16le"],
  ["windows-1251 by its looks", bytes("<p>", CYRILLIC), null, "windows-1251"],
  ["Shift_JIS by its looks", bytes("<p>", SJIS), null, "shift_jis"],
  ["EUC-JP by its looks", bytes("<p>", EUCJP), null, "euc-jp"],
  ["GB18030 by its looks", bytes("<p>", GBK), null, "gb18030"],
  ["EUC-KR by its looks", bytes("<p>", EUCKR), null, "euc-kr"],
  [
    "UTF-16 by its header, in a script without zeros",
    wide("<p>日本語の文章です。東京都の天気</p>"),
    "text/html; charset=utf-16le",
    "utf-16le",
  ],
  ["a header that says UTF-16 of what is not", bytes("<p>plain"), "text/html; charset=utf-16", "utf-8"],
  ["ISO-2022-JP by its shifts", bytes("<p>", [0x1b, 0x24, 0x42, 0x24, 0x22, 0x1b, 0x28, 0x42]), null, "iso-2022-jp"],
  ["a header that hides UTF-8", Buffer.from("<p>Grüße 世界"), "text/html; charset=iso-8859-1", "utf-8"],
  ["a meta that hides UTF-8", Buffer.from('<meta charset="windows-1251"><p>Привет'), null, "utf-8"],
  ["a header that says UTF-8 of what is not", bytes("<p>", CYRILLIC), "text/html; charset=utf-8", "windows-1251"],
  [
    "one that is overruled by a right meta",
    bytes('<meta charset="koi8-r"><p>', CYRILLIC),
    "text/html; charset=utf-8",
    "koi8-r",
  ],
  [
    "UTF-8 with a broken character",
    bytes("<p>gr", [0xc3, 0xbc], "n wei", [0xc3, 0x9f], " ", [0xff]),
    "text/html; charset=utf-8",
    "utf-8",
  ],
  ["Latin text otherwise", bytes("<p>caf", [0xe9], " d", [0xe9], "j", [0xe0]), null, "windows-1252"],
];

describe("charset", () => {
  for (const [name, input, contentType, charset] of CASES)
    test(name, () => expect(detectCharset(input, contentType)).toBe(charset));

  for (const [label, written] of UNDECLARED)
    test(`${label}: ${written}`, () => {
      const page = Buffer.concat([Buffer.from("<title>x</title><p>"), encode(label, written), Buffer.from("</p>")]);
      expect(decodeHtml(page, "text/html")).toContain(written);
    });

  test("text is decoded so", () => {
    expect(decodeHtml(bytes("<p>", CYRILLIC), null)).toContain("Привет мир");
    expect(decodeHtml(bytes("<p>", SJIS), null)).toContain("これはテストです");
    expect(decodeHtml(bytes("<p>", GBK), null)).toContain("我们的中国人");
  });

  test("self-closing elements are empty in XHTML, but not in HTML", () => {
    const page = bytes('<script src="a.js" /><br/><p>text</p>');
    expect(decodeHtml(page, "application/xhtml+xml; charset=utf-8")).toBe(
      '<script src="a.js" ></script><br/><p>text</p>',
    );
    expect(decodeHtml(page, "text/html")).toBe('<script src="a.js" /><br/><p>text</p>');
  });

  test("zero bytes are not text", () => expect(decodeHtml(bytes("a\0b"), "text/html")).toBe("ab"));

  test("any bytes result in text", () => {
    const label = fc.constantFrom(
      ..."utf-8 utf-16le utf-16be windows-1251 koi8-r shift_jis euc-jp gbk gb18030 big5 euc-kr iso-2022-jp".split(" "),
      ..."x-user-defined replacement iso-2022-kr constructor __proto__ \ud83d".split(" "),
    );
    const header = fc.oneof(
      fc.constant(null),
      label.map((name) => `text/html; charset=${name}`),
      fc.string(),
    );
    const meta = fc.oneof(
      fc.constant(""),
      label.map((name) => `<meta charset="${name}">`),
    );
    fc.assert(
      fc.property(meta, fc.uint8Array({ maxLength: 300 }), header, (head, input, contentType) => {
        const text = decodeHtml(Buffer.concat([Buffer.from(head), input]), contentType);
        expect([text.isWellFormed(), text.includes("\0")]).toEqual([true, false]);
      }),
      { numRuns: 300 },
    );
  });

  test("text with a correct declaration or byte order mark is read as it was written", () => {
    fc.assert(
      fc.property(anyText(), (given) => {
        const text = given
          .toWellFormed()
          .replaceAll("\0", "")
          .replace(/^\uFEFF+/, "");
        expect(decodeHtml(Buffer.from(text), "text/html; charset=utf-8")).toBe(text);
        expect(decodeHtml(Buffer.from(`\uFEFF${text}`), "text/html; charset=big5")).toBe(text);
        expect(decodeHtml(Buffer.from(`\uFEFF${text}`, "utf16le"), null)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });
});
