import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { pageKey, siteKey } from "../../src/base/page-key.ts";
import { isTrap, mayBePage } from "../../src/pages/addresses.ts";
import { isChallenge } from "../../src/pages/challenge.ts";
import { parseSitemap } from "../../src/pages/convert/sitemap-text.ts";
import { compileGlob } from "../../src/pages/globs.ts";
import { retryAfterMs } from "../../src/pages/retry-after.ts";
import { readSitemaps } from "../../src/pages/sitemap.ts";
import { PoolFull, TaskFailed, TaskTimeout } from "../../src/workers/pool.ts";
import { cpuMs } from "../support/real-time.ts";

describe("one page, many addresses", () => {
  const same: [string, string][] = [
    ["https://site.example/a", "https://site.example/a/"],
    ["https://site.example/a", "https://site.example/a#part"],
    ["https://site.example/a", "http://site.example/a"],
    ["https://site.example/a", "https://WWW.Site.example/a"],
    ["https://site.example/", "https://site.example"],
    ["https://site.example/a?x=1&y=2", "https://site.example/a?y=2&x=1"],
    ["https://site.example/a", "https://site.example/a?utm_source=x&fbclid=y&gclid=z"],
    ["https://site.example/a?q=1", "https://site.example/a?PHPSESSID=abc&q=1"],
    ["https://site.example/a", "https://site.example/a;jsessionid=ABC"],
    ["https://site.example/a", "https://site.example//a"],
    ["https://site.example/%7Euser", "https://site.example/~user"],
    ["https://site.example:443/a", "https://site.example/a"],
  ];
  for (const [a, b] of same) test(`${a} = ${b}`, () => expect(pageKey(a)).toBe(pageKey(b)));
  const different: [string, string][] = [
    ["https://site.example/a", "https://site.example/b"],
    ["https://site.example/a", "https://site.example/A"],
    ["https://site.example/a?q=1", "https://site.example/a?q=2"],
    ["https://site.example/a", "https://sub.site.example/a"],
    ["https://site.example/a", "https://site.example:8443/a"],
    ["https://site.example/a%2Fb", "https://site.example/a/b"],
  ];
  for (const [a, b] of different) test(`${a} ≠ ${b}`, () => expect(pageKey(a)).not.toBe(pageKey(b)));
  test("the key of a key's address is the same key", () => {
    const piece = fc.constantFrom(
      ...[
        "a",
        "B",
        "/",
        "//",
        ".",
        "..",
        "%2F",
        "%25",
        "%7E",
        "~",
        "%",
        "%E0%A4",
        "ü",
        "😀",
        "?",
        "&",
        "=",
        "+",
        "%20",
      ],
      ...["#x", ";jsessionid=A", "utm_source=1", "sid=2", "x=1", "[", "|", "\\", "'", "\u0000", "\ud83d"],
    );
    const host = fc.constantFrom(
      ...["a.example", "WWW.a.example", "a.example.", "a.example:80", "a.example:443", "a.example:8080"],
      ...["1.2.3.4", "[::1]", "[2001:DB8::1]:8443", "münchen.example"],
    );
    fc.assert(
      fc.property(fc.constantFrom("http", "https"), host, fc.array(piece, { maxLength: 8 }), (scheme, name, parts) => {
        const url = `${scheme}://${name}/${parts.join("")}`;
        const key = pageKey(url);
        expect([url, pageKey(`${scheme}://${key}`)]).toEqual([url, key]);
      }),
      { numRuns: 1000, examples: [["http", "a.example", [";jsessionid=A", "/", "..", ";jsessionid=B"]]] },
    );
  });
  test("sites", () => {
    expect(siteKey("https://www.a.example/x")).toBe(siteKey("http://a.example"));
    expect(siteKey("https://b.a.example")).not.toBe(siteKey("https://a.example"));
  });
  test("traps and files", () => {
    expect(isTrap(`https://a.example/${"x/".repeat(5)}`)).toBe(true);
    expect(isTrap(`https://a.example/${"x".repeat(3000)}`)).toBe(true);
    expect(isTrap("https://a.example/a/b/c/d")).toBe(false);
    expect(mayBePage("https://a.example/x.JPG", { documents: true })).toBe(false);
    expect([
      mayBePage("https://a.example/x.pdf", { documents: false }),
      mayBePage("https://a.example/x.pdf", { documents: true }),
    ]).toEqual([false, true]);
    expect(mayBePage("https://a.example/x.html?f=a.zip", { documents: false })).toBe(true);
  });
});

