// Whatever happens to a response on its way, an engine either reads it or reports a failure.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ENGINES } from "../../src/search/engines/index.ts";
import { play, readSample } from "./samples.ts";

const RUNS = 60;

/** A change of a text: a part of it is deleted, repeated or replaced. */
const change = fc
  .record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 0, max: 200 }),
    put: fc.oneof(
      fc.constantFrom("", '"', "<", ">", "{", "}", "[", "]", "&", "\u0000", "null", "</div>", "]]>", "\\u"),
      fc.string(),
    ),
    isTwice: fc.boolean(),
  })
  .map(({ at, length, put, isTwice }) => (text: string) => {
    const start = Math.floor(at * text.length);
    const part = text.slice(start, start + length);
    return text.slice(0, start) + (isTwice ? part + put + part : put) + text.slice(start + length);
  });

describe.each(ENGINES.map((engine) => [engine.name, engine] as const))("%s", (name, engine) => {
  test("reads a damaged answer, or reports a failure", () => {
    for (const one of readSample(name).cases) {
      fc.assert(
        fc.property(change, (spoil) => {
          const { parsed } = play(engine, one, { change: spoil });
          if (parsed.kind === "failure") expect(parsed.failure.message).toMatch(/^[A-Z][^\n]*\.$/);
          if (parsed.kind !== "hits") return;
          for (const { url, title, snippet, publishedAt } of parsed.hits) {
            expect(url).toMatch(/^https?:\/\//);
            expect(title).not.toBe("");
            for (const text of [title, snippet]) expect(text).not.toMatch(/[\u0000-\u001f\u007f]|^\s|\s$/);
            if (publishedAt !== undefined) expect(Number.isNaN(Date.parse(publishedAt))).toBe(false);
          }
        }),
        { numRuns: RUNS },
      );
    }
  });
});
