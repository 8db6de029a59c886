// Measures crawls of a site on loopback: the pages in a second, the processor time of a page by thread, and how much of
// the chats' rate is left beside crawls. Quiet and busy windows alternate, so that other work on the machine affects both.
// bun scripts/bench/crawl.ts --site DIR [--pages N] [--crawls N] [--rounds N] [--render never|always] [--binary FILE]
// [--only pages|chats] [--concurrency N] [--limit N] [--shown N]
// A site directory contains *.html or *.html.gz.

import { readdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeHome, startGateway } from "../soak/gateway.ts";
import { startedScripts, startScript } from "./start-script.ts";

const { values } = parseArgs({
  options: {
    site: { type: "string" },
    pages: { type: "string", default: "400" },
    crawls: { type: "string", default: "4" },
    rounds: { type: "string", default: "4" },
    render: { type: "string", default: "never" },
    binary: { type: "string" },
    only: { type: "string", default: "" },
    concurrency: { type: "string", default: "8" },
    seconds: { type: "string", default: "5" },
    limit: { type: "string", default: "100" },
    shown: { type: "string", default: "4" },
  },
});
const { site: directory } = values;
if (directory === undefined) throw new Error("--site DIR is missing.");
const crawls = Number(values.crawls);
const TICK_MS = 10;
const POLL_MS = 500;
/** The pages of one crawl. The largest crawl has 100. */
const CRAWL_PAGES = Number(values.limit);

