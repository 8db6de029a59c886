import { describe, expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import { createPdfReader } from "../../src/pages/convert/pdf-reader.ts";
import { unpacksToMore } from "../../src/pages/convert/pdf-streams.ts";
import { pdfOf, shown, twiceDeflated } from "../support/pdf.ts";

const MIB = 1024 * 1024;
const reader = createPdfReader();
const read = (bytes: Uint8Array) => reader.read(bytes, { account: "", bytesMax: 10 * MIB, timeoutMs: 60_000 });

/** The content of a page that claims to be an image. */
const disguised = pdfOf(twiceDeflated(400), "/Subtype/Image/Filter[/FlateDecode/FlateDecode]");

test("a compressed PDF", async () => {
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
