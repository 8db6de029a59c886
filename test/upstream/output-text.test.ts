// The memory that the text of answers takes while they are streamed.

import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { OutputText } from "../../src/upstream/output-text.ts";

const STREAMS = 300;
const PIECES = 640;

function strings(): number {
  Bun.gc(true);
  return heapStats().objectTypeCounts["string"] ?? 0;
}

test("the text of many long answers is a few strings each, also in optimised code", () => {
  const before = strings();
  const outputs = Array.from({ length: STREAMS }, () => new OutputText());
  for (let piece = 0; piece < PIECES; piece++)
    for (const [index, output] of outputs.entries()) output.add(`${index} says word ${piece}`);
  expect((strings() - before) / STREAMS).toBeLessThan(20);
  expect(String(outputs[7])).toStartWith("7 says word 07 says word 1");
});
