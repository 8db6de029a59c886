// Compares the documents for contributors with the repository: the paths, links and commands they name exist.

import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join, posix } from "node:path";
import biome from "../../biome.json";
import { scripts, version } from "../../package.json";

const root = join(import.meta.dir, "../..");
const read = (path: string) => Bun.file(join(root, path)).text();

/** The documents whose paths are checked, with the folders in which their paths may start. */
const BASES: Readonly<Record<string, readonly string[]>> = {
  "CONTRIBUTING.md": [""],
  "AGENTS.md": [""],
  "scripts/README.md": ["", "scripts/"],
  "ARCHITECTURE.md": ["", "src/"],
};
const RECORDS = readdirSync(join(root, "docs/decisions")).sort();
const PAGES = [...new Bun.Glob("**/*.md").scanSync({ cwd: join(root, "docs") })].sort();
const LINKING = [
  ...Object.keys(BASES),
  "README.md",
  "SECURITY.md",
  "CHANGELOG.md",
  ...PAGES.map((page) => `docs/${page}`),
];

/** Files that a build creates or an operator writes. */
const ELSEWHERE = new Set(["dist/sallyport", "sallyport.yaml"]);

const FILES = [".", "src", "test", "scripts", "docs", "deploy", ".github", ".ci"].flatMap((folder) =>
  [...new Bun.Glob(folder === "." ? "*" : `${folder}/**`).scanSync({ cwd: root, dot: true })].map(posix.normalize),
);
const FOLDERS = new Set(
  FILES.flatMap((file) => file.split("/").map((_, at, parts) => parts.slice(0, at).join("/"))).filter(Boolean),
);
const KNOWN = [...FILES, ...FOLDERS];

