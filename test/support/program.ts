// The program as its clients see it: an address and a key. It runs in the test's process or, if TEST_BINARY names the
// compiled program, in a separate one (`bun scripts/test.ts --binary dist/sallyport test/clients`).

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keyStore } from "../../src/store/access/keys.ts";
import { startTestApp } from "./app.ts";

export interface Program {
  readonly url: string;
  /** A key on the highest plan. */
  readonly key: string;
  /** Makes a management key of the same account. */
  manager(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the gateway with a configuration in its file form. Stop it in afterAll. */
export async function startProgram(config: Record<string, unknown>): Promise<Program> {
  const binary = process.env["TEST_BINARY"];
  return binary === undefined ? await startHere(config) : await startBinary(binary, config);
}

async function startHere(config: Record<string, unknown>): Promise<Program> {
  const app = await startTestApp({ config });
  const manager = async () => {
    const store = await app.openStore();
    const made = await keyStore(store).createKey({ accountId: app.accountId, name: "manager", management: "account" });
    await store.close();
    return made.key;
  };
  return Object.assign(app, { manager });
}

const START_MS_MAX = 60_000;

async function startBinary(binary: string, config: Record<string, unknown>): Promise<Program> {
  // It has no access to the repository or to the environment of the person who runs the tests.
  const home = mkdtempSync(join(tmpdir(), "sallyport-client-"));
  const file = join(home, "test.yaml");
  await Bun.write(file, JSON.stringify(config));
  const own = ["--config", file, "--data-dir", join(home, "data")];
  const options = { cwd: home, env: { HOME: home, PATH: process.env["PATH"] ?? "" } };
  const command = async (...args: string[]): Promise<Record<string, unknown>> => {
    const run = Bun.spawn([binary, ...args, "--json", ...own], { ...options, stdin: "ignore", stderr: "pipe" });
    const [out, err, code] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
      run.exited,
    ]);
    if (code !== 0) throw new Error(`${args.join(" ")}: exit ${code}: ${err}`);
    return JSON.parse(out) as Record<string, unknown>;
  };
  const email = "client@example.com";
  await command("account", "create", "--email", email, "--username", "client", "--tier", "premium", "--verified");
  const { key } = await command("key", "create", "--account", email, "--name", "client");

  const log = Bun.file(join(home, "log"));
  const child = Bun.spawn([binary, "serve", "--port", "0", ...own], { ...options, stdin: "ignore", stderr: log });
  const url = await Promise.race([
    address(child.stdout),
    Bun.sleep(START_MS_MAX).then(() => undefined),
    child.exited.then(() => undefined),
  ]);
  if (url === undefined) {
    child.kill("SIGKILL");
    throw new Error(`${binary} did not start: ${await log.text()}`);
  }
  return {
    url,
    key: String(key),
    async manager() {
      const made = await command("key", "create", "--account", email, "--name", "manager", "--manage");
      return String(made["key"]);
    },
    async stop() {
      child.kill("SIGTERM");
      const code = await child.exited;
      const said = await log.text();
      rmSync(home, { recursive: true, force: true });
      if (code !== 0) throw new Error(`${binary} ended with ${code}: ${said.slice(-2000)}`);
    },
  };
}

/** The address in the program's only line; undefined if it ends without one. */
async function address(stdout: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string | undefined> {
  let said = "";
  for await (const text of stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    const url = /^sallyport listening on (\S+)\n/m.exec(said)?.[1];
    if (url !== undefined) return url;
  }
  return undefined;
}
