import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMANDS } from "../../src/cli/index.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { type FakeSite, html, page, startFakeSite } from "../support/fake-site.ts";
import { parseLlmstxt } from "../support/llmstxt-parser.ts";
import { FakeTerminal } from "../support/terminal.ts";

let site: FakeSite;
let folder: string;
beforeAll(() => {
  site = startFakeSite({
    "/": page("Root", ["/a", "/b", "/bad"]),
    "/a": page("A"),
    "/b": page("B"),
    "/bad": () => html("no", { status: 403 }),
  });
  folder = mkdtempSync(join(tmpdir(), "sallyport-llmstxt-"));
  const web = { allow_hosts: [site.host], render: "never" };
  writeFileSync(join(folder, "c.yaml"), JSON.stringify({ data_dir: folder, web }));
});
afterAll(async () => {
  await site.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function sally(io: FakeTerminal, ...words: string[]) {
  const options = { version: "0", io, commands: COMMANDS };
  const code = await runCommandLine(["llmstxt", ...words, "--config", join(folder, "c.yaml")], options);
  return { code, out: io.stdout, err: io.stderr };
}
const linksOf = (text: string) => parseLlmstxt(text).sections.flatMap(({ links }) => links.map(({ url }) => url));

test("the file to stdout, what failed to stderr", async () => {
  const { code, out, err } = await sally(new FakeTerminal(), site.url);
  expect([code, linksOf(out)]).toEqual([0, [`${site.url}/`, `${site.url}/a`, `${site.url}/b`]]);
  expect(err).toBe(`${site.url}/bad: The site refuses to show this page (403).\n`);
});

test("with the text of the pages, as JSON, into a file", async () => {
  const full = await sally(new FakeTerminal(), site.url, "--full", "--max-urls", "2");
  expect(full.out).toContain(`## A\n\nSource: <${site.url}/a>\n\nThis is the page about A.`);
  const { out } = await sally(new FakeTerminal(), site.url, "--json", "--max-urls", "1");
  expect(Object.keys(JSON.parse(out))).toEqual(["success", "status", "llmstxt"]);
  const file = join(folder, "llms.txt");
  const written = await sally(new FakeTerminal(), site.url, "--max-urls", "1", "--out", file);
  expect([written.code, written.out, linksOf(readFileSync(file, "utf8"))]).toEqual([0, "", [`${site.url}/`]]);
});

test("failures are one line", async () => {
  const refused = await sally(new FakeTerminal(), `${site.url}/bad`);
  expect(refused).toEqual({ code: 1, out: "", err: "sallyport: The site refuses to show this page (403).\n" });
  expect((await sally(new FakeTerminal(), "http://10.0.0.1/")).code).toBe(1);
  expect((await sally(new FakeTerminal(), "nonsense")).code).toBe(2);
  expect((await sally(new FakeTerminal(), site.url, "--max-urls", "101")).code).toBe(2);
});

test("progress is for somebody who watches", async () => {
  const { err } = await sally(new FakeTerminal({ columns: 60 }), site.url);
  expect(err).toMatch(/\rmapping: 0 of 1 pages/);
  expect(err).toMatch(/\rreading: 2 of 4 pages {2}http/);
});
