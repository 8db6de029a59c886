// `logs` and `key debug` beside a running gateway.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { runCommandLine } from "../../src/cli/run.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { FakeTerminal } from "../support/terminal.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config: { usage: { flush: "5ms" } } });
});
afterAll(() => app.stop());

/** A terminal that reports new output and can be interrupted. */
class WatchedTerminal extends FakeTerminal {
  #told = Promise.withResolvers<void>();
  stop: () => void = () => undefined;
  override out(text: string): void {
    super.out(text);
    this.#told.resolve();
    this.#told = Promise.withResolvers();
  }
  override onInterrupt(stop: () => void): () => void {
    this.stop = stop;
    return () => undefined;
  }
  /** Waits until the output has this many lines. */
  async lines(count: number): Promise<string[]> {
    for (;;) {
      const lines = this.stdout.split("\n").filter((line) => line !== "");
      if (lines.length >= count) return lines;
      await this.#told.promise;
    }
  }
}

async function run(argv: readonly string[], io = new WatchedTerminal({ stdin: "" })) {
  const surroundings = { env: {}, cwd: app.dataDir };
  const code = await runCommandLine([...argv, "--data-dir", app.dataDir], { version: "0", io, surroundings });
  return { code, out: io.stdout, err: io.stderr };
}

const ask = (model: string, requestId: string) =>
  app.post(
    "/v1/chat/completions",
    { model, messages: [{ role: "user", content: "a secret word" }] },
    { "x-request-id": requestId },
  );

/** Waits until the request's row is in the database. */
async function written(requestId: string): Promise<void> {
  for (;;) {
    const { out } = await run(["logs", "--id", requestId, "--json"]);
    if (JSON.parse(out).length > 0) return;
    // The gateway runs in this process too.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

test("shows the latest, the oldest of them first, by filters, and no word of a request", async () => {
  await ask("demo-echo", "one");
  await ask("nowhere", "two");
  await ask("demo-echo", "three\u001b[2J");
  await written("two");
  const { code, out } = await run(["logs"]);
  expect(code).toBe(0);
  const lines = out.trim().split("\n");
  expect(lines[0]).toMatch(
    /^\S+Z {2}200 {2}demo-echo {2}demo {2}tester\/\S+ {2}\d+\+\d+ tokens {2}cost unknown {2}\d+ ms {2}one$/,
  );
  expect(lines[1]).toContain('404 model_not_found  "nowhere"');
  expect(out).not.toContain("secret word");
  expect(out).not.toContain("\u001b");
  const failed = JSON.parse((await run(["logs", "--status", "failed", "--json"])).out);
  expect(failed).toMatchObject([{ request_id: "two", account: "tester", error: "model_not_found" }]);
  expect(JSON.parse((await run(["logs", "--limit", "1", "--id", "one", "--json"])).out)).toHaveLength(1);
  expect(
    JSON.parse((await run(["logs", "--account", "tester@example.com", "--model", "-", "--json"])).out),
  ).toHaveLength(1);
});

test("says that nothing matches, and what is wrong with a flag", async () => {
  expect(await run(["logs", "--id", "none"])).toMatchObject({ code: 0, out: "", err: "No request matches.\n" });
  expect(await run(["logs", "--status", "3xx"])).toMatchObject({ code: 2, err: expect.stringContaining("--status:") });
  expect(await run(["logs", "--span", "2h"])).toMatchObject({ code: 2, err: expect.stringContaining("--span:") });
  expect(await run(["logs", "--limit", "1001"])).toMatchObject({ code: 2, err: expect.stringContaining("--limit") });
  expect((await run(["logs", "--account", "no@x.example"])).code).toBe(1);
});

test("follows what comes, each once and in order", async () => {
  await ask("demo-echo", "f-0");
  await written("f-0");
  const io = new WatchedTerminal({ stdin: "" });
  const following = run(["logs", "--follow", "--limit", "1", "--json"], io);
  await io.lines(1);
  for (let n = 1; n <= 5; n++) await ask("demo-echo", `f-${n}`);
  const lines = await io.lines(6);
  io.stop();
  expect((await following).code).toBe(0);
  expect(lines.map((line) => JSON.parse(line).request_id)).toEqual(["f-0", "f-1", "f-2", "f-3", "f-4", "f-5"]);
});

test("key debug begins and ends on a running gateway, and refuses keys that keep nothing", async () => {
  const until = async () => (await (await app.call("/v1/key")).json()).debug_until;
  const { id } = await (await app.call("/v1/key")).json();
  const { out } = await run(["key", "debug", id, "--minutes", "5", "--json"]);
  const begun = JSON.parse(out);
  while ((await until()) === null);
  expect(await until()).toBe(begun.debug_until);
  const list = JSON.parse((await run(["key", "list", "--account", "tester@example.com", "--json"])).out);
  expect(list[0].debug_until).toBe(begun.debug_until);
  expect(JSON.parse((await run(["key", "debug", id, "--off", "--json"])).out)).toEqual({ id, debug_until: null });
  while ((await until()) !== null);
  expect(await run(["key", "debug", id, "--off", "--minutes", "5"])).toMatchObject({ code: 2 });
  expect(await run(["key", "debug", id, "--minutes", "1440"])).toMatchObject({ code: 0 });
  expect(await run(["key", "debug", id, "--minutes", "1441"])).toMatchObject({ code: 2 });
  expect(await run(["key", "debug", "none"])).toMatchObject({ code: 1 });
  const store = openStore({ dataDir: app.dataDir });
  const silent = await keyStore(store).createKey({ accountId: app.accountId, name: "silent", noStore: true });
  store.close();
  const refused = await run(["key", "debug", silent.id, "--minutes", "5"]);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("--no-store") });
});
