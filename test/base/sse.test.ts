import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FrameCutter, parseFrames, type SseFrame } from "../../src/base/sse.ts";

function framesOf(chunks: Uint8Array[]): SseFrame[] {
  const cutter = new FrameCutter();
  const frames: SseFrame[] = [];
  for (const chunk of chunks) {
    const block = cutter.push(chunk);
    if (block !== "") expect(block.endsWith("\n\n")).toBe(true);
    frames.push(...parseFrames(block));
  }
  return [...frames, ...parseFrames(cutter.end())];
}

const encode = (text: string) => new TextEncoder().encode(text);

describe("frames", () => {
  test.each<[string, string, SseFrame[]]>([
    ["one data line", "data: hi\n\n", [{ event: undefined, data: "hi" }]],
    ["no space after the colon", "data:hi\n\n", [{ event: undefined, data: "hi" }]],
    ["only one space goes", "data:  hi\n\n", [{ event: undefined, data: " hi" }]],
    ["event name", "event: ping\ndata: {}\n\n", [{ event: "ping", data: "{}" }]],
    ["several data lines", "data: a\ndata: b\n\n", [{ event: undefined, data: "a\nb" }]],
    ["comments", ": hello\n\ndata: x\n\n", [{ event: undefined, data: "x" }]],
    ["crlf", "event: e\r\ndata: x\r\n\r\n", [{ event: "e", data: "x" }]],
    [
      "lone cr",
      "data: x\r\rdata: y\r\r",
      [
        { event: undefined, data: "x" },
        { event: undefined, data: "y" },
      ],
    ],
    ["no closing empty line", "data: x", [{ event: undefined, data: "x" }]],
    ["byte order mark", "\uFEFFdata: x\n\n", [{ event: undefined, data: "x" }]],
    ["field without colon", "data\n\n", [{ event: undefined, data: "" }]],
    [
      "extra empty lines",
      "data: x\n\n\n\ndata: y\n\n",
      [
        { event: undefined, data: "x" },
        { event: undefined, data: "y" },
      ],
    ],
  ])("%s", (_name, text, expected) => expect(framesOf([encode(text)])).toEqual(expected));

  test("invalid UTF-8 becomes U+FFFD", () => {
    const bytes = new Uint8Array([...encode("data: a"), 0xff, 0xc3, ...encode("b\n\n")]);
    expect(framesOf([bytes])).toEqual([{ event: undefined, data: "a\uFFFD\uFFFDb" }]);
  });

  test("any byte split gives the same frames", () => {
    const line = fc.constantFrom(
      "data: é😀x",
      'data: {"a":1}',
      "event: e",
      ": c",
      "",
      "",
      "data:",
      "id: 1",
      "data: \uFFFD",
    );
    const newline = fc.constantFrom("\n", "\r\n", "\r");
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, newline), { maxLength: 12 }),
        fc.array(fc.nat(12), { maxLength: 40 }),
        (lines, cuts) => {
          const bytes = encode(lines.map(([text, end]) => text + end).join(""));
          const whole = framesOf([bytes]);
          const chunks: Uint8Array[] = [];
          let at = 0;
          for (const cut of cuts) {
            chunks.push(bytes.subarray(at, at + cut));
            at += cut;
          }
          chunks.push(bytes.subarray(at));
          expect(framesOf(chunks)).toEqual(whole);
          expect(framesOf([...bytes].map((byte) => new Uint8Array([byte])))).toEqual(whole);
        },
      ),
    );
  });
});
