import { expect, test } from "bun:test";
import { cutBlocks } from "../../src/pages/content/blocks.ts";
import { bestThreshold } from "../../src/pages/content/choose.ts";
import { PAGE_KINDS, type PageKind } from "../../src/pages/content/kind-signs.ts";
import { parsePage } from "../../src/pages/dom/parse.ts";

const DOUBTFUL = 0.42;

/** How many paragraphs of the same length are kept, by their verdicts. */
function keptOf(verdicts: readonly number[], kind?: PageKind): number {
  const html = verdicts.map((_, at) => `<p>Paragraph ${1000 + at} of the page.</p>`).join("");
  const blocks = cutBlocks(parsePage(`<body>${html}</body>`).body);
  const threshold = bestThreshold(blocks, verdicts, kind);
  return verdicts.filter((verdict) => verdict >= threshold).length;
}

test("doubtful text is left out of an article and kept on pages of other kinds", () => {
  const verdicts = [...Array(8).fill(0.95), ...Array(6).fill(DOUBTFUL), ...Array(6).fill(0.1)];
  for (const kind of PAGE_KINDS) expect([kind, keptOf(verdicts, kind)]).toEqual([kind, kind === "article" ? 8 : 14]);
  expect(keptOf(verdicts)).toBe(14);
});
