// The guides work: their examples run, their configurations are valid, the metrics they name exist, and their statements
// about commands and keys are true.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import grafana from "../../docs/guides/grafana.json";
import { COMMANDS } from "../../src/cli/index.ts";
import { loadConfig } from "../../src/config/load.ts";
import { isConfiguration, isOfCommands, nameOf } from "./blocks.ts";
import { allSnippets, runSnippet, type Snippet } from "./snippets.ts";
import { type ExampleGateway, startExampleGateway } from "./world.ts";

const SLOW_MS = 60_000;
const SNIPPETS = allSnippets();
let gateway: ExampleGateway;

beforeAll(async () => {
  gateway = await startExampleGateway();
});
afterAll(() => gateway.stop());

const named = (snippets: readonly Snippet[]) => snippets.map((one) => [nameOf(one), one] as const);

describe("examples run", () => {
  const runnable = SNIPPETS.filter((one) => one.marks.includes("run") && !isOfCommands(one));

  test("and there are some for each SDK that is installed here", () => {
    const code = runnable.map((one) => one.code).join("\n");
    for (const name of ["openai", "@anthropic-ai/sdk", "ai", "@mendable/firecrawl-js", "firecrawl"]) {
      expect(code).toContain(`from "${name}"`);
    }
    expect(runnable.filter(({ language }) => language === "sh").length).toBeGreaterThan(4);
  });

  test.each(named(runnable))(
    "%s",
    async (_name, snippet) => {
      const { exitCode, out, err } = await runSnippet(snippet, await gateway.world());
      expect({ exitCode, err: exitCode === 0 ? "" : err }).toEqual({ exitCode: 0, err: "" });
      expect(out.trim()).not.toBe("");
      expect(out).not.toContain('"error"');
      const [said] = /Hello from [\w ]+/.exec(snippet.code) ?? [];
      if (said !== undefined) expect(out).toContain(said);
    },
    SLOW_MS,
  );
});

test("what the guides name of a configuration within a sentence is YAML, too", () => {
  const guides = [...new Bun.Glob("docs/**/*.md").scanSync({ cwd: join(import.meta.dir, "../..") })];
  const spans = guides.flatMap((guide) => {
    const text = readFileSync(join(import.meta.dir, "../..", guide), "utf8");
    return [...text.matchAll(/(?<!`)`([a-z_]+: [^`\n]+)`(?!`)/g)].map(([, span = ""]) => [guide, span] as const);
  });
  expect(spans.length).toBeGreaterThan(20);
  const wrong = spans.filter(([, span]) => {
    try {
      return typeof Bun.YAML.parse(span) !== "object";
    } catch {
      return true;
    }
  });
  expect(wrong).toEqual([]);
});

describe("configurations are accepted", () => {
  test.each(named(SNIPPETS.filter(isConfiguration)))("%s", (_name, { code }) => {
    const folder = mkdtempSync(join(tmpdir(), "sallyport-guide-"));
    try {
      const file = join(folder, "sallyport.yaml");
      // Keys come from where the reader keeps them; models may name providers of another example.
      const text = code.replaceAll(/\$\{file:[^}]+\}/g, "secret");
      const providers =
        /^models:/m.test(code) && !/^providers:/m.test(code)
          ? "providers: { openai: { api_key: k }, engine: { kind: openai, base_url: http://127.0.0.1:1/v1 } }\n"
          : "";
      writeFileSync(file, providers + text);
      const env = new Proxy(
        {},
        { get: (_, name) => (typeof name === "string" && /KEY|TOKEN/.test(name) ? "secret" : undefined) },
      );
      const loaded = loadConfig({ file, dataDir: folder, env: { ...envOf(code), ...env } });
      expect(loaded.ok ? [] : loaded.problems).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** A value for each variable that a configuration names. */
function envOf(code: string): Record<string, string> {
  return Object.fromEntries([...code.matchAll(/\$\{(\w+)/g)].map(([, name = ""]) => [name, "secret"]));
}

test("commands that guides name exist", () => {
  const known = new Set(COMMANDS.map(({ name }) => name));
  const texts = SNIPPETS.filter(({ language }) => ["sh", "ini", "dockerfile"].includes(language)).map(
    ({ code }) => code,
  );
  const used = texts.flatMap((text) =>
    [...text.matchAll(/(?:^|[/\s"])sallyport"?,? "?([a-z][a-z-]+)/gm)].map(([, name]) => name ?? ""),
  );
  expect(used.length).toBeGreaterThan(5);
  expect(used.filter((name) => !known.has(name) && !["sallyport", "http", "https"].includes(name))).toEqual([]);
});

test("the metrics that guides and the Grafana dashboard name are there", async () => {
  await gateway.app.post("/v1/chat/completions", { model: "demo-echo", messages: [{ role: "user", content: "x" }] });
  const text = await (await fetch(`${gateway.app.url}/metrics`)).text();
  const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  const queries = grafana.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const guide = readFileSync(join(import.meta.dir, "../../docs/guides/metrics.md"), "utf8");
  const used = [...[...queries, guide].join("\n").matchAll(/\b(?:sallyport|process)_[a-z_]+/g)].map(([name]) => name);
  expect(used.length).toBeGreaterThan(30);
  const missing = used.filter((name) => !known.has(name.replace(/_bucket$/, "")));
  expect([...new Set(missing)]).toEqual([]);
});
