// `sallyport mcp`, with messages line by line: it writes nothing but the protocol, and ends cleanly in every case.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { COMMANDS } from "../../src/cli/index.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import type { JsonRecord } from "../../src/mcp/tool.ts";
import { type FakeSite, startFakeSite } from "../support/fake-site.ts";
import { FakeTerminal } from "../support/terminal.ts";
import { webConfig } from "../web/support.ts";
import { hangingPage } from "./support.ts";

const slow = hangingPage();
let folder: string;
let site: FakeSite;
const fileOf = () => join(folder, "c.yaml");

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-stdio-"));
  site = startFakeSite({ "/slow": slow.page });
  await Bun.write(fileOf(), JSON.stringify({ ...webConfig([site.host]), data_dir: join(folder, "data") }));
});
afterAll(async () => {
  await site.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the command in this process, and talks to it line by line. */
function start() {
  const io = new FakeTerminal();
  const exit = runCommandLine(["mcp", "--config", fileOf()], { version: "0", io, commands: COMMANDS });
  const lines = createInterface({ input: io.output })[Symbol.asyncIterator]();
  const send = (message: unknown) =>
    io.input.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  const next = async () => JSON.parse(String((await lines.next()).value)) as JsonRecord;
  return { io, exit, send, next };
}

const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};

test("the server exits with 0 when its input ends, and stdout contains the protocol only", async () => {
  const { io, exit, send, next } = start();
  send(initialize);
  expect(await next()).toMatchObject({ id: 0, result: { serverInfo: { name: "sallyport" } } });
  io.input.end();
  expect([await exit, io.stdout]).toEqual([0, ""]);
});

test("the server ends when it is interrupted, in the middle of a call", async () => {
  const { io, exit, send, next } = start();
  send(initialize);
  await next();
  const asked = slow.visited();
  send({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "scrape", arguments: { url: `${site.url}/slow` } },
  });
  const request = await asked;
  io.interrupt();
  expect(await exit).toBe(0);
  await request.gone;
});

test("invalid messages do not end it", async () => {
  const { io, exit, send, next } = start();
  for (const line of ["", "nonsense", "[]", "null", '{"jsonrpc":"2.0"}', '{"id":', JSON.stringify({ x: 1 })])
    send(line);
  send(initialize);
  let message = await next();
  while (message["id"] !== 0) message = await next();
  expect(message).toHaveProperty("result");
  io.input.end();
  expect(await exit).toBe(0);
});

test("a process leaves nothing behind", async () => {
  const temporary = mkdtempSync(join(folder, "tmp-"));
  const run = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts"), "mcp", "--config", fileOf()], {
    cwd: folder,
    env: { HOME: folder, PATH: process.env["PATH"] ?? "", TMPDIR: temporary },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  run.stdin.write(`${JSON.stringify(initialize)}\n`);
  await run.stdin.flush();
  const out = run.stdout.getReader();
  expect(new TextDecoder().decode((await out.read()).value)).toContain('"serverInfo"');
  expect(readdirSync(temporary)).toHaveLength(1);
  await run.stdin.end();
  expect([await run.exited, (await out.read()).done, await new Response(run.stderr).text()]).toEqual([0, true, ""]);
  expect(readdirSync(temporary)).toEqual([]);
}, 60_000);
