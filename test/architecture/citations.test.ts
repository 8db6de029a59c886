// Checks citations in the sources: a comment that names a document of the repository names an existing one, and an existing
// heading.

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readFiles } from "./source.ts";

const root = join(import.meta.dir, "../..");
/** Tests of the rules about documents have examples of missing ones. */
const EXAMPLES = /^test\/architecture\/(?:citations|documents)\.test\.ts$/;
const sources = [...(await readFiles(root, ["src", "scripts", "test"]))].filter(([file]) => !EXAMPLES.test(file));

/** The anchor that Markdown hosts generate for a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");

const anchors = new Map<string, ReadonlySet<string>>();
function anchorsOf(path: string): ReadonlySet<string> {
  const known = anchors.get(path);
  if (known !== undefined) return known;
  const headings = readFileSync(join(root, path), "utf8").matchAll(/^#{1,6} +(.+?) *$/gm);
  const found = new Set([...headings].map(([, heading = ""]) => anchorOf(heading)));
  anchors.set(path, found);
  return found;
}

/** The problem of a citation such as `docs/web.md#search`; undefined if its target exists. */
function fault(path: string, anchor: string | undefined): string | undefined {
  if (!existsSync(join(root, path))) return "no such document";
  return anchor === undefined || anchorsOf(path).has(anchor) ? undefined : "no such heading";
}

test("every cited document and heading is there", () => {
  let cited = 0;
  const faults: string[] = [];
  for (const [file, text] of sources) {
    // A comment may be wrapped between words, but not within a citation.
    for (const [whole, path = "", anchor] of text.matchAll(/\b(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g)) {
      cited += 1;
      const why = fault(path, anchor);
      if (why !== undefined) faults.push(`${file}: ${whole}: ${why}`);
    }
  }
  expect(cited).toBeGreaterThan(20);
  expect(faults).toEqual([]);
});

test("no comment cites a document that the repository does not hold", () => {
  const absent = sources.flatMap(([file, text]) =>
    text
      .split("\n")
      .flatMap((line, index) =>
        /\bcontract §|\bspecification "|\/\/ Spec(?:ification)?:/i.test(line)
          ? [`${file}:${index + 1}: ${line.trim()}`]
          : [],
      ),
  );
  expect(absent).toEqual([]);
});

test("a missing document and a missing heading are noticed", () => {
  expect(fault("docs/nowhere.md", undefined)).toBe("no such document");
  expect(fault("docs/reference/http-api.md", "post-v1nothing")).toBe("no such heading");
  expect(fault("docs/reference/http-api.md", "post-v1chatcompletions")).toBeUndefined();
});
