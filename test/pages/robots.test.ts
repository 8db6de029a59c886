import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import robotsParser from "robots-parser";
import { FakeClock } from "../../src/base/clock.ts";
import { FetchError, type FetchFault } from "../../src/net/fetch.ts";
import { BlockedAddress } from "../../src/net/guard.ts";
import { createRobots, obey, productToken } from "../../src/pages/robots.ts";
import { readRobots } from "../../src/pages/robots-text.ts";

const HOME = "https://a.example";
const rules = (text: string) => readRobots(`${HOME}/robots.txt`, text, "Sallyport");
const allowed = (text: string, paths: readonly string[]) => paths.filter((path) => rules(text).allows(HOME + path));

describe("groups", () => {
  test.each<[string, string, string[]]>([
    [
      "the one with our name, not the one for all",
      "User-agent: *\nDisallow: /\n\nUser-agent: sallyport\nDisallow: /x",
      ["/y"],
    ],
    [
      "the one for all, when no other names us",
      "User-agent: other\nDisallow: /y\n\nUser-agent: *\nDisallow: /x",
      ["/y"],
    ],
    ["several names, one group", "User-agent: a\nUser-agent: Sallyport/2.0\nDisallow: /x", ["/y"]],
    [
      "parts of one group",
      "User-agent: Sallyport\nDisallow: /x\nUser-agent: b\nDisallow: /\nUser-agent: SALLYPORT\nDisallow: /y",
      [],
    ],
    ["a sitemap ends none", "User-agent: Sallyport\nSitemap: /s.xml\nUser-agent: b\nDisallow: /x", ["/y"]],
    ["rules of nobody", "Disallow: /\nUser-agent: *\nDisallow: /x", ["/y"]],
    ["an empty one of ours allows all", "User-agent: *\nDisallow: /\nUser-agent: Sallyport\nDisallow:", ["/x", "/y"]],
    ["comments, spaces, odd line ends", "  user-agent : * # all\r  DISALLOW:/x# this\r\n\nnonsense\nx: y", ["/y"]],
    ["no text at all", "", ["/x", "/y"]],
  ])("%s", (_, text, expected) => expect(allowed(text, ["/x", "/y"])).toEqual(expected));
});

