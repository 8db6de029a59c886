// `sallyport extract`: the web tools and a configured provider, without a server or a key.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMANDS } from "../../src/cli/index.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { say } from "../support/fake-model.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { FakeTerminal } from "../support/terminal.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";

const SCHEMA = {
  type: "object",
  properties: { name: { type: "string" }, price: { type: "number" } },
  required: ["name"],
};
const described = `<script type="application/ld+json">{"@type":"Product","name":"Desk","offers":{"price":"9.50"}}</script>`;

let site: FakeSite;
let upstream: FakeUpstream;
let folder: string;
const file = (name: string, content: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};

beforeAll(() => {
  site = startFakeSite({
    "/lamp": "<title>Lamp</title><main><h1>Lamp</h1><p>This lamp costs 19.50 and gives a warm light.</p></main>",
    "/desk": `<title>Desk</title>${described}<main><h1>Desk</h1><p>A desk of oak, with one drawer.</p></main>`,
    "/gone": () => new Response("no", { status: 403, headers: { "content-type": "text/html" } }),
  });
  upstream = startUpstream((received) =>
    say(received, {
      text: JSON.stringify({ value: { name: "Lamp", price: 19.5 }, quotes: { name: "Lamp", price: "costs 19.50" } }),
    }),
  );
  folder = mkdtempSync(join(tmpdir(), "sallyport-cli-"));
  const base = { data_dir: folder, web: { allow_hosts: [site.host], render: "never" } };
  const up = { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false };
  const reader = { id: "reader", routes: [{ provider: "up", model: "m" }], prices: { input: 1, output: 2 } };
  file("bare.yaml", base);
  file("model.yaml", { ...base, providers: { up }, models: [reader] });
  file("schema.json", SCHEMA);
});
afterAll(async () => {
  await site.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function extract(config: string, paths: readonly string[], ...words: string[]) {
  const io = new FakeTerminal();
  const urls = paths.map((path) => site.url + path);
  const code = await runCommandLine(["extract", ...urls, ...words, "--config", join(folder, config)], {
    version: "0",
    io,
    commands: COMMANDS,
    surroundings: { env: {}, cwd: folder },
  });
  return { code, out: io.stdout, err: io.stderr };
}
const asked = ["--prompt", "The product", "--schema"] as const;
const schema = () => join(folder, "schema.json");

describe("with a provider", () => {
  test("the data", async () => {
    const { code, out, err } = await extract("model.yaml", ["/lamp"], ...asked, schema());
    expect([code, JSON.parse(out), err]).toEqual([0, { name: "Lamp", price: 19.5 }, ""]);
    expect(out).toContain('{\n  "name"');
  });

  test("the API's body, and one bad page among good ones", async () => {
    const { code, out, err } = await extract("model.yaml", ["/lamp", "/gone"], ...asked, schema(), "--json");
    const url = `${site.url}/lamp`;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      success: true,
      status: "completed",
      data: { name: "Lamp", price: 19.5 },
      sources: { price: [{ url, quote: "costs 19.50" }] },
      unsupported: [],
      creditsUsed: 1,
    });
    expect(err).toBe(`${site.url}/gone: The site refuses to show this page (403).\n`);
  });

  test("into a file", async () => {
    const out = join(folder, "out.json");
    expect(await extract("model.yaml", ["/lamp"], ...asked, schema(), "--out", out)).toMatchObject({
      code: 0,
      out: "",
    });
    expect(JSON.parse(readFileSync(out, "utf8"))).toEqual({ name: "Lamp", price: 19.5 });
  });

  test("by a name that no provider has", async () => {
    const { code, err } = await extract("model.yaml", ["/lamp"], ...asked, schema(), "--model", "other");
    expect([code, err]).toEqual([1, 'sallyport: no provider has a chat model "other"\n']);
  });
});

describe("without one", () => {
  test("what a page says of itself", async () => {
    for (const [config, more] of [
      ["bare.yaml", []],
      ["model.yaml", ["--model", "none"]],
    ] as const) {
      const { code, out } = await extract(config, ["/desk"], ...asked, schema(), ...more);
      expect([code, JSON.parse(out)]).toEqual([0, { name: "Desk", price: 9.5 }]);
    }
  });

  test("what it does not say is named", async () => {
    const { code, out, err } = await extract("bare.yaml", ["/lamp"], ...asked, schema());
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^sallyport: .*name, price.*[A-Z]+_API_KEY.*\n$/);
  });
});

test("wrong arguments are one line", async () => {
  const code = async (...words: string[]) => {
    const told = await extract("bare.yaml", ["/lamp"], ...words);
    expect(told.err.trimEnd().split("\n")).toHaveLength(1);
    return told.code;
  };
  expect(await code()).toBe(2);
  expect(await code(...asked, join(folder, "none.json"))).toBe(2);
  expect(await code(...asked, file("broken.json", "{"))).toBe(2);
  expect(await code(...asked, file("wrong.json", { type: "text" }))).toBe(2);
});
