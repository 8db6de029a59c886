// How pages are ranked before they are read.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Candidate, rankPages, typeOf } from "../../src/web/llmstxt/rank.ts";
import "../support/seed.ts";

const HOME = "https://site.example/";
const page = (path: string, more: Partial<Candidate> = {}): Candidate => ({
  key: `site.example${path}`,
  url: `https://site.example${path}`,
  label: "",
  group: "",
  place: undefined,
  order: 0,
  priority: undefined,
  ...more,
});
const ranked = async (pages: readonly Candidate[], home = HOME) =>
  (await rankPages(pages, home)).map(({ url }) => new URL(url).pathname);

test.each([
  ["/", "main"],
  ["/docs", "main"],
  ["/docs/anything", "main"],
  ["/about-us", "main"],
  ["/pricing.html", "main"],
  ["/widgets/large", "plain"],
  ["/blog/why", "article"],
  ["/2026/05/why-things-turn", "article"],
  ["/privacy-policy", "secondary"],
  ["/legal/anything", "secondary"],
  ["/en/terms-of-service", "secondary"],
  ["/datenschutz", "secondary"],
  ["/login", "secondary"],
  ["/account/sign-in", "secondary"],
  ["/docs/api/login", "plain"],
  ["/tag/news", "secondary"],
  ["/blog/category/news", "secondary"],
  ["/docs/a/tags", "plain"],
  ["/blog/page/3", "secondary"],
  ["/2026", "secondary"],
  ["/blog/2026/05", "secondary"],
  ["/list?page=2", "secondary"],
  ["/item?id=2", "plain"],
  ["/privacy-tools-compared", "plain"],
  ["/cookiecutter", "plain"],
  ["/p/2", "plain"],
] as const)("%s is %s", (path, type) => {
  expect(typeOf(`https://site.example${path}`)).toBe(type);
});

test("menus before text, text before sitemaps, shallow before deep, and what the sitemap says", async () => {
  const pages = [
    page("/listed/deep/down"),
    page("/listed", { priority: 0.5 }),
    page("/weighty", { priority: 1 }),
    page("/text", { place: "content" }),
    page("/menu", { place: "header" }),
    page("/menu2", { place: "header", order: 9 }),
    page("/foot", { place: "footer" }),
    page("/privacy", { place: "header", priority: 1 }),
  ];
  expect(await ranked(pages)).toEqual([
    "/menu",
    "/menu2",
    "/weighty",
    "/text",
    "/foot",
    "/listed",
    "/listed/deep/down",
    "/privacy",
  ]);
});

test("within the requested folder, and in its language", async () => {
  expect(await ranked([page("/other"), page("/docs/a"), page("/docs/b/c")], `${HOME}docs/`)).toEqual([
    "/docs/a",
    "/docs/b/c",
    "/other",
  ]);
  const translated = [page("/de/a"), page("/a/b/c"), page("/fr/a")];
  expect(await ranked(translated)).toEqual(["/a/b/c", "/de/a", "/fr/a"]);
  expect(await ranked([page("/de/a"), page("/fr/a")], `${HOME}fr/`)).toEqual(["/fr/a", "/de/a"]);
});

test("the order does not depend on the order that pages were found in", async () => {
  const all = ["/a", "/b", "/c/d", "/docs", "/terms", "/e?x=1"].map((path) => page(path));
  const wanted = await ranked(all);
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(all, { minLength: all.length }), async (pages) => {
      expect(await ranked(pages)).toEqual(wanted);
    }),
  );
});