describe("rules", () => {
  test.each<[string, string[], string[]]>([
    ["Disallow: /*.pdf$", ["/x.pdf?y", "/pdf"], ["/x.pdf", "/a/.pdf"]],
    ["Disallow: /a\nAllow: /a/b", ["/a/b", "/a/b/c", "/A"], ["/a", "/a/c"]],
    ["Allow: /a\nDisallow: /a", ["/a"], []],
    ["Disallow: /*a*b*c", ["/abd", "/cba"], ["/abc", "/xaxbxc?d"]],
    ["Disallow: *x", ["/a"], ["/a/x", "/x"]],
    ["Disallow: /a$\nDisallow: /b*b$", ["/ab", "/a/", "/b"], ["/a", "/bb", "/b-b"]],
    ["Disallow: /q?x=", ["/q", "/q?y=1"], ["/q?x=1"]],
    ["Disallow: /%7euser/ü/%2f", ["/~user/u"], ["/~user/%C3%BC/%2F", "/%7Euser/ü/%2f/x"]],
    ["Disallow: relative", ["/relative"], []],
    ["Disallow: /", [], ["/", "/a?b"]],
  ])("%s", (text, yes, no) => expect(allowed(`User-agent: *\n${text}`, [...yes, ...no])).toEqual(yes));

  test("judge as a widely used parser does", () => {
    const path = fc.array(fc.constantFrom("a", "b", "/", "*", "?"), { minLength: 1, maxLength: 6 });
    const rule = fc.tuple(fc.constantFrom("Allow", "Disallow"), path, fc.constantFrom("", "", "$"));
    const group = fc.tuple(fc.constantFrom("*", "Sallyport", "other"), fc.array(rule, { minLength: 1, maxLength: 5 }));
    fc.assert(
      fc.property(fc.array(group, { maxLength: 4 }), path, (groups, target) => {
        const text = groups
          .flatMap(([name, own]) => [
            `User-agent: ${name}`,
            ...own.map(([kind, parts, end]) => `${kind}: /${parts.join("")}${end}`),
          ])
          .join("\n");
        const url = `${HOME}/${target.join("")}`;
        const expected = robotsParser(`${HOME}/robots.txt`, text).isAllowed(url, "Sallyport") !== false;
        expect([text, rules(text).allows(url)]).toEqual([text, expected]);
      }),
      { numRuns: 500 },
    );
  });

  test("made to be slow are not", () => {
    const line = `Disallow: /${"*a".repeat(250)}b\n`;
    const own = rules(`User-agent: *\n${line.repeat(1000)}`);
    const started = performance.now();
    expect(own.allows(`${HOME}/${"a".repeat(1900)}`)).toBe(true);
    // Trying all places of all wildcards takes seconds.
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

test("delays are the group's, and bounded", () => {
  const delay = (text: string) => rules(`User-agent: *\nCrawl-delay: 1\nUser-agent: Sallyport\n${text}`).crawlDelayMs;
  expect(
    ["Crawl-delay: 2.5", "Crawl-delay: 9999999", "Crawl-delay: -1", "Crawl-delay: soon", "Allow: /"].map(delay),
  ).toEqual([2500, 30_000, 0, 0, 0]);
});

test("sitemaps are addresses", () => {
  const text = "Sitemap: https://b.example/s.xml\nsitemap: /own.xml # here\nSitemap: http://\nSitemap:";
  expect(rules(text).sitemaps).toEqual(["https://b.example/s.xml", `${HOME}/own.xml`]);
});

test("the name in a user agent", () =>
  expect([productToken("MyBot/2.0 (+x)"), productToken("(odd)")]).toEqual(["MyBot", "Sallyport"]));

describe("the file", () => {
  const page = `${HOME}/page`;
  /** Robots over a site that answers so, one answer after the other; the last one again and again. */
  function over(...answers: (FetchFault | "blocked" | [status: number, text?: string])[]) {
    const clock = new FakeClock();
    const asked: string[] = [];
    const robots = createRobots({
      clock,
      userAgent: () => "Sallyport/1.0",
      fetch: async (url) => {
        const answer = answers[Math.min(asked.length, answers.length - 1)];
        asked.push(url);
        if (answer === "blocked") throw new BlockedAddress("address", "no");
        if (typeof answer === "string") throw new FetchError(answer, "no");
        const [status = 0, text = ""] = answer ?? [];
        const headers = new Headers({ "retry-after": "0" });
        return { url, status, headers, body: new TextEncoder().encode(text), chain: [url] };
      },
    });
    return { robots, clock, asked };
  }
  const verdict = async (robots: ReturnType<typeof createRobots>) => {
    const found = await robots.rulesFor(page);
    try {
      obey(found, page);
      return "allowed";
    } catch (error) {
      return (error as { fault?: string }).fault;
    }
  };
  const NO = "User-agent: *\nDisallow: /";

  test.each<[string, Parameters<typeof over>, string]>([
    ["that is not there forbids nothing", [[404, NO]], "allowed"],
    ["that is refused forbids nothing", [[403, NO]], "allowed"],
    ["that leads to a private address forbids nothing", ["blocked"], "allowed"],
    ["that redirects forever forbids nothing", ["redirects"], "allowed"],
    ["behind a guard's page forbids nothing", [[503, "<title>Just a moment...</title>"]], "allowed"],
    ["of a broken server forbids everything", [[500, "User-agent: *\nAllow: /"]], "upstream"],
    ["that comes at the second try counts", [[503], [200, NO]], "robots"],
    ["of a server that is down forbids everything", ["connect"], "upstream"],
    ["that does not come in time forbids everything", ["timeout"], "timeout"],
    ["longer than is read counts as far as it is", [[200, `${NO}\n${"# more\n".repeat(100_000)}`]], "robots"],
    ["is cut between lines", [[200, `User-agent: *\n${"#".repeat(512 * 1024 - 26)}\nDisallow: /private`]], "allowed"],
  ])("%s", async (_, answers, expected) => expect(await verdict(over(...answers).robots)).toBe(expected));

  test("is asked for again soon when it could not be had, and else after an hour", async () => {
    const { robots, clock, asked } = over("timeout", [200, NO]);
    expect(await verdict(robots)).toBe("timeout");
    clock.advance(29_000);
    expect([await verdict(robots), asked.length]).toEqual(["timeout", 1]);
    clock.advance(2000);
    expect(await verdict(robots)).toBe("robots");
    clock.advance(3_500_000);
    expect([await verdict(robots), asked.length]).toEqual(["robots", 2]);
  });

  test("is asked for at once when nobody could be reached: the name may lead elsewhere by now", async () => {
    const { robots } = over("connect", "blocked");
    expect([await verdict(robots), await verdict(robots)]).toEqual(["upstream", "allowed"]);
  });

  test("keeps nobody waiting who has given up, and serves those who have not", async () => {
    const gate = Promise.withResolvers<void>();
    const robots = createRobots({
      clock: new FakeClock(),
      userAgent: () => "Sallyport/1.0",
      fetch: async (url) => {
        await gate.promise;
        return { url, status: 200, headers: new Headers(), body: new TextEncoder().encode(NO), chain: [url] };
      },
    });
    const stop = new AbortController();
    const impatient = robots.rulesFor(page, stop.signal);
    const patient = robots.rulesFor(page);
    stop.abort(new Error("gone"));
    await expect(impatient).rejects.toThrow("gone");
    gate.resolve();
    expect((await patient).allows(page)).toBe(false);
  });
});
