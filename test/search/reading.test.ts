// The readers of engines' responses.

import { describe, expect, test } from "bun:test";
import { hackernews } from "../../src/search/engines/hackernews.ts";
import { dateOfParts, isoDate } from "../../src/search/reading/date.ts";
import { readJsonAnswer, valueAt } from "../../src/search/reading/json.ts";
import { brokenSelector, firstText, readMarkup } from "../../src/search/reading/markup.ts";
import { objectAfter } from "../../src/search/reading/script.ts";
import { retryAfter, statusFailure } from "../../src/search/reading/status.ts";
import { clock, counted, oneLine, plain, webAddress } from "../../src/search/reading/text.ts";
import { contextFor, responseTo } from "./samples.ts";

const NOW = Date.parse("2026-11-22T12:00:00Z");

describe("a date", () => {
  test.each([
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"],
    ["2026-01-02T03:04:05.678+02:00", "2026-01-02T01:04:05.678Z"],
    ["2026-01-02T03:04:05", "2026-01-02T03:04:05Z"],
    ["2026-01-02T03:04:05.123456Z", "2026-01-02T03:04:05.123Z"],
    ["2026-01-02", "2026-01-02"],
    ["2026-01", "2026-01"],
    ["2026", "2026"],
    ["Fri, 21 Aug 2026 16:30:00 GMT", "2026-08-21T16:30:00Z"],
    ["March 3, 2026", "2026-03-03"],
    ["18 Jun 2023", "2023-06-18"],
    ["20261120T063000Z", "2026-11-20T06:30:00Z"],
    ["20261120", "2026-11-20T00:00:00Z"],
    ["1700000000", "2023-11-14T22:13:20Z"],
    [1_700_000_000, "2023-11-14T22:13:20Z"],
    [1_700_000_000_000, "2023-11-14T22:13:20Z"],
    ["2 hours ago", "2026-11-22T10:00:00Z"],
    ["an hour ago", "2026-11-22T11:00:00Z"],
    ["Streamed 3 days ago", "2026-11-19"],
    ["1 week ago", "2026-11-15"],
  ])("%p is %p", (value, iso) => expect(isoDate(value, NOW)).toBe(iso));

  test.each(["", "soon", "yesterday", "2026-13-45", "March", "0", 0, -5, Number.NaN, null, {}, "9".repeat(5000)])(
    "%p is none",
    (value) => expect(isoDate(value, NOW)).toBeUndefined(),
  );

  test("in words needs the current time", () => expect(isoDate("2 hours ago")).toBeUndefined());

  test("in parts may lack the month and day or the day, but no part between", () => {
    expect([[2019], [2019, 7], [2019, 7, 1]].map(dateOfParts)).toEqual(["2019", "2019-07", "2019-07-01"]);
    expect([[null], [], [2019, null], "2019", [2019, 13]].map(dateOfParts)).toEqual(Array(5).fill(undefined));
  });
});

describe("a text", () => {
  test.each([
    ["a  b\n c", "a b c"],
    ["<b>bold</b>er", "bolder"],
    ["one<br>two<p>three</p>four", "one two three four"],
    ["&lt;b&gt; &amp;amp; &#39;x&#39; &eacute;", "<b> &amp; 'x' é"],
    ["1 < 2", "1 < 2"],
    ["a<script>alert(1)</script>b<style>p{}</style>c", "abc"],
    ["<unclosed", ""],
    ["caf\u00e9 \u{1F600}\u200b!", "caf\u00e9 \u{1F600}!"],
  ])("%p is read as %p", (html, text) => expect(plain(html)).toBe(text));

  test("shows no control characters", () => expect(oneLine("a\u0000b\u001b[31mc\u007f")).toBe("a b [31mc"));

  test("is only read up to a limit", () => {
    expect(plain(`<p>${"x".repeat(5_000_000)}`).length).toBeLessThan(25_000);
    expect(plain("<div>".repeat(400_000) + "</span>".repeat(400_000))).toBe("");
  });

  test("counts and durations in words are read", () => {
    expect([counted("", "star"), counted("1", "star"), counted("0", "star")]).toEqual(["", "1 star", "0 stars"]);
    expect([0, Number.NaN, 59, 60, 3723].map(clock)).toEqual(["", "", "0:59", "1:00", "1:02:03"]);
  });

  test("only web addresses are accepted", () => {
    expect(webAddress("//x.example/a", "https://y.example")).toBe("https://x.example/a");
    for (const other of [
      "",
      "javascript:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "/relative",
      "no address",
    ])
      expect(webAddress(other)).toBeUndefined();
  });
});

describe("a path", () => {
  const body = { a: { b: [{ c: 0 }, { c: "x" }] }, empty: "", none: null };
  test.each([
    ["a.b.1.c", "x"],
    ["a.b.0.c", 0],
    ["empty|none|a.b.1.c", "x"],
    ["nowhere.at.all", undefined],
    ["__proto__.toString", undefined],
    ["constructor", undefined],
  ])("%p leads to %p", (path, value) => expect(valueAt(body, path)).toEqual(value as never));

  test("may lead to the whole value", () => expect(valueAt([1], "$")).toEqual([1]));

  test("to lists in lists leads to no text", () => {
    const deep = `{"hits":[{"objectID":"1","title":${"[".repeat(1000)}"x"${"]".repeat(1000)},"url":"https://x.example"}]}`;
    const context = contextFor(hackernews);
    const response = responseTo(hackernews.request(context), {}, deep);
    expect(readJsonAnswer(response, context, { engine: hackernews })).toMatchObject({
      failure: { kind: "changed_markup" },
    });
  });
});

