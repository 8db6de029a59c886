import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMANDS } from "../../src/cli/index.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { FakeTerminal } from "../support/terminal.ts";

const page = (name: string, links = "") =>
  `<title>${name}</title><main><h1>${name}</h1><p>The page named ${name} says something that is long enough to be kept.</p>${links}</main>`;

let site: FakeSite;
let folder: string;
beforeAll(() => {
  site = startFakeSite({
    "/": page("root", '<a href="/a/b">b</a> <a href="/refused">gone</a>'),
    "/refused": () => new Response("no", { status: 403, headers: { "content-type": "text/html" } }),
    "/a/b": page("inner"),
    "/bad": () => new Response("", { status: 501 }),
  });
  folder = mkdtempSync(join(tmpdir(), "sallyport-cli-"));
  writeFileSync(join(folder, "c.yaml"), JSON.stringify({ data_dir: folder, web: { allow_hosts: [site.host] } }));
});
afterAll(() => {
  site.stop();
  rmSync(folder, { recursive: true, force: true });
});

const sally = (...words: string[]) => sallyOn(new FakeTerminal(), ...words);

async function sallyOn(io: FakeTerminal, ...words: string[]) {
  const code = await runCommandLine([...words, "--config", join(folder, "c.yaml")], {
    version: "0",
    io,
    commands: COMMANDS,
  });
  return { code, out: io.stdout, err: io.stderr };
}

describe("scrape", () => {
  test("Markdown", async () => {
    const { code, out } = await sally("scrape", `${site.url}/a/b`);
    expect([code, out.includes("The page named inner says something")]).toEqual([0, true]);
  });
  test("the API's body", async () => {
    const { out } = await sally("scrape", `${site.url}/a/b`, "--json", "--format", "links");
    expect(JSON.parse(out)).toMatchObject({ success: true, data: { links: [], metadata: { statusCode: 200 } } });
  });
  test("why each part was kept", async () => {
    const { code, out } = await sally("scrape", `${site.url}/a/b`, "--explain");
    expect(code).toBe(0);
    expect(out).toMatch(/^keep \d\.\d\d {2}The page named inner says something/m);
    expect(out).toMatch(/^keep \d\.\d\d {2}inner {2}\[h1\]/m);
    expect(out).toMatch(/^2 of 2 parts kept/m);
    const { data } = JSON.parse((await sally("scrape", `${site.url}/a/b`, "--explain", "--json")).out);
    expect(data.explanation).toMatchObject({
      parts: [
        { kept: true, element: "h1" },
        { kept: true, element: "p" },
      ],
    });
    expect(JSON.parse((await sally("scrape", `${site.url}/a/b`, "--json")).out).data.explanation).toBeUndefined();
  });
  test("failures are one line", async () => {
    expect(await sally("scrape", `${site.url}/bad`)).toEqual({
      code: 1,
      out: "",
      err: "sallyport: The server answered 501.\n",
    });
    expect((await sally("scrape", "http://10.0.0.1/")).code).toBe(1);
    expect((await sally("scrape", "nonsense")).code).toBe(2);
    expect((await sally("scrape", site.url, "--timeout-ms", "5")).code).toBe(2);
  });
});

test("map", async () => {
  const { code, out } = await sally("map", site.url);
  expect([code, out.split("\n")]).toEqual([0, [`${site.url}/`, `${site.url}/a/b`, `${site.url}/refused`, ""]]);
  expect((await sally("map", site.url, "--search", "/a/")).out).toBe(`${site.url}/a/b\n`);
  expect(JSON.parse((await sally("map", site.url, "--limit", "1", "--json")).out)).toEqual({
    success: true,
    links: [`${site.url}/`],
    total: 1,
  });
  expect((await sally("map", site.url, "--limit", "0")).code).toBe(2);
});

