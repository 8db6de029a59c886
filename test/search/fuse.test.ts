import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Hit } from "../../src/search/engine.ts";
import { type Fused, fuse, type Ranking } from "../../src/search/fuse.ts";

const hit = (url: string, more: Partial<Hit> = {}): Hit => ({ url, title: `Title of ${url}`, snippet: "", ...more });
const page = (number: number) => hit(`https://site-${number}.example/`);
const ranking = (engine: string, hits: readonly Hit[], weight = 1): Ranking => ({ engine, weight, hits });
const merged = (rankings: readonly Ranking[], askedWeight = sum(rankings)) =>
  fuse(rankings, { askedWeight, category: "general" });
const sum = (rankings: readonly Ranking[]) => rankings.reduce((total, { weight }) => total + weight, 0);
const urls = (fused: readonly Fused[]) => fused.map(({ url }) => url);

/** Up to five engines, each with some of twelve pages in any order. */
const rankings = fc
  .array(
    fc.record({
      weight: fc.double({ min: 0.1, max: 5, noNaN: true }),
      pages: fc.uniqueArray(fc.integer({ min: 0, max: 11 }), { maxLength: 12 }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((all) => all.map(({ weight, pages }, index) => ranking(`engine-${index}`, pages.map(page), weight)));

describe("the order", () => {
  test("does not depend on the order in which engines answered", () => {
    fc.assert(
      fc.property(
        rankings.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => expect(merged(shuffled)).toEqual(merged(all)),
      ),
    );
  });

  test("of two pages that an engine does not list is not changed by its answer", () => {
    fc.assert(
      fc.property(rankings, fc.uniqueArray(fc.integer({ min: 0, max: 11 })), (all, listed) => {
        const more = ranking("one-more", listed.map(page));
        const own = new Set(listed.map((number) => page(number).url));
        const unlisted = (fused: readonly Fused[]) => urls(fused).filter((url) => !own.has(url));
        expect(unlisted(merged([...all, more]))).toEqual(unlisted(merged(all)));
      }),
    );
  });

  test("puts no page lower because an engine lists it higher", () => {
    fc.assert(
      fc.property(rankings, fc.nat(4), fc.nat(11), (all, which, at) => {
        const raised = all[which % all.length] as Ranking;
        if (raised.hits.length < 2) return;
        const index = 1 + (at % (raised.hits.length - 1));
        const [above, own] = [raised.hits[index - 1] as Hit, raised.hits[index] as Hit];
        const hits = raised.hits.with(index - 1, own).with(index, above);
        const after = merged(all.map((one) => (one === raised ? { ...one, hits } : one)));
        const before = merged(all);
        expect(urls(after).indexOf(own.url)).toBeLessThanOrEqual(urls(before).indexOf(own.url));
        expect(scoreOf(after, own)).toBeGreaterThanOrEqual(scoreOf(before, own));
      }),
    );
  });

  test("puts no page lower because one more engine lists it", () => {
    fc.assert(
      fc.property(rankings, fc.integer({ min: 0, max: 11 }), (all, number) => {
        const asked = sum(all) + 1;
        const agreeing = [...all, ranking("one-more", [page(number)])];
        expect(scoreOf(merged(agreeing, asked), page(number))).toBeGreaterThan(
          scoreOf(merged(all, asked), page(number)),
        );
        const place = (fused: readonly Fused[]) => urls(fused).indexOf(page(number).url);
        const before = place(merged(all));
        if (before >= 0) expect(place(merged(agreeing))).toBeLessThanOrEqual(before);
      }),
    );
  });

  test("puts a page with two tenth places before one with one first place", () => {
    const filler = (from: number) => Array.from({ length: 9 }, (_, index) => page(from + index));
    const both = page(1000);
    const all = [ranking("a", [...filler(0), both]), ranking("b", [...filler(20), both]), ranking("c", [page(50)])];
    expect(urls(merged(all))[0]).toBe(both.url);
  });
});

function scoreOf(fused: readonly Fused[], { url }: Hit): number {
  return fused.find((one) => one.url === url)?.score ?? 0;
}

describe("the score", () => {
  test("is from 0 to 1, decreases along the list, and every page is there once", () => {
    fc.assert(
      fc.property(rankings, (all) => {
        const fused = merged(all);
        const scores = fused.map(({ score }) => score);
        expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
        expect(new Set(urls(fused)).size).toBe(fused.length);
        expect(new Set(urls(fused))).toEqual(new Set(all.flatMap(({ hits }) => hits.map(({ url }) => url))));
      }),
    );
  });

  test("is 1 for a page that every engine puts first, and its share if the others do not list it", () => {
    expect(merged([ranking("a", [page(1)]), ranking("b", [page(1)])])[0]?.score).toBe(1);
    expect(merged([ranking("a", [page(1)])], 4)[0]?.score).toBe(0.25);
    // The score does not depend on whether the other engines failed or list other pages.
    expect(merged([ranking("a", [page(1)]), ranking("b", [page(2)])], 4)[0]?.score).toBe(0.25);
  });

  test("counts an engine by its weight", () => {
    expect(urls(merged([ranking("a", [page(1)], 1), ranking("b", [page(2)], 2)]))[0]).toBe(page(2).url);
    expect(merged([ranking("a", [page(1)], 0)])).toMatchObject([{ score: 0 }]);
  });
});

describe("pages that several engines list", () => {
  test("are one result, whatever spelling of the address each engine uses", () => {
    const spellings = [
      "http://www.example.com/a/?utm_source=x&b=1&a=2#part",
      "https://example.com/a?a=2&b=1",
      "https://EXAMPLE.com/a/?b=1&a=2&fbclid=1",
    ];
    const fused = merged(spellings.map((url, index) => ranking(`e${index}`, [hit(url)])));
    expect(fused).toHaveLength(1);
    expect(fused[0]?.engines).toEqual(["e0", "e1", "e2"]);
    expect(fused[0]?.url).toStartWith("https:");
  });

  test("are named once per engine, at their best place", () => {
    const twice = merged([ranking("a", [page(1), page(2), page(1)])]);
    expect(urls(twice)).toEqual([page(1).url, page(2).url]);
    expect(twice[0]?.score).toBe(1);
  });

  test("have the longest snippet, the most exact of the earliest dates, and an image if any has one", () => {
    const url = "https://example.com/";
    const [fused] = merged([
      ranking("a", [hit(url, { snippet: "Short.", publishedAt: "2026-01" })]),
      ranking("b", [
        hit(url, { snippet: "A longer text.", publishedAt: "2026-01-03", thumbnail: "https://t.example/" }),
      ]),
      ranking("c", [hit(url, { snippet: "", publishedAt: "2026-01-05T10:00:00Z", file: "https://f.example/" })]),
      ranking("d", [hit(url, { snippet: "", publishedAt: "2026-01-04T10:00:00Z" })]),
    ]);
    expect(fused).toMatchObject({
      title: `Title of ${url}`,
      content: "A longer text.",
      publishedDate: "2026-01-04T10:00:00Z",
      thumbnail: "https://t.example/",
      file: "https://f.example/",
      engines: ["a", "b", "c", "d"],
    });
  });

  test("name the engines that a search service called", () => {
    const [fused] = merged([
      ranking("searxng", [hit("https://example.com/", { engines: ["bing", "qwant"] })]),
      ranking("bing", [hit("https://example.com/")], 0.5),
    ]);
    expect(fused?.engines).toEqual(["bing", "qwant"]);
  });
});

describe("data from engines", () => {
  test("loses invisible characters, and is cut between words", () => {
    const [fused] = merged([
      ranking("a", [
        hit("https://example.com/", {
          title: "A\u202e\u0000 \u200btitle\ufeff",
          snippet: `${"word\u00ad ".repeat(400)}😀`,
        }),
      ]),
    ]);
    expect(fused?.title).toBe("A title");
    expect(fused?.content).toMatch(/^(?:word )+word…$/);
    expect(fused?.content.length).toBeLessThanOrEqual(1000);
  });

  test("is left out if it has no address", () => {
    expect(urls(merged([ranking("a", [hit("no address"), page(1)])]))).toEqual([page(1).url]);
  });

  test("has its address as title if it has none", () => {
    expect(merged([ranking("a", [hit("https://example.com/", { title: " " })])])[0]?.title).toBe(
      "https://example.com/",
    );
  });
});