describe("an object in a script", () => {
  test.each([
    ['x = {"a":"};}{","b":{"c":"\\"}"}};more', { a: "};}{", b: { c: '"}' } }],
    ['x =  {"a":1}', { a: 1 }],
    ['x = {"a":', undefined],
    ["x = null", undefined],
    ['y = {"a":1}', undefined],
    ['x = f({"a":1})', undefined],
  ])("%p", (text, object) => expect(objectAfter(text, "x =")).toEqual(object));
});

describe("a selector", () => {
  test("that is invalid is named", () => {
    expect(brokenSelector({ a: "div > a@href", b: "" })).toBeUndefined();
    expect(brokenSelector({ a: "div", b: "a[" })).toBe("a[");
  });

  test("takes an attribute or a text", () => {
    expect(firstText('<a href="/x"> y </a>', "a@href")).toBe("/x");
    expect(firstText('<a href="/x"> y </a>', "a")).toBe("y");
    for (const none of ["b", "a@title", "a[", ""]) expect(firstText("<a>y</a>", none)).toBe("");
  });

  test("of the operator that is invalid fails with its name", () => {
    const context = contextFor(hackernews, { settings: { selectors: { results: "li[" } } });
    const response = responseTo(hackernews.request(context), {}, "<li></li>");
    const parsed = readMarkup(response, context, { engine: { selectors: { results: "li" } } });
    expect(parsed).toMatchObject({ failure: { message: 'The selector "li[" cannot be read.' } });
  });
});

describe("a failure", () => {
  const failure = (status: number, headers: Record<string, string> = {}, body = "", keyed = false) =>
    statusFailure(responseTo({ method: "GET", url: "https://x.example", headers: {} }, { status, headers }, body), {
      keyed,
    })?.kind;

  test("is determined by the status, and by whether a key was sent", () => {
    expect([200, 204].map((status) => failure(status))).toEqual([undefined, undefined]);
    expect([401, 403].map((status) => failure(status))).toEqual(["blocked", "blocked"]);
    expect([401, 402, 403].map((status) => failure(status, {}, "", true))).toEqual(Array(3).fill("bad_key"));
    expect(failure(403, { "retry-after": "5" })).toBe("rate_limited");
    expect(failure(403, { "cf-mitigated": "challenge" })).toBe("captcha");
    const html = { "content-type": "text/html; charset=utf-8" };
    expect(failure(503, html, '<script src="/cdn-cgi/challenge-platform/x"></script>')).toBe("captcha");
    expect(failure(503, html, "<h1>Back soon</h1>")).toBe("server_error");
  });

  test.each([
    [{}, undefined],
    [{ "retry-after": "30" }, 30_000],
    [{ "retry-after": "1.5" }, 1500],
    [{ "retry-after": "99999999" }, 7 * 86_400_000],
    [{ "retry-after": "Sun, 22 Nov 2026 12:01:00 GMT", date: "Sun, 22 Nov 2026 12:00:00 GMT" }, 60_000],
    [{ "retry-after": "Sun, 22 Nov 2026 12:01:00 GMT" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1795348860", date: "Sun, 22 Nov 2026 12:00:00 GMT" },
      60_000,
    ],
    [
      { "x-ratelimit-remaining": "3", "x-ratelimit-reset": "1795348860", date: "Sun, 22 Nov 2026 12:00:00 GMT" },
      undefined,
    ],
    [{ "x-ratelimit-remaining": "0, 12", "x-ratelimit-reset": "1, 1419" }, 1000],
    [{ "x-ratelimit-remaining": "0, 0", "x-ratelimit-reset": "1, 1419" }, 1_419_000],
    [{ "x-ratelimit-remaining": "1, 0", "x-ratelimit-reset": "1, 1419", "retry-after": "3" }, 3000],
    [
      {
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": "2026-11-22T12:05:00.000Z",
        date: "Sun, 22 Nov 2026 12:00:00 GMT",
      },
      300_000,
    ],
  ] as [Record<string, string>, number | undefined][])("%p asks for %p ms", (headers, ms) =>
    expect(retryAfter(new Headers(headers))).toBe(ms as never),
  );
});

describe("a hit", () => {
  const read = (hits: readonly object[]) => {
    const context = contextFor(hackernews);
    const parsed = hackernews.parse(responseTo(hackernews.request(context), {}, JSON.stringify({ hits })), context);
    return parsed.kind === "hits" ? parsed.hits : parsed.kind;
  };
  const long = "x".repeat(1_000_000);

  test("at an address of megabytes is left out", () => {
    const good = { objectID: "1", title: "Bread", url: "https://example.com/" };
    const bad = { objectID: "2", title: "Bread", url: `https://example.com/${long}` };
    expect(read([bad, good])).toMatchObject([{ url: "https://example.com/" }]);
    expect(read([bad])).toBe("failure");
  });

  test("with texts of megabytes keeps their beginnings", () => {
    const [hit] = read([{ objectID: "1", title: `Bread ${long}`, url: "https://example.com/", story_text: long }]);
    if (typeof hit !== "object") throw new Error("There is no hit.");
    expect(hit.title.startsWith("Bread xxx")).toBe(true);
    expect(hit.title.length + hit.snippet.length).toBeLessThanOrEqual(5000);
  });
});
