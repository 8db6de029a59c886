import { afterAll, beforeAll, expect, test } from "bun:test";
import { COMMANDS } from "../../src/cli/index.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { acquireServeLock } from "../../src/store/engine/serve-lock.ts";
import { LISTENING_SETTING, settingsStore } from "../../src/store/settings.ts";
import { tempDir } from "../store/support.ts";
import { FakeTerminal } from "../support/terminal.ts";

let server: Bun.Server<undefined>;
let status = 200;
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => new Response("{}", { status: new URL(request.url).pathname === "/livez" ? status : 404 }),
  });
});
afterAll(() => server.stop(true));

async function check(url: string) {
  const io = new FakeTerminal();
  const code = await runCommandLine(["healthcheck", "--url", url], { version: "0", io, commands: COMMANDS });
  return { code, stderr: io.stderr };
}

test("exit 0 when /livez answers, 1 with one line when it does not", async () => {
  status = 200;
  expect(await check(server.url.href)).toEqual({ code: 0, stderr: "" });
  status = 503;
  expect(await check(server.url.href)).toEqual({ code: 1, stderr: `${server.url}livez: answered 503\n` });
});

test("exit 1 where nothing listens, exit 2 for what is no URL", async () => {
  const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const url = gone.url.href;
  await gone.stop(true);
  const { code, stderr } = await check(url);
  expect([code, stderr.split("\n").length]).toEqual([1, 2]);
  expect(stderr).toContain(`No gateway answers at ${url}livez (`);
  expect((await check("nonsense")).code).toBe(2);
});

test("without --url it asks where the configuration listens", async () => {
  status = 200;
  const run = async (env: Record<string, string>) => {
    const io = new FakeTerminal();
    const code = await runCommandLine(["healthcheck"], { version: "0", io, surroundings: { env, cwd: "/nowhere" } });
    return { code, stderr: io.stderr };
  };
  const env = { SALLYPORT_SERVER_PORT: String(server.port), SALLYPORT_SERVER_HOST: "0.0.0.0" };
  expect(await run(env)).toEqual({ code: 0, stderr: "" });
  expect((await run({ SALLYPORT_SERVER_PORT: "0" })).code).toBe(2);
  expect((await run({ SALLYPORT_SERVER_PORT: "x" })).code).toBe(1);
});

test("a server on the data directory is asked where it runs, whatever port is configured", async () => {
  status = 200;
  const dataDir = tempDir();
  const store = openStore({ dataDir });
  await settingsStore(store).writeSetting(LISTENING_SETTING, server.url.href);
  store.close();
  const run = async () => {
    const io = new FakeTerminal();
    const argv = ["healthcheck", "--data-dir", dataDir];
    const surroundings = { env: { SALLYPORT_SERVER_PORT: "1" }, cwd: dataDir };
    return { code: await runCommandLine(argv, { version: "0", io, surroundings }), err: io.stderr };
  };
  const lock = acquireServeLock(dataDir);
  expect(await run()).toEqual({ code: 0, err: "" });
  lock.release();
  expect((await run()).err).toContain("127.0.0.1:1/livez");
});
