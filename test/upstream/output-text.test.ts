// The text of answers that is kept while they are streamed, and the memory that it takes.

import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { OutputText } from "../../src/upstream/output-text.ts";
import { anyText } from "../support/any-text.ts";

const STREAMS = 300;
const PIECES = 640;

function strings(): number {
  Bun.gc(true);
  return heapStats().objectTypeCounts["string"] ?? 0;
}

/** What the heap holds outside of itself, such as the characters of strings. */
function heldBytes(): number {
  Bun.gc(true);
  return heapStats().extraMemorySize;
}

test("the text of many long answers is a few strings each, also in optimised code", () => {
  const before = strings();
  const outputs = Array.from({ length: STREAMS }, () => new OutputText());
  for (let piece = 0; piece < PIECES; piece++)
    for (const [index, output] of outputs.entries()) {
      output.add(`${index} says word ${piece}`);
      if (index % 2 === 0) output.own();
    }
  expect((strings() - before) / STREAMS).toBeLessThan(20);
  expect(String(outputs[7])).toStartWith("7 says word 07 says word 1");
});

const TEXTS = fc.oneof(
  anyText({ maxLength: 40 }),
  // Halves of characters, as a stream may be cut within one.
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 }).map((codes) => String.fromCharCode(...codes)),
  fc.integer({ min: 200, max: 3000 }).map((length) => "é".repeat(length)),
  fc.integer({ min: 200, max: 3000 }).map((length) => "語".repeat(length)),
);

test("all text is kept in its order, whatever its characters and the lengths of its pieces", () => {
  fc.assert(
    fc.property(fc.array(TEXTS, { maxLength: 300 }), fc.array(fc.boolean(), { minLength: 1 }), (pieces, ends) => {
      const output = new OutputText();
      for (const [at, piece] of pieces.entries()) {
        output.add(piece);
        if (ends[at % ends.length]) output.own();
        // Reading it changes nothing.
        if (at % 97 === 0) expect(output.toString()).toBe(pieces.slice(0, at + 1).join(""));
      }
      expect(output.toString()).toBe(pieces.join(""));
      expect(output.chars).toBe(pieces.join("").length);
    }),
  );
});

test("only the first characters of a long answer are kept, and all are counted", () => {
  for (const piece of ["word ", "語", "x".repeat(300)]) {
    const output = new OutputText();
    const count = Math.ceil((700 * 1024) / piece.length);
    for (let i = 0; i < count; i++) {
      output.add(piece);
      if (i % 3 === 0) output.own();
    }
    expect(output.chars).toBe(count * piece.length);
    const kept = output.toString();
    expect(kept.length).toBeWithin(512 * 1024, 512 * 1024 + piece.length);
    expect(kept).toBe(piece.repeat(kept.length / piece.length));
  }
});

test("pieces do not keep the memory from which they were cut", () => {
  const before = heldBytes();
  const outputs: OutputText[] = [];
  for (let i = 0; i < 1000; i++) {
    const output = new OutputText();
    // Each block is as large as what arrives at once may be, and has a short piece of text in it.
    for (const letter of ["a", "語", "b", "c"]) {
      output.add(
        Buffer.from(letter.repeat(16 * 1024))
          .toString()
          .slice(100, 105),
      );
      output.own();
    }
    outputs.push(output);
  }
  // The blocks have 96 MB.
  expect(heldBytes() - before).toBeLessThan(8 * 1024 * 1024);
  expect(String(outputs[7])).toBe("aaaaa語語語語語bbbbbccccc");
});
