import { describe, expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import { type PdfPiece, pdfLinesOf } from "../../src/pages/convert/pdf-lines.ts";
import { pdfMarkdown } from "../../src/pages/convert/pdf-markdown.ts";
import { createPdfReader } from "../../src/pages/convert/pdf-reader.ts";
import { unpacksToMore } from "../../src/pages/convert/pdf-streams.ts";
import { readPdf } from "../../src/pages/convert/pdf-text.ts";
import { linkedFrom, pdfOf, placed, shown, twiceDeflated } from "../support/pdf.ts";
import { cpuMs } from "../support/real-time.ts";

const MIB = 1024 * 1024;
const reader = createPdfReader();
const read = (bytes: Uint8Array) => reader.read(bytes, { account: "", bytesMax: 10 * MIB, timeoutMs: 60_000 });

/** The content of a page that claims to be an image. */
const disguised = pdfOf(twiceDeflated(400), "/Subtype/Image/Filter[/FlateDecode/FlateDecode]");

test("a compressed PDF becomes text", async () => {
  const { markdown } = await read(pdfOf(deflateSync(shown("Hello PDF")), "/Filter/FlateDecode"));
  expect(markdown).toBe("Hello PDF");
}, 60_000);

test("two kilobytes that decompress to more than the limit are too large", async () => {
  const bomb = pdfOf(twiceDeflated(200), "/Filter[/FlateDecode/FlateDecode]");
  expect(bomb.length).toBeLessThan(4096);
  await expect(read(bomb)).rejects.toMatchObject({ fault: "too_large" });
}, 60_000);

test("data that only appears during parsing is stopped by the memory limit", async () => {
  expect(unpacksToMore(disguised, 10 * MIB)).toBe(false);
  await expect(read(disguised)).rejects.toMatchObject({ fault: "too_large" });
}, 60_000);

test("a caller that leaves ends the process, and the next one is served", async () => {
  const abort = new AbortController();
  const leaving = reader.read(disguised, { account: "", bytesMax: 10 * MIB, timeoutMs: 60_000, signal: abort.signal });
  const next = read(pdfOf(shown("Next")));
  abort.abort(new Error("left"));
  await expect(leaving).rejects.toThrow("left");
  expect((await next).markdown).toBe("Next");
}, 60_000);

test("a PDF that takes too long is given up", async () => {
  const reading = reader.read(pdfOf(shown("Late")), { account: "", bytesMax: MIB, timeoutMs: 1 });
  await expect(reading).rejects.toMatchObject({ fault: "conversion" });
}, 60_000);

test("links whose edges stand within words", async () => {
  const url = "https://example.com/";
  const text = shown("see the manual for more");
  const linked = async (...places: [string, number, number][]) =>
    ((await readPdf(pdfOf(text, "", linkedFrom(...places)), MIB)) as { text: string }).text;
  // From before the line into the first word, and from the first word into the second.
  expect(await linked([url, 0, 14])).toBe("see the manual for more");
  expect(await linked([url, 10, 38])).toBe(`[see](${url}) the manual for more`);
  // The link that stands first on the page need not be listed first.
  expect(await linked(["https://two.example/", 52, 91], [url, 10, 28])).toBe(
    `[see](${url}) the [manual](https://two.example/) for more`,
  );
}, 60_000);

describe("very many pieces take time that is linear in their number", () => {
  const piece = (text: string, x: number, y: number, size = 10): PdfPiece => ({
    ...{ text, x, y, size, width: 5 * text.length },
    ...{ font: "", isCode: false },
  });
  // Quadratic work takes many times as long.
  const cases: readonly (readonly [name: string, count: number, pieceAt: (at: number) => PdfPiece])[] = [
    ["one line", 200_000, (at) => piece("a", at, 0)],
    ["words with gaps", 200_000, (at) => piece("a", at * 10, 0)],
    ["code", 200_000, (at) => ({ ...piece("a", at * 10, 0), isCode: true })],
    ["powers", 200_000, (at) => (at % 2 === 0 ? piece("a", at * 10, 0) : piece("2", at * 10, 4, 6))],
    ["figures in a line from right to left", 200_000, (at) => piece(at < 4 ? "\u05d0\u05d1" : "1", at * 10, 0)],
    ["lines of a paragraph", 80_000, (at) => piece(`word ${at}`, 50, -at * 12)],
    ["words that lines part", 80_000, (at) => piece("abc-", 50, -at * 12)],
    ["words with hyphens", 20_000, (at) => piece("-a-b-c-", 50, -at * 12)],
    ["a size for each line", 80_000, (at) => piece("word", 50, -at * at * 0.6 - at * 200, 10 + at * 0.5)],
    ["lines at one place", 100_000, (at) => piece("word", 50, 1 + (at % 2) * 50)],
  ];
  test.each(cases)("%s", (_, count, pieceAt) => {
    const pieces = Array.from({ length: count }, (_none, at) => pieceAt(at));
    const read = () => pdfMarkdown([{ number: 1, bottom: 0, height: 800, lines: pdfLinesOf(pieces) }]);
    expect(cpuMs(read)).toBeLessThan(1500);
  });
});

describe("Markdown", () => {
  type Text = readonly [string, number, number, number?];
  const cases: readonly (readonly [name: string, markdown: string, texts: readonly Text[]])[] = [
    [
      "a power",
      "10^6 cells",
      [
        ["10", 10, 100],
        ["6", 21.2, 104, 7],
        ["cells", 28, 100],
      ],
    ],
    [
      "an index",
      "H₂O",
      [
        ["H", 10, 100],
        ["2", 17.3, 98, 7],
        ["O", 21.3, 100],
      ],
    ],
    [
      "a note mark",
      "Built in 1911 here.",
      [
        ["Built in 1911", 10, 100],
        ["2", 69.5, 104, 7],
        ["here.", 78, 100],
      ],
    ],
    [
      "headings and paragraphs",
      "# Title\n\nOne line that goes on in the next one.\n\nAnother paragraph.",
      [
        ["Title", 10, 180, 18],
        ["One line that goes on", 10, 150],
        ["in the next one.", 10, 138],
        ["Another paragraph.", 10, 114],
      ],
    ],
    ["a date behind a bullet", "- 24\\. May", [["\\267 24. May", 10, 150]]],
    [
      "lists",
      "- One that is long enough for two lines\n- Two\n\nText",
      [
        ["- One that is long enough", 10, 150],
        ["for two lines", 20, 138],
        ["- Two", 10, 126],
        ["Text", 10, 90],
      ],
    ],
    [
      "a table",
      "| Name | Depth |\n| --- | --- |\n| North | 12 m |\n| South | 9 m |",
      [
        ["Name", 10, 150],
        ["Depth", 90, 150],
        ["North", 10, 138],
        ["12 m", 90, 138],
        ["South", 10, 126],
        ["9 m", 90, 126],
      ],
    ],
    ["signs of Markdown", "2 \\* 3 \\* 4 and a_b", [["2 * 3 * 4 and a_b", 10, 100]]],
    [
      "a page number",
      "Text",
      [
        ["Text", 10, 100],
        ["Page 1", 90, 5],
      ],
    ],
  ];
  test.each(cases)("%s", async (_, markdown, texts) => {
    expect((await readPdf(pdfOf(placed(...texts)), MIB)) as unknown).toEqual({ title: "", text: markdown });
  });

  const piece = (text: string, x: number, width: number, more: Partial<PdfPiece> = {}): PdfPiece => {
    return { text, x, y: 100, width, size: 12, font: "f", isCode: false, ...more };
  };
  test.each<[string, PdfPiece[], string]>([
    [
      "Hebrew in the order of the eye",
      [
        piece(".42", 401, 19),
        piece("מספר", 424, 30),
        piece(",", 458, 4),
        piece("עולם", 462, 26),
        piece("שלום", 492, 27),
      ],
      "שלום עולם, מספר 42.",
    ],
    [
      "Arabic letters in the forms of their positions",
      ["ﺮ", "ﻬ", "ﻨ", "ﻠ", "ﻟ"].map((form, at) => piece(form, 326 + 5 * at, 5)),
      "للنهر",
    ],
    ["ligatures", [piece("ﬁne", 10, 20)], "fine"],
    [
      "a link",
      [piece("see", 10, 20), piece("the data", 33, 40, { link: "https://example.com/a b" }), piece("here", 77, 20)],
      "see [the data](https://example.com/a%20b) here",
    ],
  ])("%s", (_, pieces, text) => expect(pdfLinesOf(pieces).map((line) => line.text)).toEqual([text]));

  test("running heads are left out", () => {
    const pages = [1, 2, 3].map((number) => ({
      number,
      bottom: 0,
      height: 800,
      lines: pdfLinesOf([piece(`Journal, vol. 7 / ${number}`, 10, 100, { y: 790 }), piece(`Text ${number}.`, 10, 50)]),
    }));
    expect(pdfMarkdown(pages)).toBe("Text 1.\n\nText 2.\n\nText 3.");
  });
});

describe("decompression", () => {
  const KIB = Buffer.alloc(1024, 65);
  const ascii85 = (zs: number) => "z".repeat(zs);
  /** Codes of nine bits. Each code makes the output run one longer than the previous one. */
  const lzw = (codes: readonly number[]) => {
    const bits = codes.map((code) => code.toString(2).padStart(9, "0")).join("");
    return Buffer.from((bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, "0"), 2)));
  };
  const growing = lzw([256, 65, ...Array.from({ length: 40 }, (_, index) => 258 + index), 257]);
  test.each<[string, Buffer, string, number]>([
    ["nothing", KIB, "", 0],
    ["deflate", deflateSync(KIB), "/Filter/FlateDecode", 1024],
    ["a short name", deflateSync(KIB), "/F/Fl", 1024],
    ["letters by their numbers", deflateSync(KIB), "/Filter/#46lateDecod#65", 1024],
    ["deflate cut off", deflateSync(KIB).subarray(0, -4), "/Filter /FlateDecode", 1024],
    ["run lengths", Buffer.from([129, 65, 129, 65, 128]), "/Filter/RunLengthDecode", 256],
    ["hexadecimal digits", Buffer.from("4142 434>"), "/Filter/ASCIIHexDecode", 4],
    ["ASCII 85", Buffer.from(`${ascii85(64)}~>`), "/Filter/ASCII85Decode", 256],
    ["LZW", growing, "/Filter/LZWDecode", (41 * 42) / 2],
    [
      "a chain",
      Buffer.from(`${deflateSync(KIB).toString("hex")}>`),
      "/Filter[/AHx/Fl]",
      1024 + deflateSync(KIB).length,
    ],
    ["a picture", deflateSync(KIB), "/Subtype/Image/Filter/FlateDecode", 0],
    ["a picture's own format", KIB, "/Filter/DCTDecode", 0],
  ])("%s", (_, data, filter, size) => {
    const pdf = pdfOf(data, filter);
    expect(unpacksToMore(pdf, size)).toBe(false);
    if (size > 0) expect(unpacksToMore(pdf, size - 1)).toBe(true);
  });
});