describe("sitemaps in any spelling", () => {
  const spellings: ((url: string) => string)[] = [
    (url) => url.replaceAll("&", "&amp;"),
    (url) => `<![CDATA[${url}]]>`,
    (url) => ` <![CDATA[ ${url} ]]> `,
    (url) => `\n   ${url.replaceAll("&", "&#38;").replaceAll("'", "&apos;")}\t`,
    (url) => url.replaceAll("&", "&#x26;"),
  ];
  const between = fc.constantFrom(
    "",
    "<lastmod>2020-01-01</lastmod>",
    "<image:image><image:loc>https://img.example/x</image:loc></image:image>",
    "<!-- note -->",
    "<!-- <url><loc>https://old.example/</loc></url> -->",
    "<!-- --><!---->",
  );
  const entry = fc.tuple(
    fc.webUrl({ withQueryParameters: true, size: "small" }),
    fc.nat(spellings.length - 1),
    between,
    fc.constantFrom("loc", "LOC", 'loc xml:lang="a"'),
  );

  test("give their addresses, in order", () => {
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 6 }),
        fc.constantFrom("", "sm:"),
        fc.boolean(),
        fc.constantFrom("", "\uFEFF", '<?xml version="1.0"?>\n', "<!-- made by hand -->"),
        fc.constantFrom("\n", "\r\n", "\r", ""),
        (entries, prefix, isIndex, head, newline) => {
          const kind = prefix + (isIndex ? "sitemap" : "url");
          const lines = entries.map(([url, spelling, more, tag]) => {
            const text = spellings[spelling]?.(url);
            return `<${kind}>${more}<${prefix}${tag}>${text}</${prefix}${tag.slice(0, 3)}></${kind}>`;
          });
          const xml = [`${head}<${prefix}${isIndex ? "sitemapindex" : "urlset"} xmlns="x">`, ...lines].join(newline);
          const found = parseSitemap(xml, "https://site.example/sitemap.xml");
          const expected = entries.map(([url]) => new URL(url).href);
          expect([xml, isIndex ? found.sitemaps : found.urls]).toEqual([xml, expected]);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("any text has some addresses or none", () => {
    const piece = fc.constantFrom(
      ...[
        "<url>",
        "<loc>",
        "</loc>",
        "<sitemap>",
        "<rss>",
        "<link href='",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<",
        ">",
      ],
      ...["https://a.example/", "&amp;", "\n", "\r", "\u0000", "\ud83d", "<html", " ", "'", "javascript:x", "//", "%"],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const { urls, sitemaps } = parseSitemap(pieces.join(""), "https://site.example/");
        for (const url of [...urls, ...sitemaps]) expect(new URL(url).protocol).toMatch(/^https?:$/);
      }),
      { numRuns: 500 },
    );
  });

  test.each(["<!--", "<![CDATA[", "<loc", "<url><loc>", "<loc>https://", "&#0", "\r\n "])(
    "made of %j take no longer than others",
    (unit) => {
      const text = unit.repeat(2_000_000 / unit.length);
      // Quadratic work takes minutes.
      for (const whole of [`<urlset>${text}`, text])
        expect(cpuMs(() => parseSitemap(whole, "https://site.example/"))).toBeLessThan(4000);
    },
  );
});

describe("patterns of addresses", () => {
  const cases: [string, string, boolean][] = [
    ["/blog/*", "https://a.example/blog/x", true],
    ["/blog/*", "https://a.example/blog/x/y", false],
    ["/blog/**", "https://a.example/blog/x/y", true],
    ["/blog", "https://a.example/blog/x", false],
    ["/blog", "https://a.example/x/blog", false],
    ["blog/*", "https://a.example/blog/x", true],
    ["*", "https://a.example/x", true],
    ["*", "https://a.example/x/y", false],
    ["**", "https://a.example/x/y", true],
    ["/a?c", "https://a.example/abc", true],
    ["/a.c", "https://a.example/abc", false],
    ["/x", "https://a.example/x?q=1", true],
    ["https://a.example/x*", "https://a.example/x?q=1", true],
    ["https://b.example/**", "https://a.example/x", false],
    ["/ü/*", "https://a.example/%C3%BC/x", true],
    ["/(a|b)/[x]", "https://a.example/(a|b)/[x]", true],
  ];
  for (const [glob, url, expected] of cases)
    test(`${glob} ${expected ? "takes" : "leaves"} ${url}`, () => expect(compileGlob(glob)?.(url)).toBe(expected));
  test("empty and too long patterns are refused", () => {
    expect(compileGlob(" ")).toBeUndefined();
    expect(compileGlob("x".repeat(2000))).toBeUndefined();
  });
});

