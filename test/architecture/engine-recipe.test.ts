// Adds an unknown search engine in a copy of the repository: one file, one line in the list (with its import) and a
// folder of samples. The configuration and all tests must include it automatically.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Copy, copyRepository } from "./recipe.ts";
import { RULES } from "./rules.ts";
import { readFiles } from "./source.ts";

const FILE = `// Mwmbl, a small index that its users keep.

import { address, jsonHeaders } from "../address.ts";
import type { SearchEngine } from "../engine.ts";
import { readJsonAnswer } from "../reading/json.ts";

/** Mwmbl. */
export const mwmbl: SearchEngine = {
  name: "mwmbl",
  categories: ["general"],
  weight: 0.5,
  about: { website: "https://mwmbl.org", official: true },
  enabledByDefault: false,
  network: "mwmbl",
  timeoutMs: 5000,
  selectors: { results: "results", title: "title", url: "url", snippet: "extract" },
  request(context) {
    const url = address(context, "https://api.mwmbl.org", "/api/v1/search/", { s: context.query.text });
    return { method: "GET", url, headers: jsonHeaders(context) };
  },
  parse: (response, context) => readJsonAnswer(response, context, { engine: mwmbl }),
};
`;

const hit = (title: string) => ({ title, url: "https://example.com/", extract: "A page" });
const SAMPLES: Readonly<Record<string, unknown>> = {
  "full.json": { results: [hit("First"), { ...hit("Second"), url: "https://example.org/" }] },
  "empty.json": { results: [] },
  "changed.json": { hits: [hit("First")] },
  "language.json": { results: [hit("Über")] },
  "sample.json": {
    source: "https://example.com/an-interface, read 2026-11",
    cases: [
      {
        name: "full",
        answers: [{ file: "full.json" }],
        hits: [
          { url: "https://example.com/", title: "First", snippet: "A page" },
          { url: "https://example.org/", title: "Second", snippet: "A page" },
        ],
      },
      { name: "empty", answers: [{ file: "empty.json" }], hits: [] },
      { name: "changed", answers: [{ file: "changed.json" }], failure: "changed_markup" },
      {
        name: "language",
        language: "de",
        answers: [{ file: "language.json" }],
        hits: [{ url: "https://example.com/", title: "Über", snippet: "A page" }],
      },
      { name: "rate-limited", answers: [{ text: "", status: 429 }], failure: "rate_limited" },
    ],
  },
};

/** Reads what the configuration contains about the new engine. */
const QUESTIONS = `
import { KNOWN_NAMES } from "./src/app/names.ts";

console.log(JSON.stringify(KNOWN_NAMES["search engine"].includes("mwmbl")));
`;

const LIST = "src/search/engines/index.ts";
const TIMEOUT_MS = 120_000;

let copy: Copy;
beforeAll(() => {
  copy = copyRepository();
  copy.add("src/search/engines/mwmbl.ts", FILE);
  copy.addLine(LIST, "./nominatim.ts", 'import { mwmbl } from "./mwmbl.ts";');
  copy.addLine(LIST, "  nominatim,", "  mwmbl,");
}, TIMEOUT_MS);
afterAll(() => copy.remove(), TIMEOUT_MS);

describe("a search engine in one file and one line", () => {
  test(
    "is known to the configuration",
    async () => {
      copy.add("questions.ts", QUESTIONS);
      const { ok, text } = await copy.bun("questions.ts");
      if (!ok) expect.unreachable(text);
      expect(JSON.parse(text)).toBe(true);
    },
    TIMEOUT_MS,
  );

  test(
    "is not taken without samples",
    async () => {
      const { ok, text } = await copy.bun("test", "test/search/engines.test.ts", "-t", "every engine has samples");
      expect([ok, text]).toEqual([false, expect.stringContaining("mwmbl")]);
    },
    TIMEOUT_MS,
  );

  test(
    "passes every suite with them, once the pages are written anew",
    async () => {
      for (const [name, body] of Object.entries(SAMPLES))
        copy.add(`test/search/samples/mwmbl/${name}`, JSON.stringify(body));
      expect(await copy.bun("scripts/generate.ts")).toMatchObject({ ok: true });
      const suites = ["engines", "requests", "exchange"].map((name) => `test/search/${name}.test.ts`);
      const { ok, text } = await copy.bun("test", ...suites);
      if (!ok) expect.unreachable(text);
      expect(text).toContain("mwmbl > reads: full");
    },
    TIMEOUT_MS,
  );

  test("breaks no rule of the house", async () => {
    const files = await readFiles(copy.dir, ["src", "test", "scripts"]);
    expect(RULES.flatMap((rule) => rule.check(files).violations)).toEqual([]);
  });
});
