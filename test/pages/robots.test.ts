import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import robotsParser from "robots-parser";
import { FakeClock } from "../../src/base/clock.ts";
import { BlockedAddress } from "../../src/net/address-guard.ts";
import { FetchError, type FetchFault } from "../../src/net/fetch.ts";
import { createRobotsJudge } from "../../src/pages/robots/judge.ts";
import { createRobots, productToken } from "../../src/pages/robots/robots.ts";
import { cpuMs } from "../support/real-time.ts";

const HOME = "https://a.example";
const never = new AbortController().signal;
const ROBOT = { url: `${HOME}/robots.txt`, robot: "Sallyport", account: "" };
const judge = createRobotsJudge(new FakeClock());
afterAll(() => judge.close());
const rules = (text: string) => judge.read(new TextEncoder().encode(text), ROBOT);
const allowed = async (text: string, paths: readonly string[]) => {
  const file = await rules(text);
  const verdicts = await Promise.all(paths.map((path) => file.allows(HOME + path, never, "")));
  return paths.filter((_, index) => verdicts[index]);
};
/** Rules that match nothing, enough of them that the file is read and evaluated in a thread. */
const LONG = Array.from({ length: 1000 }, (_, n) => `Disallow: /nothing/of/the/kind/${n}/*.html\n`).join("");

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
    ["a name without rules allows all", "User-agent: *\nDisallow: /\nUser-agent: Sallyport", ["/x", "/y"]],
    ["a byte order mark", "\ufeffUser-agent: *\nDisallow: /x", ["/y"]],
    ["no text at all", "", ["/x", "/y"]],
  ])("%s", async (_, text, expected) => {
    expect(await allowed(text, ["/x", "/y"])).toEqual(expected);
  });
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
    ["Disallow: /a[1]|{2}'3'^", ["/a1"], ["/a[1]|{2}'3'^", "/a%5B1]%7c%7B2}%273'%5E"]],
    ["Disallow: /%2A\nDisallow: /a$b\nDisallow: /%24$", ["/x", "/ab", "/a", "/$x"], ["/*", "/%2a", "/a$b", "/$"]],
    ["Disallow: /100%\nDisallow: /%25off", ["/100"], ["/100%", "/%25off"]],
  ])("%s", async (text, yes, no) => {
    for (const long of ["", LONG])
      expect(await allowed(`User-agent: *\n${text}\n${long}`, [...yes, ...no])).toEqual(yes);
  });

  test.each<[string, string, number]>([
    ["at once", "", 500],
    ["in a thread", LONG, 60],
  ])("judge %s like the parser on its own", async (_, long, numRuns) => {
    const path = fc.array(fc.constantFrom("a", "b", "/", "*", "?"), { minLength: 1, maxLength: 6 });
    const rule = fc.tuple(fc.constantFrom("Allow", "Disallow"), path, fc.constantFrom("", "", "$"));
    const group = fc.tuple(fc.constantFrom("*", "Sallyport", "other"), fc.array(rule, { minLength: 1, maxLength: 5 }));
    await fc.assert(
      fc.asyncProperty(fc.array(group, { maxLength: 4 }), path, async (groups, target) => {
        const text = groups
          .flatMap(([name, own]) => [
            `User-agent: ${name}`,
            ...own.map(([kind, parts, end]) => `${kind}: /${parts.join("")}${end}`),
            long,
          ])
          .join("\n");
        const url = `${HOME}/${target.join("")}`;
        const expected = robotsParser(`${HOME}/robots.txt`, text).isAllowed(url, "Sallyport") !== false;
        expect([text, await (await rules(text)).allows(url, never, "")]).toEqual([text, expected]);
      }),
      { numRuns },
    );
  });
});