/** The texts in backticks or in code blocks of a document, each with its line. */
function codeWords(text: string): { word: string; line: string }[] {
  let inBlock = false;
  return text.split("\n").flatMap((line) => {
    const isFence = line.startsWith("```");
    if (isFence) inBlock = !inBlock;
    if (isFence) return [];
    const spans = inBlock ? [line] : [...line.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
    return spans.flatMap((span) => span.split(/\s+/)).map((word) => ({ word, line }));
  });
}

/** A path of the repository: it contains a slash or ends like a file name. */
const looksLikePath = (word: string) =>
  /^[\w.*-]+(\/[\w.*-]+)+\/?$|^[\w-]+\/$|^[\w*-]+\.(tsx?|md|json|ya?ml|toml|sql)$/.test(word) && !ELSEWHERE.has(word);

/** Paths in a document that do not exist in the repository. Words in capitals are placeholders. */
function missingPaths(text: string, bases: readonly string[]): string[] {
  const named = codeWords(text).filter(({ word }) => looksLikePath(word));
  const missing = named.filter(({ word, line }) => {
    const path = word.replace(/\/$/, "").replace(/\b[A-Z][A-Z_]+\b(?!\.md$)/g, "*");
    // A row of the code map names files of its room; a file name without a folder may be anywhere.
    const rooms = [...(/^\| \d+ \| ([^|]+) \|/.exec(line)?.[1] ?? "").matchAll(/`([^`]+\/)`/g)];
    const from = [...bases, ...rooms.map(([, room = ""]) => `src/${room}`), ...(word.includes("/") ? [] : ["**/"])];
    return !from.some((base) => {
      const glob = new Bun.Glob(base + path);
      return KNOWN.some((known) => glob.match(known));
    });
  });
  return missing.map(({ word }) => word);
}

/** The relative links of a document whose targets do not exist. */
function deadLinks(document: string, text: string): string[] {
  const targets = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = ""]) => target);
  const inside = targets.filter((target) => !/^[a-z]+:/.test(target));
  return inside.filter((target) => !KNOWN.includes(posix.join(posix.dirname(document), target).replace(/\/$/, "")));
}

test.each(Object.entries(BASES))("%s names only paths that exist", async (document, bases) => {
  const text = await read(document);
  expect(codeWords(text).filter(({ word }) => looksLikePath(word)).length).toBeGreaterThan(10);
  expect(missingPaths(text, bases)).toEqual([]);
});

test.each(LINKING)("the links of %s lead somewhere", async (document) => {
  expect(deadLinks(document, await read(document))).toEqual([]);
});

test("docs/index.md lists every page, but for the records, of which it names the list", async () => {
  const links = [...(await read("docs/index.md")).matchAll(/\]\(([^)#\s]+)\)/g)].map(([, target = ""]) => target);
  const listed = links.filter((target) => target.endsWith(".md") && !target.startsWith("../"));
  const pages = PAGES.filter((page) => page !== "index.md" && !/^decisions\/\d/.test(page));
  expect(listed.toSorted()).toEqual(pages);
});

test.each(["CONTRIBUTING.md", "AGENTS.md", "README.md"])("%s names only scripts of package.json", async (document) => {
  const names = [...(await read(document)).matchAll(/\b(?:npm|bun) run ([a-z]+)/g)].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

/** All pictures together: they are a part of every clone. */
const PICTURE_BYTES_MAX = 150_000;
const PICTURE = /!\[([^\]]*)\]\(([^)\s]+)\)/g;

test("pictures exist, are small, say what they show, and each is used", async () => {
  const documents = FILES.filter((file) => /^(?:README|docs\/.*)\.md$/.test(file));
  const shown = new Set<string>();
  for (const document of documents)
    for (const [, text = "", target = ""] of (await read(document)).matchAll(PICTURE)) {
      expect([document, target, text.length > 30]).toEqual([document, target, true]);
      shown.add(posix.join(posix.dirname(document), target));
    }
  const there = FILES.filter((file) => /^docs\/.*\.(?:webp|png|jpe?g|svg)$/.test(file));
  expect(there.sort()).toEqual([...shown].sort());
  const sizes = await Promise.all(there.map((file) => Bun.file(join(root, file)).size));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(PICTURE_BYTES_MAX);
});

test("every script has a line in scripts/README.md", async () => {
  const rows = [...(await read("scripts/README.md")).matchAll(/^\| `([^`]+\.ts)` +\| \S/gm)].map(
    ([, name = ""]) => name,
  );
  const there = readdirSync(join(root, "scripts")).filter((name) => name.endsWith(".ts"));
  expect(rows.toSorted()).toEqual(there.toSorted());
});

const CHANGE_KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];

test("the changelog has a section for each version up to that of package.json, and each kind of change once", async () => {
  const [, ...sections] = (await read("CHANGELOG.md")).split(/^## /m);
  const [unreleased, ...released] = sections.map((section) => section.split("\n", 1)[0] ?? "");
  expect(unreleased).toBe("Unreleased");
  expect(released.filter((title) => !/^\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)$/.test(title))).toEqual([]);
  expect(released[0]?.split(" ")[0] ?? version).toBe(version);
  for (const section of sections) {
    const kinds = [...section.matchAll(/^### (.+)$/gm)].map(([, kind = ""]) => kind);
    expect(kinds).toEqual(CHANGE_KINDS.filter((kind) => kinds.includes(kind)));
  }
});

test("every decision record is in the list of records, with its three parts", async () => {
  const list = await read("docs/decisions/README.md");
  const records = RECORDS.filter((name) => name !== "README.md");
  records.forEach((name, at) => {
    expect(name).toStartWith(`${at + 1}-`.padStart(5, "0"));
  });
  for (const name of records) {
    expect(list).toContain(`](${name})`);
    const parts = [...(await read(`docs/decisions/${name}`)).matchAll(/^\*\*(\w+)\.\*\*/gm)].map(([, part]) => part);
    expect([name, ...parts]).toEqual([name, "Context", "Decision", "Consequences"]);
  }
});

test("editors indent and wrap as the formatter does", async () => {
  const { indentStyle, indentWidth, lineWidth } = biome.formatter;
  const code = (await read(".editorconfig")).split("[*.md]")[0];
  for (const line of [
    `indent_style = ${indentStyle}`,
    `indent_size = ${indentWidth}`,
    `max_line_length = ${lineWidth}`,
  ])
    expect(code).toContain(`${line}\n`);
});

test("a path, a link and a command that are not there are noticed", () => {
  const text = "Run `bun scripts/nothing.ts`, see `src/nowhere/`.\n\n```sh\nbun test test/gone/NAME.test.ts\n```\n";
  expect(missingPaths(text, [""])).toEqual(["scripts/nothing.ts", "src/nowhere/", "test/gone/NAME.test.ts"]);
  expect(missingPaths("`src/vendors/NAME.ts`, `test/ROOM`, `errors.ts`, `dist/sallyport`, `/v1/models`", [""])).toEqual(
    [],
  );
  expect(deadLinks("docs/a.md", "[a](gone.md) [b](search.md#here) [c](https://example.com)")).toEqual(["gone.md"]);
});
