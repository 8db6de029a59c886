import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMANDS } from "../../src/cli/index.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { settingsStore } from "../../src/store/settings.ts";
import { page } from "../support/fake-site.ts";
import { FakeTerminal } from "../support/terminal.ts";
import { breads, type SearchSite, startSearchSite } from "../web/search-site.ts";

let site: SearchSite;
const folder = mkdtempSync(join(tmpdir(), "sallyport-cli-"));
beforeAll(() => {
  site = startSearchSite({ "/rye": page("Rye") });
  const config = { data_dir: folder, web: { allow_hosts: [site.host], render: "never" } };
  writeFileSync(join(folder, "c.yaml"), JSON.stringify({ ...config, ...site.config(["searxng", "wikipedia"]) }));
});
afterAll(() => {
  site.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function sally(...words: string[]) {
  const io = new FakeTerminal();
  const argv = [...words, "--config", join(folder, "c.yaml")];
  const code = await runCommandLine(argv, { version: "0", io, commands: COMMANDS });
  return { code, out: io.stdout, err: io.stderr };
}

describe("search", () => {
  test("prints hits, and who did not answer", async () => {
    site.lists("searxng", breads("a", 2));
    site.answers("wikipedia", () => new Response("", { status: 500 }));
    const { code, out, err } = await sally("search", "rye", "bread", "--limit", "1");
    expect(code).toBe(0);
    expect(out).toBe("1. Bread 1\n   https://a.example/1\n   All about bread, part 1 of a.\n");
    expect(err).toBe("wikipedia did not answer: server_error\n");
    expect(new URL(site.hits.findLast((hit) => hit.startsWith("/search?")) ?? "", site.url).searchParams.get("q")).toBe(
      "rye bread",
    );
  });

  test("with the pages' text, and as the API's body", async () => {
    site.lists("searxng", [{ url: `${site.url}/rye`, title: "Rye bread" }]);
    site.lists("wikipedia", []);
    expect((await sally("search", "bread", "--content")).out).toContain("This is the page about Rye");
    const { out } = await sally("search", "bread", "--json", "--category", "general");
    expect(JSON.parse(out)).toMatchObject({ query: "bread", number_of_results: 1, results: [{ title: "Rye bread" }] });
  });

  test("says that nothing was found, and what is wrong", async () => {
    site.lists("searxng", []);
    expect((await sally("search", "bread")).out).toBe("No results.\n");
    expect(await sally("search", "bread", "--category", "map")).toMatchObject({
      code: 0,
      out: "No results.\n",
    });
    expect((await sally("search", "bread", "--category", "bread")).code).toBe(2);
    expect((await sally("search", "bread", "--limit", "21")).code).toBe(2);
    site.answers("searxng", () => new Response("", { status: 500 }));
    site.answers("wikipedia", () => new Response("", { status: 500 }));
    const { code, err } = await sally("search", "bread");
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /^sallyport: Every search engine that was asked failed: \w+ \(server_error\), \w+ \(server_error\)\.\n$/,
      ),
    ]);
  });
});

describe("doctor --engines", () => {
  test("asks those that run, and says what is broken and since when", async () => {
    const store = openStore({ dataDir: folder });
    const lastError = { kind: "captcha", message: "A captcha.", atMs: 0 };
    const wikipedia = { lastOkAtMs: Date.UTC(2026, 0, 1), failingSinceMs: Date.UTC(2026, 0, 2), lastError };
    await settingsStore(store).writeSetting("search_engine_health", { wikipedia });
    store.close();
    site.lists("searxng", [{ url: "https://a.example/", title: "Linux" }]);
    site.answers("wikipedia", () => new Response("", { status: 500 }));
    const { code, out } = await sally("doctor", "--engines");
    expect(code).toBe(1);
    expect(out).toMatch(/^ok +searxng +\d+ ms {2}1 hit$/m);
    expect(out).toMatch(
      /^failed +wikipedia +\d+ ms {2}server_error: .+ \(failing since 2026-01-02T00:00:00.000Z, last answer 2026-01-01T00:00:00.000Z\)$/m,
    );
    expect(out).toMatch(/^ {2}not in search\.only: .*wikidata, /m);
  });

  test("asks one by name", async () => {
    site.lists("searxng", []);
    const { code, out } = await sally("doctor", "--engines", "searxng", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      ok: true,
      engines: [{ name: "searxng", status: "warning", ms: expect.any(Number), hits: 0 }],
    });
    expect((await sally("doctor", "--engines", "altavista")).code).toBe(2);
    expect((await sally("doctor", "searxng")).code).toBe(2);
  });
});