describe("a file designed to be slow", () => {
  const BYTES = 500 * 1024;
  const full = (line: string) => `User-agent: *\n${line.repeat(Math.floor(BYTES / line.length))}`;
  const SLOW = full(`Disallow: /${"*a".repeat(250)}b\n`);
  const LONG_PATH = `${HOME}/${"a".repeat(6000)}`;

  test.each<[string, string]>([
    ["wildcards without end", SLOW],
    ["as many rules as fit", full("Allow:/\n")],
    ["as many robots as fit", "User-agent: Sallyport\n".repeat(BYTES / 30) + "Allow:/a\n".repeat(BYTES / 30)],
    ["nothing but line ends", full("\n")],
    ["one line of nothing", full(" ")],
    ["few bytes of wildcards", `User-agent: *\nDisallow: /${"*a".repeat(8000)}b`],
  ])("never holds the event loop: %s", async (_, text) => {
    // Evaluating this on the event loop would block it for more than eight seconds.
    const held = await cpuMs(async () => {
      const file = await rules(text);
      await Promise.all([HOME, LONG_PATH].map((url) => file.allows(url, never, "").catch(() => undefined)));
    });
    expect(held).toBeLessThan(4000);
  });

  test("forbids for a while what cannot be judged in time, and judges the rest", async () => {
    const clock = new FakeClock();
    const own = createRobotsJudge(clock);
    try {
      const file = await own.read(new TextEncoder().encode(SLOW), ROBOT);
      const tooLong = () => file.allows(LONG_PATH, never, "").catch((error: { fault?: string }) => error.fault);
      expect(await tooLong()).toBe("robots");
      expect(await file.allows(`${HOME}/short`, never, "")).toBe(true);
      const before = process.cpuUsage();
      expect(new Set(await Promise.all(Array.from({ length: 20 }, tooLong)))).toEqual(new Set(["robots"]));
      // Rules that take too long are not tried again: none of these calls uses its four seconds in any thread.
      expect(process.cpuUsage(before).user / 1000).toBeLessThan(4000);
    } finally {
      own.close();
    }
  }, 60_000);

  test("does not delay other files", async () => {
    const slow = await rules(SLOW);
    const other = await rules(`User-agent: *\nDisallow: /x\n${LONG}`);
    const stop = new AbortController();
    const judging = Array.from({ length: 30 }, (_, n) =>
      slow.allows(LONG_PATH.slice(0, LONG_PATH.length - n), stop.signal, "").then(
        () => "judged",
        () => "given up",
      ),
    );
    // Thirty evaluations that each take their whole time would need a minute. At this point not even one has ended.
    const first = await Promise.race([...judging, other.allows(`${HOME}/x`, never, "")]);
    expect(first).toBe(false);
    stop.abort();
    expect(new Set(await Promise.all(judging))).toEqual(new Set(["given up"]));
  }, 60_000);
});

test("delays are the group's, and bounded", async () => {
  const values = ["Crawl-delay: 2.5", "Crawl-delay: 9999999", "Crawl-delay: -1", "Crawl-delay: soon", "Allow: /"];
  for (const long of ["", LONG]) {
    const delay = async (text: string) =>
      (await rules(`User-agent: *\nCrawl-delay: 1\nUser-agent: Sallyport\n${text}\n${long}`)).crawlDelayMs;
    expect(await Promise.all(values.map(delay))).toEqual([2500, 30_000, 0, 0, 0]);
  }
});

test("sitemaps are addresses", async () => {
  const text = "Sitemap: https://b.example/s.xml\nsitemap: /own.xml # here\nSitemap: http://\nSitemap:\n";
  for (const long of ["", `User-agent: *\n${LONG}`])
    expect((await rules(text + long)).sitemaps).toEqual(["https://b.example/s.xml", `${HOME}/own.xml`]);
});

test("the product name in a user agent", () =>
  expect([productToken("MyBot/2.0 (+x)"), productToken("(odd)")]).toEqual(["MyBot", "Sallyport"]));

describe("the file", () => {
  const page = `${HOME}/page`;
  /** Robots with a site that gives these answers one after the other. The last answer is repeated. */
  function over(...answers: (FetchFault | "blocked" | [status: number, text?: string])[]) {
    const clock = new FakeClock();
    const asked: string[] = [];
    const robots = createRobots({
      clock,
      judge,
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
      await found.check(page, never);
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

  test("is loaded again soon if it failed, and otherwise after an hour", async () => {
    const { robots, clock, asked } = over("timeout", [200, NO]);
    expect(await verdict(robots)).toBe("timeout");
    clock.advance(29_000);
    expect([await verdict(robots), asked.length]).toEqual(["timeout", 1]);
    clock.advance(2000);
    expect(await verdict(robots)).toBe("robots");
    clock.advance(3_500_000);
    expect([await verdict(robots), asked.length]).toEqual(["robots", 2]);
  });

  test("that cannot be read is named after the cause", async () => {
    const found = await over("dns").robots.rulesFor(page);
    await expect(found.check(page, never)).rejects.toThrow("no So the site's robots.txt could not be read.");
  });

  test("is loaded again at once if the host was unreachable, because its address may have changed", async () => {
    const { robots } = over("connect", "blocked");
    expect([await verdict(robots), await verdict(robots)]).toEqual(["upstream", "allowed"]);
  });

  test("releases callers that gave up, and serves the others", async () => {
    const gate = Promise.withResolvers<void>();
    const robots = createRobots({
      clock: new FakeClock(),
      judge,
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
    await expect((await patient).check(page, never)).rejects.toThrow("does not allow");
  });
});
