import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FrameCutter, parseFrames, type SseFrame } from "../../src/base/sse.ts";
import { anyText } from "../support/any-text.ts";

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

  /** Any text without line breaks: valid content of a stream, and text that only looks like its field names. */
  const words = fc.oneof(
    fc.constantFrom(
      "é😀x",
      '{"a":1}',
      " x",
      "",
      ":",
      "data: x",
      "\uFEFF",
      "\uFFFD",
      "\u2028\u0085\u0000\v\f",
      "[DONE]",
    ),
    anyText().map((text) => text.replace(/[\r\n]/g, "")),
    fc.integer({ min: 0, max: 3 }).map((n) => "東".repeat(10 ** n)),
  );
  const field = fc.constantFrom(
    "data: ",
    "data:",
    "data",
    "event: ",
    "event:",
    "event",
    "id: ",
    "retry:",
    ":",
    "",
    "\uFEFFdata: ",
  );
  const line = fc.oneof(
    { weight: 3, arbitrary: fc.tuple(field, words).map(([name, text]) => encode(name + text)) },
    { weight: 2, arbitrary: fc.constant(encode("")) },
    // Bytes that are not valid text, among them the first bytes of characters.
    {
      weight: 1,
      arbitrary: fc.uint8Array({ maxLength: 6 }).map((bytes) => bytes.filter((byte) => byte !== 10 && byte !== 13)),
    },
  );
  const newline = fc.constantFrom("\n", "\r\n", "\r").map(encode);
  const stream = fc
    .tuple(fc.constantFrom("", "\uFEFF").map(encode), fc.array(fc.tuple(line, newline), { maxLength: 12 }), line)
    .map(([mark, lines, last]) => new Uint8Array(Buffer.concat([mark, ...lines.flat(), last])));

  test("any bytes are read as the standard has it", () => {
    fc.assert(
      fc.property(stream, (bytes) => {
        expect(framesOf([bytes])).toEqual(byTheStandard(bytes));
      }),
      { numRuns: 300 },
    );
  });

  test("any byte split gives the same frames", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(12), { maxLength: 40 }), (bytes, cuts) => {
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
      }),
      { numRuns: 150 },
    );
  });
});

/** Parses an event stream as the HTML standard describes, line by line; the end of the stream also ends a frame. */
function byTheStandard(bytes: Uint8Array): SseFrame[] {
  const frames: SseFrame[] = [];
  let event: string | undefined;
  let data: string[] = [];
  for (const line of [...new TextDecoder().decode(bytes).split(/\r\n|\n|\r/), ""]) {
    if (line === "") {
      if (data.length > 0) frames.push({ event, data: data.join("\n") });
      event = undefined;
      data = [];
      continue;
    }
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "data") data.push(value);
    if (name === "event") event = value;
  }
  return frames;
}

test("any bytes become the same frames, however they are split, and wherever they stand in their buffers", () => {
  const texts = ["a", "\n\n", "\r", "data: b\n", "é", "€", "😀", "\uFEFF"].map((text) => Buffer.from(text));
  const broken = [[0xef], [0xbb], [0xf0, 0x9f], [0xff]].map((bytes) => Buffer.from(bytes));
  const piece = fc.constantFrom(...texts, ...broken);
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 20 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 6 })),
      (pieces, sizes) => {
        const bytes = Buffer.concat(pieces);
        const cutter = new FrameCutter();
        let text = "";
        for (let at = 0; at < bytes.length; ) {
          const to = Math.min(bytes.length, at + sizes.next().value);
          text += cutter.push(bytes, at, to);
          at = to;
        }
        // The bytes as a whole are decoded by the runtime.
        expect(parseFrames(text + cutter.end())).toEqual(framesOf([new Uint8Array(bytes)]));
      },
    ),
  );
});