describe("crawl", () => {
  test("to stdout", async () => {
    const { code, out } = await sally("crawl", site.url, "--include", "/a/*");
    expect([code, out.includes("inner"), out.includes("named root")]).toEqual([0, true, false]);
  });
  test("to files", async () => {
    const to = join(folder, "out");
    const crawl = () => sally("crawl", site.url, "--out", to, "--exclude", "/refused");
    const { code, err } = await crawl();
    expect([code, readdirSync(to).sort()]).toEqual([0, ["a-b.md", "index.md"]]);
    expect(err).toMatch(/^2 pages read in \d+\.\d s, written to \S+out\n$/);
    expect(readFileSync(join(to, "a-b.md"), "utf8")).toStartWith(`<!-- ${site.url}/a/b -->`);
    expect((await crawl()).err).toEndWith(`written to ${to} (replaced 2 older files)\n`);
  });
  test("the API's body, and what failed", async () => {
    const { code, out, err } = await sally("crawl", site.url, "--json");
    const answer = JSON.parse(out);
    expect([code, answer.status, answer.completed, answer.creditsUsed]).toEqual([0, "completed", 3, 2]);
    expect(answer.data.map((one: { metadata: object }) => one.metadata)).toMatchObject([
      { title: "root", statusCode: 200 },
      { title: "inner" },
    ]);
    expect(answer.errors).toMatchObject([{ url: `${site.url}/refused`, code: "scrape_failed" }]);
    expect(err).toStartWith(
      `${site.url}/refused: The site refuses to show this page (403).\n2 pages read, 1 failed in `,
    );
  });
  test("limits", async () => {
    expect(JSON.parse((await sally("crawl", site.url, "--json", "--limit", "1")).out).data).toHaveLength(1);
    expect((await sally("crawl", site.url, "--max-depth", "11")).code).toBe(2);
    expect((await sally("crawl", site.url, "--include", "")).code).toBe(2);
  });
  test("progress is for somebody who watches", async () => {
    // Stdin does not matter, since a list may be piped into it.
    const watched = await sallyOn(new FakeTerminal({ columns: 40 }), "crawl", site.url, "--limit", "2");
    expect(watched.err).toMatch(/\r1 of at most 2 {2}http/);
    expect(watched.err).toMatch(/2 pages read in \d+\.\d s\n$/);
    // A line as wide as the terminal would wrap into a new line each time.
    for (const line of watched.err.split(/[\r\n]/)) expect(line.length).toBeLessThan(40);
    expect((await sallyOn(new FakeTerminal({ interactive: true }), "crawl", site.url)).err).not.toContain("\r");
  });
  test("interrupted: what was read is not lost", async () => {
    const endless = startFakeSite({
      "/": page("start", `<a href="/silent">on</a>`),
      "/silent": () => new Promise<Response>(() => undefined),
    });
    const config = join(folder, "open.yaml");
    writeFileSync(config, JSON.stringify({ data_dir: folder, web: { allow_hosts: [endless.host], render: "never" } }));
    const run = async (...words: string[]) => {
      const io = new FakeTerminal();
      const times = endless.count("/silent") + 1;
      const code = runCommandLine([...words, "--config", config], { version: "0", io, commands: COMMANDS });
      await endless.asked("/silent", times);
      io.interrupt();
      return { code: await code, out: io.stdout, err: io.stderr };
    };
    const text = await run("crawl", endless.url);
    expect([text.code, text.err]).toEqual([
      130,
      expect.stringMatching(/^1 page read in \S+ s\nsallyport: interrupted\n$/),
    ]);
    expect(text.out).toContain("The page named start");
    expect(JSON.parse((await run("crawl", endless.url, "--json")).out).status).toBe("cancelled");
    expect(await run("scrape", `${endless.url}/silent`)).toEqual({
      code: 130,
      out: "",
      err: "sallyport: interrupted\n",
    });
    await endless.stop();
  });
  test("out of time: what was read is not lost", async () => {
    const endless = startFakeSite({
      "/": page("start", '<a href="/silent">on</a>'),
      "/silent": () => new Promise<Response>(() => undefined),
    });
    const config = join(folder, "short.yaml");
    writeFileSync(
      config,
      JSON.stringify({ data_dir: folder, web: { allow_hosts: [endless.host], job_timeout: "2s", render: "never" } }),
    );
    for (const json of [false, true]) {
      const io = new FakeTerminal();
      const words = ["crawl", endless.url, "--config", config, ...(json ? ["--json"] : [])];
      const code = await runCommandLine(words, { version: "0", io, commands: COMMANDS });
      expect(code).toBe(1);
      expect(io.stderr).toMatch(/^1 page read in \S+ s\nsallyport: The crawl exceeded its time limit.\n$/);
      expect(io.stdout).toContain("The page named start");
      if (json) expect(JSON.parse(io.stdout).status).toBe("failed");
    }
    await endless.stop();
  });
  test.each(["", "--json"])("a dead root is told once %s", async (json) => {
    const words = ["crawl", `${site.url}/bad`, ...(json === "" ? [] : [json])];
    expect(await sally(...words)).toEqual({ code: 1, out: "", err: "sallyport: The server answered 501.\n" });
  });
});

describe("a mistake is named as it was typed", () => {
  test.each([
    ["scrape nowhere", "URL must be a fully-qualified URL"],
    ["map nowhere", "URL must be a fully-qualified URL"],
    ["crawl nowhere", "URL must be a fully-qualified URL"],
    ["llmstxt nowhere", "URL must be a fully-qualified URL"],
    ["extract nowhere --prompt x", "URL must be a fully-qualified URL"],
    ["scrape http://x.test/ --format pdf", "--format must be one of markdown"],
    ["crawl http://x.test/ --include *", "--include must be a path pattern"],
    ["crawl http://x.test/ --exclude *", "--exclude must be a path pattern"],
    ["search x --category none", "--category must be one of general"],
    ["search x --language 123", "--language must be auto or"],
  ])("%s", async (line, message) => {
    const { code, err } = await sally(...line.split(" ").map((word) => (word === "*" ? "" : word)));
    expect([code, err]).toEqual([2, expect.stringContaining(`sallyport: ${message}`)]);
  });
});

describe("a place that cannot be written is named with its option and a reason", () => {
  test.each([
    ["scrape", "", "PLACE cannot be written: it is a folder"],
    ["llmstxt", "", "PLACE cannot be written: it is a folder"],
    ["crawl", "c.yaml", "the folder PLACE cannot be made: a file has this name"],
  ])("%s", async (command, name, message) => {
    const place = join(folder, name);
    const { code, err } = await sally(command, site.url, "--out", place);
    expect([code, err]).toEqual([1, expect.stringContaining(`sallyport: --out: ${message.replace("PLACE", place)}\n`)]);
  });
});
