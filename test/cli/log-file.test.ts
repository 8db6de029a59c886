// `log.file` of a running program: what logrotate does to it, and files that cannot be opened.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programCommand } from "../support/source-program.ts";

setDefaultTimeout(90_000);

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "sallyport-log-file-"));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function serve(file: string) {
  writeFileSync(join(home, "sallyport.yaml"), JSON.stringify({ server: { port: 0 }, log: { file } }));
  return Bun.spawn([...(await programCommand()), "serve"], {
    cwd: home,
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Waits until a file of the folder contains a text. */
async function written(name: string, text: string): Promise<string> {
  const path = join(home, name);
  const found = Promise.withResolvers<string>();
  const look = () => {
    const now = existsSync(path) ? readFileSync(path, "utf8") : "";
    if (now.includes(text)) found.resolve(now);
  };
  const watcher = watch(home, look);
  look();
  try {
    return await found.promise;
  } finally {
    watcher.close();
  }
}

test("SIGHUP goes on in a new file after the old one was moved away", async () => {
  const child = await serve("gateway.log");
  try {
    const ready = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(ready.value)).toContain("sallyport listening on");
    await written("gateway.log", '"level":"info"');
    renameSync(join(home, "gateway.log"), join(home, "gateway.log.1"));
    child.kill("SIGHUP");
    await written("gateway.log", '"msg":"configuration reloaded"');
    expect(readFileSync(join(home, "gateway.log.1"), "utf8")).not.toContain("configuration reloaded");
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    expect(readFileSync(join(home, "gateway.log"), "utf8")).toContain("stopping: open requests may finish");
    // What is not a log line still goes to stderr: the link of the first sign-up.
    expect(await new Response(child.stderr).text()).toStartWith("There is no account yet.");
  } finally {
    child.kill("SIGKILL");
  }
});

test("a file that cannot be opened is named at the start", async () => {
  const child = await serve("none/gateway.log");
  expect(await new Response(child.stderr).text()).toBe(
    `sallyport: log.file: ${home}/none/gateway.log cannot be opened (ENOENT)\n`,
  );
  expect(await child.exited).toBe(1);
});
