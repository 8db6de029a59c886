// The real program as a separate process with an account and a key, for the trials in this folder.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { usageStore } from "../../src/store/usage/usage.ts";

/** A data directory with an account and a key. */
export interface Home {
  dataDir: string;
  key: string;
  accountId: string;
  configFile: string;
  remove(): void;
}

/** Creates the directory and writes the configuration into it. */
export async function makeHome(config: Record<string, unknown>): Promise<Home> {
  const dataDir = mkdtempSync(join(tmpdir(), "sallyport-soak-"));
  const configFile = join(dataDir, "soak.yaml");
  writeFileSync(configFile, JSON.stringify({ ...config, data_dir: dataDir }));
  const store = openStore({ dataDir });
  try {
    const account = await accountStore(store).createAccount({
      username: "soak",
      email: "soak@example.com",
      tier: "premium",
      emailVerified: true,
    });
    if ("refused" in account) throw new Error(account.refused);
    const { key } = await keyStore(store).createKey({ accountId: account.id, name: "soak", rpm: 1_000_000_000 });
    return {
      dataDir,
      key,
      accountId: account.id,
      configFile,
      remove: () => rmSync(dataDir, { recursive: true, force: true }),
    };
  } finally {
    store.close();
  }
}

/** A running gateway. */
export interface Running {
  url: string;
  pid: number;
  rssMegabytes(): number;
  /**
   * The same including all live processes that it has started. They are the same program, so shared memory pages count
   * once.
   */
  treeMegabytes(): number;
  signal(name: "SIGTERM" | "SIGKILL"): void;
  /** The exit code; after a signal it is 128 or more. */
  exited: Promise<number>;
  /** The end of its output on stderr. */
  complaints(): string;
}

const LOG_CHARS_MAX = 20_000;

/** Starts the program from its sources, or `binary`; resolves when it listens. */
export async function startGateway(
  home: Home,
  binary?: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const command = binary === undefined ? [process.execPath, join(import.meta.dir, "../../src/main.ts")] : [binary];
  const child = Bun.spawn(
    [...command, "serve", "--config", home.configFile, "--data-dir", home.dataDir, "--port", "0"],
    { stdout: "pipe", stderr: "pipe", env: { ...process.env, ...variables, SALLYPORT_LOG_LEVEL: "error" } },
  );
  let log = "";
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) log = (log + decoder.decode(chunk)).slice(-LOG_CHARS_MAX);
  })();
  let line = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    line += decoder.decode(chunk);
    if (line.includes("\n")) break;
  }
  const url = /listening on (\S+)/.exec(line)?.[1];
  if (url === undefined) throw new Error(`The gateway did not start: ${line}${log}`);
  return {
    url,
    pid: child.pid,
    rssMegabytes: () => megabytesOf(child.pid),
    treeMegabytes: () =>
      treeOf(child.pid).reduce(
        (sum, pid) => sum + megabytesOf(pid) - (pid === child.pid ? 0 : fileMegabytesOf(pid)),
        0,
      ),
    signal: (name) => child.kill(name),
    exited: child.exited,
    complaints: () => log,
  };
}

/** The memory of a process; 0 if it has ended meanwhile. */
function megabytesOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(procFile(pid, "status"))?.[1] ?? 0) / 1024;
}

function fileMegabytesOf(pid: number): number {
  return Number(/RssFile:\s+(\d+)/.exec(procFile(pid, "status"))?.[1] ?? 0) / 1024;
}

function treeOf(pid: number): number[] {
  const children = procFile(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(treeOf)];
}

function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

/** The recorded usage, read when nothing writes to the database any more. */
export async function readBooks(home: Home) {
  const store = openStore({ dataDir: home.dataDir, create: false });
  try {
    return { problems: store.integrityCheck(), totals: await usageStore(store).tokenTotals() };
  } finally {
    store.close();
  }
}
