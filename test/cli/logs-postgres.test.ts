// `logs` and `key debug` beside a gateway whose store is a PostgreSQL database.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { runCommandLine } from "../../src/cli/run.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { HAS_POSTGRES, type TestDatabase, testPostgres } from "../support/postgres.ts";
import { FakeTerminal } from "../support/terminal.ts";

const SLOW_MS = 90_000;
const server = HAS_POSTGRES ? await testPostgres() : undefined;
let database: TestDatabase;
let app: TestApp;

describe.skipIf(server === undefined)("with database.url", () => {
  beforeAll(async () => {
    database = await server!.database();
    app = await startTestApp({ config: { database: { url: database.url }, usage: { flush: "5ms" } } });
  }, SLOW_MS);
  afterAll(async () => {
    await app?.stop();
    await database?.drop();
  });

  /** The variable names the database, as in a shell beside the server. */
  async function run(...argv: string[]) {
    const io = new FakeTerminal({ stdin: "" });
    const surroundings = { env: { SALLYPORT_DATABASE_URL: database.url }, cwd: app.dataDir };
    const code = await runCommandLine([...argv, "--data-dir", app.dataDir], { version: "0", io, surroundings });
    return { code, out: io.stdout, err: io.stderr };
  }

  async function ask(requestId: string): Promise<void> {
    const body = { model: "demo-echo", messages: [{ role: "user", content: "a word" }] };
    expect((await app.post("/v1/chat/completions", body, { "x-request-id": requestId })).status).toBe(200);
    for (;;) {
      const { code, out } = await run("logs", "--id", requestId, "--json");
      expect(code).toBe(0);
      const rows = JSON.parse(out);
      if (rows.length === 0) continue;
      expect(rows).toMatchObject([{ request_id: requestId, account: "tester", model: "demo-echo", status: 200 }]);
      return;
    }
  }

  test("logs reads what the gateway has written", async () => {
    await ask("one");
    expect((await run("logs")).out).toContain("demo-echo");
    expect(await run("logs", "--id", "none")).toMatchObject({ code: 0, err: "No request matches.\n" });
  });

  test("key debug begins on the running gateway, and --off ends it and deletes what was kept", async () => {
    const own = async () => await (await app.call("/v1/key")).json();
    const { id } = await own();
    const begun = JSON.parse((await run("key", "debug", id, "--minutes", "5", "--json")).out);
    while ((await own()).debug_until !== begun.debug_until);
    await ask("debugged");
    expect(JSON.parse((await run("key", "debug", id, "--off", "--json")).out)).toEqual({ id, debug_until: null });
    while ((await own()).debug_until !== null);
    expect(await run("key", "debug", "none", "--off")).toMatchObject({ code: 1 });
  });
});
