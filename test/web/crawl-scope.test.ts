// How long the links of a page may take to be compared with the patterns of a crawl.

import { describe, expect, test } from "bun:test";
import { type CrawlInput, CrawlScope } from "../../src/web/crawl-scope.ts";

const PLAN = { patterns: "path", below: "", anySite: false, subdomains: false, ignoresQuery: false, sitemap: "skip" };

describe("the links of a page are compared", () => {
  test.each([
    ["with patterns of the gateway's own endpoint", false, ["/docs/*"], [], false],
    ["without patterns", true, [], [], false],
    ["with expressions to include", true, ["^/docs/.*$"], [], true],
    ["with expressions to exclude", true, [], ["^/old/.*$"], true],
  ] as const)("%s", async (_name, isFirecrawl, includePaths, excludePaths, isShort) => {
    const url = "https://site.example/";
    const input = {
      url,
      includePaths,
      excludePaths,
      limit: 5,
      maxDepth: null,
      ...(isFirecrawl && { firecrawl: PLAN }),
    };
    const scope = new CrawlScope(input as unknown as CrawlInput, undefined);
    const limits: number[] = [];
    const pickLinks = async (_pick: unknown, { timeoutMs }: { timeoutMs: number }) => {
      limits.push(timeoutMs);
      return { keys: "", urls: "", isOwnWanted: true };
    };
    const picking = { pickLinks: pickLinks as never, account: "a", signal: new AbortController().signal };
    await scope.pick(`${url}docs/`, { own: [url], depth: 1, most: 5 }, picking);
    // Only expressions of a caller may be slow by themselves; anything else is slow only where the machine is.
    expect([scope.hasExpressions, limits]).toEqual([isShort, [isShort ? 2000 : 20_000]]);
  });
});
