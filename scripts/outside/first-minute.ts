// The first minute, as README.md and the first guide have it, in a copy of the repository: `npm start` installs, makes an
// account and a key, and serves; the `curl` line that it prints answers, and so do the documents' own.

import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { snippetsUnder } from "../../test/docs/snippets.ts";
import { startUpstream } from "../../test/support/upstream.ts";
import type { Trials } from "./trials.ts";

const ROOT = join(import.meta.dir, "../..");
/** What installs, on a slow line. */
const START_MS_MAX = 300_000;

const commandOf = (document: string, heading: string) => snippetsUnder(document, heading)[0]?.code.trim() ?? "";
const STARTS = [commandOf("README.md", "Quick start"), commandOf("guides/start.md", "1. Run it")];
const WITH_PROVIDER = commandOf("guides/start.md", "3. Connect a provider");

/** Tries it. */
export async function tryFirstMinute({ folder, trial, run }: Trials): Promise<void> {
  const place = join(folder, "copy");
  copyRepository(place);
  await trial("the first minute: `npm start`, and the line that it prints", async () => {
    if (new Set(STARTS).size !== 1) return `the documents start it in different ways: ${STARTS.join(" / ")}`;
    const started = await start(STARTS[0] ?? "", place, {});
    try {
      const line = /^ *curl [\s\S]*?'$/m.exec(started.said())?.[0];
      if (line === undefined) return `it printed no line to paste: ${started.said()}`;
      const { code, said } = await run(["sh", "-c", line], place);
      return code === 0 && said.includes('"object":"chat.completion"') ? undefined : said;
    } finally {
      await started.stop();
    }
  });
  await trial("the first minute: started again with a provider's key", async () => {
    const upstream = startUpstream();
    const env = { SALLYPORT_PROVIDERS_OPENAI_BASE_URL: upstream.baseUrl };
    const started = await start(WITH_PROVIDER.replace("=…", "=sk-of-the-provider"), place, env);
    await started.stop();
    upstream.stop();
    return /^ *Providers +openai$/m.test(started.said()) ? undefined : started.said();
  });
}

/** The files that git would clone, and what is not committed yet. */
function copyRepository(place: string): void {
  mkdirSync(place, { recursive: true });
  const list = Bun.spawnSync(["git", "ls-files", "-co", "--exclude-standard"], { cwd: ROOT });
  const files = list.exitCode === 0 ? list.stdout.toString().split("\n").filter(Boolean) : undefined;
  if (files === undefined) {
    cpSync(ROOT, place, { recursive: true, filter: (path) => !/\/(?:node_modules|\.git|dist)$/.test(path) });
    return;
  }
  for (const file of files) if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(place, file));
}

interface Started {
  said(): string;
  stop(): Promise<void>;
}

async function start(command: string, cwd: string, more: Record<string, string>): Promise<Started> {
  const env = { ...process.env, SALLYPORT_SERVER_PORT: "0", SALLYPORT_HEALTH_PROBE: "off", ...more };
  const child = Bun.spawn(["sh", "-c", `exec 2>&1; ${command}`], {
    ...{ cwd, env, stdin: "ignore", stdout: "pipe", detached: true },
  });
  let said = "";
  const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), START_MS_MAX);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  void (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      said += text;
      if (said.includes("listening on ")) resolve();
    }
    reject(new Error(`it did not start: ${said}`));
  })();
  await promise.finally(() => clearTimeout(timer));
  return {
    said: () => said,
    async stop() {
      if (child.exitCode === null) process.kill(-child.pid, "SIGTERM");
      await child.exited;
    },
  };
}