describe("sitemaps", () => {
  const read = (text: string) => parseSitemap(text, "https://a.example/sitemap.xml");
  test("a list of pages", () =>
    expect(
      read(
        '<?xml version="1.0"?><urlset><url><loc> https://a.example/1?x=1&amp;y=2 </loc></url><url><loc><![CDATA[https://a.example/2]]></loc><image:loc>https://a.example/i.png</image:loc></url></urlset>',
      ),
    ).toEqual({
      urls: ["https://a.example/1?x=1&y=2", "https://a.example/2"],
      sitemaps: [],
    }));
  test("an index", () =>
    expect(
      read(
        "<sitemapindex><sitemap><loc>https://a.example/s1.xml</loc></sitemap><sitemap><lastmod>x</lastmod><loc>/s2.xml</loc></sitemap></sitemapindex>",
      ),
    ).toEqual({
      urls: [],
      sitemaps: ["https://a.example/s1.xml", "https://a.example/s2.xml"],
    }));
  test("sitemaps that are not well-formed", () =>
    expect(read("<urlset><url><loc>https://a.example/1<url><loc>https://a.example/2</loc></url>").urls).toEqual([
      "https://a.example/1",
      "https://a.example/2",
    ]));
  test("plain lists", () => expect(read("https://a.example/1\r\nnot one\nhttps://a.example/2\n").urls).toHaveLength(2));
  test("feeds", () => {
    expect(
      read("<rss><channel><link>https://a.example/</link><item><link>https://a.example/1</link></item></channel></rss>")
        .urls,
    ).toContain("https://a.example/1");
    expect(read('<feed><link rel="self" href="/f"/><entry><link href="/1"/></entry></feed>').urls).toEqual([
      "https://a.example/1",
    ]);
  });
  test("a page in its place", () =>
    expect(read("<!doctype html><html><loc>https://a.example/</loc>")).toEqual({ urls: [], sitemaps: [] }));
  test.each([
    ["indexes without an address", "<sitemap>"],
    ["addresses that do not end", "<loc>"],
    ["tags that do not end", "<loc "],
    ["marked text that does not end", "<loc><![CDATA["],
  ])("the time for %s is linear in their length", (_, part) => {
    // Quadratic work would take minutes at this length.
    expect(read(`<urlset>${part.repeat(2_000_000 / part.length)}`).sitemaps).toEqual([]);
  });
  test("other schemes", () => expect(read("<urlset><url><loc>javascript:x</loc></url></urlset>").urls).toEqual([]));
});

test("a sitemap that crashes its thread is skipped, and none is read for a caller that has gone", async () => {
  const gone = new AbortController();
  const big = new TextEncoder().encode(`<urlset><!--${"x".repeat(70_000)}--></urlset>`);
  const small = new TextEncoder().encode("<urlset><url><loc>https://a.example/1</loc></url></urlset>");
  const read = (failure: unknown) =>
    readSitemaps(
      {
        fetch: async (url) => {
          const body = url.endsWith("big.xml") ? big : small;
          return { url, status: 200, headers: new Headers(), body, chain: [url] };
        },
        converter: { readSitemap: () => Promise.reject(failure) },
        obey: async () => undefined,
      },
      ["https://a.example/big.xml", "https://a.example/small.xml"],
      {
        urlsMax: 10,
        timeoutMs: 10_000,
        userAgent: "test",
        account: "",
        home: "https://a.example/",
        signal: gone.signal,
      },
    );
  for (const failure of [new TaskFailed("out of memory"), new TaskTimeout("too long")])
    expect(await read(failure)).toEqual(["https://a.example/1"]);
  await expect(read(new PoolFull("full"))).rejects.toThrow(PoolFull);
  gone.abort(new Error("gone"));
  await expect(read(new TaskFailed("ended"))).rejects.toThrow("gone");
});

test("sitemaps that hang take a share of the time, and after two of them no more are loaded", async () => {
  const asked: string[] = [];
  const found = await readSitemaps(
    {
      fetch: (url, { signal }) => {
        asked.push(url);
        if (url.endsWith("1.xml"))
          return Promise.resolve({
            url,
            status: 200,
            headers: new Headers(),
            body: new TextEncoder().encode("<urlset><url><loc>https://a.example/1</loc></url></urlset>"),
            chain: [url],
          });
        return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      },
      converter: { readSitemap: () => Promise.reject(new Error("not asked")) },
      obey: async () => undefined,
    },
    ["0", "1", "2", "3"].map((name) => `https://a.example/${name}.xml`),
    { urlsMax: 10, timeoutMs: 60_000, fileTimeoutMs: 20, userAgent: "test", account: "", home: "https://a.example/" },
  );
  expect(found).toEqual(["https://a.example/1"]);
  expect(asked).toEqual(["0", "1", "2"].map((name) => `https://a.example/${name}.xml`));
});

test("the wait before a page is requested again is the one that its site asks for, or grows with each attempt", () => {
  expect([retryAfterMs("3", 1), retryAfterMs(null, 1), retryAfterMs(null, 2), retryAfterMs("3600", 1)]).toEqual([
    3000,
    500,
    1000,
    Number.POSITIVE_INFINITY,
  ]);
});

test("a challenge of bot protection is recognised", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  expect(isChallenge(403, new Headers(), bytes("<title>Just a moment...</title>"))).toBe(true);
  expect(isChallenge(403, new Headers(), bytes("<title>Forbidden</title>"))).toBe(false);
  expect(isChallenge(200, new Headers(), bytes("<title>An article about captchas</title>"))).toBe(false);
  expect(isChallenge(200, new Headers({ "cf-mitigated": "challenge" }), bytes(""))).toBe(true);
});