const site = await startScript("crawl/site.ts", directory, values.crawls);
const upstream = await startScript("speed/upstream.ts");
const hosts = Array.from({ length: crawls }, (_, index) => `127.0.0.${index + 1}:${site.port}`);
const home = await makeHome({
  providers: { one: { kind: "openai", base_url: `http://127.0.0.1:${upstream.port}/v1`, discover: false } },
  models: [{ id: "solo", routes: [{ provider: "one", model: "m" }] }],
  web: {
    allow_hosts: hosts,
    render: values.render,
    respect_robots: true,
    concurrency: Number(values.concurrency),
    browser: { max_pages: Number(values.shown) },
  },
});
const gateway = await startGateway(home, values.binary);
const headers = { authorization: `Bearer ${home.key}`, "content-type": "application/json" };
async function call(path: string, body?: object, method = body === undefined ? "GET" : "POST"): Promise<unknown> {
  const answer = await fetch(gateway.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 300)}`);
  return text === "" ? {} : JSON.parse(text);
}

interface View {
  readonly id: string;
  readonly status: string;
  readonly completed: number;
}

/** Crawls that run one after the other on each host until they are stopped. */
class Crawls {
  readonly #last = new Map<string, View>();
  readonly #limit: number;
  readonly #lanes: Promise<void>[];
  #isStopped = false;
  /** The pages of crawls that have ended. */
  #done = 0;

  constructor(limit: number, turns = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
    this.#lanes = hosts.map((host, index) => this.#lane(host, index, turns));
  }

  get over(): Promise<unknown> {
    return Promise.all(this.#lanes);
  }

  /** The pages that are finished at this time. */
  async pages(): Promise<number> {
    await Promise.all([...this.#last].map(async ([host, { id }]) => this.#last.set(host, await view(id))));
    return this.#done + [...this.#last.values()].reduce((sum, { completed }) => sum + completed, 0);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { id } of this.#last.values()) await call(`/v1/crawl/${id}`, undefined, "DELETE");
    await this.over;
  }

  async #lane(host: string, index: number, turns: number): Promise<void> {
    for (let turn = 0; turn < turns && !this.#isStopped; turn++) {
      const url = `http://${host}/list/${turn * hosts.length + index}`;
      let now = (await call("/v1/crawl", { url, limit: this.#limit })) as View;
      now = { ...now, completed: 0 };
      for (;;) {
        this.#last.set(host, now);
        await Bun.sleep(POLL_MS);
        if (this.#isStopped) break;
        now = await view(now.id);
        if (now.status !== "scraping") break;
      }
      this.#last.delete(host);
      this.#done += now.completed;
    }
  }
}

function view(id: string): Promise<View> {
  return call(`/v1/crawl/${id}?limit=1`) as Promise<View>;
}

/** Crawls alone. */
async function measurePages(): Promise<void> {
  await new Crawls(CRAWL_PAGES, 1).over;
  const before = threads(gateway.pid);
  const siteBefore = processMs(site.pid);
  const startedMs = performance.now();
  let megabytes = 0;
  const watch = setInterval(() => {
    megabytes = Math.max(megabytes, gateway.treeMegabytes());
  }, POLL_MS);
  const running = new Crawls(CRAWL_PAGES, Math.ceil(Number(values.pages) / CRAWL_PAGES / crawls));
  await running.over;
  clearInterval(watch);
  const pages = await running.pages();
  const seconds = (performance.now() - startedMs) / 1000;
  say(`${pages} pages of ${crawls} crawls in ${seconds.toFixed(1)} s: ${(pages / seconds).toFixed(1)} pages a second`);
  const siteMs = (processMs(site.pid) - siteBefore) / pages;
  say(`peak ${megabytes.toFixed(0)} MB; the site took ${siteMs.toFixed(1)} ms a page`);
  table(before, threads(gateway.pid), (ms) => `${(ms / pages).toFixed(1)} ms a page`);
}

/** Chats with and without crawls, in turns. */
async function measureChats(): Promise<void> {
  const shares: number[] = [];
  await chats();
  for (let round = 0; round < Number(values.rounds); round++) {
    const quietBefore = await chats();
    const running = new Crawls(CRAWL_PAGES);
    while ((await running.pages()) < 2 * crawls) await Bun.sleep(POLL_MS);
    const from = await running.pages();
    const before = threads(gateway.pid);
    const busy = await chats();
    const after = threads(gateway.pid);
    const pages = ((await running.pages()) - from) / busy.seconds;
    await running.stop();
    const quietAfter = await chats();
    const quiet = (quietBefore.rate + quietAfter.rate) / 2;
    shares.push(busy.rate / quiet);
    say(
      `quiet ${quiet.toFixed(0)} chats a second, beside crawls ${busy.rate.toFixed(0)} (${percent(busy.rate / quiet)}) and ${pages.toFixed(1)} pages a second; /livez p99 ${busy.livez.toFixed(0)} ms, quiet ${quietAfter.livez.toFixed(0)} ms`,
    );
    if (round === 0) table(before, after, (ms) => `${percent(ms / 1000 / busy.seconds)} of a core`);
  }
  shares.sort((a, b) => a - b);
  say(
    `crawls leave ${percent(shares[Math.floor(shares.length / 2)] ?? 0)} of the chats (median of ${shares.length} rounds)`,
  );
}

const percent = (share: number) => `${(100 * share).toFixed(0)} %`;

async function chats(): Promise<{ rate: number; livez: number; seconds: number }> {
  const command = [process.execPath, join(import.meta.dir, "../soak/probe.ts")];
  const child = Bun.spawn([...command, gateway.url, home.key, values.seconds], { stdout: "pipe" });
  const seen = JSON.parse(await new Response(child.stdout).text()) as {
    chats: number;
    failures: number;
    livezP99Ms: number;
  };
  if (seen.failures > 0) say(`${seen.failures} requests failed`);
  const seconds = Number(values.seconds);
  return { rate: seen.chats / seconds, livez: seen.livezP99Ms, seconds };
}

interface Thread {
  readonly key: string;
  readonly ms: number;
}

/** The processor time of each thread of a process and of its live descendants, by process, name and priority. */
function threads(pid: number, depth = 0): Thread[] {
  const own = names(`/proc/${pid}/task`).flatMap((tid) => {
    const stat = read(`/proc/${pid}/task/${tid}/stat`);
    if (stat === "") return [];
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const name = Number(tid) === pid ? "main" : (/\((.*)\)/s.exec(stat)?.[1] ?? "");
    const where = depth === 0 ? "gateway" : "child";
    return [
      { key: `${where} ${name} ${tid} nice ${fields[16]}`, ms: (Number(fields[11]) + Number(fields[12])) * TICK_MS },
    ];
  });
  const children = names(`/proc/${pid}/task`).flatMap((tid) =>
    read(`/proc/${pid}/task/${tid}/children`).split(" ").filter(Boolean).map(Number),
  );
  return [...own, ...children.flatMap((child) => threads(child, depth + 1))];
}

function table(before: readonly Thread[], after: readonly Thread[], show: (ms: number) => string): void {
  const old = new Map(before.map(({ key, ms }) => [key, ms]));
  const groups = new Map<string, number>();
  for (const { key, ms } of after) {
    const group = key.replace(/ \d+ nice/, ", nice");
    groups.set(group, (groups.get(group) ?? 0) + ms - (old.get(key) ?? 0));
  }
  for (const [group, ms] of [...groups].sort(([, a], [, b]) => b - a))
    if (ms > 0) say(`  ${group.padEnd(40)} ${show(ms)}`);
}

function processMs(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function names(directoryName: string): string[] {
  try {
    return readdirSync(directoryName);
  } catch {
    // The process has ended.
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process ended after it was listed.
    return "";
  }
}

function say(text: string): void {
  process.stdout.write(`${text} [load ${(loadavg()[0] ?? 0).toFixed(1)}]\n`);
}

try {
  if (values.only !== "chats") await measurePages();
  if (values.only !== "pages") await measureChats();
} finally {
  gateway.signal("SIGTERM");
  await gateway.exited;
  for (const child of startedScripts) child.kill();
  home.remove();
}
