// Measures the cost of rendered pages. Starts the program and a site on loopback, renders pages, and reports the CPU
// seconds for each page (program and browser together, from the difference between few and many pages) and the
// browser's memory.
// bun scripts/bench/render.ts [--pages N] [--formats markdown,screenshot] [--at-once N] [--site DIR] [--binary FILE]
// [--browser FILE]
// A site directory contains *.html or *.html.gz, and its pages are rendered without external resources. Without a site,
// a small page with a script is used.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeHome, type Running, startGateway } from "../soak/gateway.ts";

const { values } = parseArgs({
  options: {
    pages: { type: "string", default: "60" },
    formats: { type: "string", default: "markdown" },
    "at-once": { type: "string", default: "2" },
    site: { type: "string" },
    binary: { type: "string" },
    browser: { type: "string", default: "" },
  },
});
const pages = Number(values.pages);
const atOnce = Number(values["at-once"]);
const formats = values.formats.split(",");
/** Pages before the first measurement, so that the start of the browser is not counted. */
const WARM_UP = 6;
/** After more pages the program replaces its browser, and the CPU time of the old processes is lost. */
const CPU_PAGES_MAX = 150;
const TICKS_PER_SECOND = 100;
const SAMPLE_MS = 500;

const SMALL = `<!doctype html><html><head><title>Small</title><link rel="stylesheet" href="/style.css"></head><body><div id="root"></div>
<script>document.getElementById("root").innerHTML = "<main><h1>Drawn</h1>" + Array.from({ length: 40 }, (_, i) => "<p>Paragraph " + i + " of a page that a script draws.</p>").join("") + "<img src='/a.png'></main>";</script></body></html>`;
const documents = values.site === undefined ? [SMALL] : readSite(values.site);
// A picture of one pixel.
const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

const site = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith(".css")) return new Response("p{margin:4px}", { headers: { "content-type": "text/css" } });
    if (pathname.endsWith(".png")) return new Response(DOT, { headers: { "content-type": "image/png" } });
    const number = Number(/^\/page\/(\d+)$/.exec(pathname)?.[1] ?? Number.NaN);
    const body = documents[number % documents.length];
    if (body === undefined) return new Response("", { status: 404 });
    return new Response(body, {
      headers: {
        "content-type": "text/html",
        "content-security-policy": "default-src 'self' 'unsafe-inline' 'unsafe-eval' data:",
      },
    });
  },
});
const home = await makeHome({
  web: {
    allow_hosts: [`127.0.0.1:${site.port}`],
    render: "always",
    respect_robots: false,
    browser: { max_pages: atOnce, executable: values.browser },
  },
});
const gateway = await startGateway(home, values.binary);
try {
  await run(gateway);
} finally {
  gateway.signal("SIGTERM");
  await gateway.exited;
  await site.stop(true);
  home.remove();
}

async function run({ url, rssMegabytes }: Running): Promise<void> {
  let next = 0;
  const failures: string[] = [];
  const show = async (count: number) => {
    const until = next + count;
    const worker = async () => {
      while (next < until) {
        const response = await fetch(`${url}/v1/scrape`, {
          method: "POST",
          headers: { authorization: `Bearer ${home.key}`, "content-type": "application/json" },
          body: JSON.stringify({ url: `http://127.0.0.1:${site.port}/page/${next++}`, formats }),
        });
        const text = await response.text();
        if (response.status !== 200) failures.push(`${response.status} ${text.slice(0, 200)}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  };
  await show(WARM_UP);
  const memory: { page: number; megabytes: number; processes: number }[] = [];
  const timer = setInterval(() => memory.push({ page: next, ...browserMemory() }), SAMPLE_MS);
  const before = cpuSeconds();
  const began = performance.now();
  const counted = Math.min(pages, CPU_PAGES_MAX);
  await show(counted);
  const after = cpuSeconds();
  await show(pages - counted);
  const seconds = (performance.now() - began) / 1000;
  const cpu = { ours: (after.ours - before.ours) / counted, all: (after.all - before.all) / counted };
  clearInterval(timer);
  const most = Math.max(...memory.map(({ megabytes }) => megabytes));
  const mean = (part: typeof memory) =>
    part.reduce((sum, { megabytes }) => sum + megabytes, 0) / Math.max(1, part.length);
  const quarter = Math.ceil(memory.length / 4);
  console.log(
    `pages ${pages}, ${atOnce} at once, ${formats.join("+")}, ${values.site ?? "small page"}; failed ${failures.length}`,
  );
  for (const failure of failures.slice(0, 3)) console.log(`  ${failure}`);
  console.log(
    `CPU seconds per page ${cpu.all.toFixed(3)} (program ${cpu.ours.toFixed(3)}), wall ${(seconds / pages).toFixed(3)}`,
  );
  console.log(
    `browser PSS MB: most ${most.toFixed(0)}, first quarter ${mean(memory.slice(0, quarter)).toFixed(0)}, last quarter ${mean(memory.slice(-quarter)).toFixed(0)}; processes at most ${Math.max(...memory.map(({ processes }) => processes))}; program RSS MB ${rssMegabytes().toFixed(0)}`,
  );
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  readonly ticks: number;
}

/** All processes below this one. The CPU time of children that ended is included in their parent's. */
function descendants(): Process[] {
  const all = readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      const stat = read(`/proc/${pid}/stat`);
      const name = /\((.*)\)/s.exec(stat)?.[1] ?? "";
      const fields = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .map(Number);
      const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + (fields[index] ?? 0), 0);
      return stat === "" ? [] : [{ pid: Number(pid), parent: fields[1] ?? 0, name, ticks }];
    });
  const inside = new Set([process.pid]);
  for (let size = 0; size !== inside.size; ) {
    size = inside.size;
    for (const { pid, parent } of all) if (inside.has(parent)) inside.add(pid);
  }
  return all.filter(({ pid }) => pid !== process.pid && inside.has(pid));
}

function cpuSeconds(): { ours: number; all: number } {
  const found = descendants();
  const seconds = (list: Process[]) => list.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND;
  return { ours: seconds(found.filter(({ parent }) => parent === process.pid)), all: seconds(found) };
}

function browserMemory(): { megabytes: number; processes: number } {
  const browser = descendants().filter(({ name }) => /chrom/i.test(name));
  const kilobytes = browser.reduce(
    (sum, { pid }) => sum + Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0),
    0,
  );
  return { megabytes: kilobytes / 1024, processes: browser.length };
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process ended after it was listed.
    return "";
  }
}

function readSite(directory: string): Uint8Array<ArrayBuffer>[] {
  return readdirSync(directory)
    .filter((name) => /\.html(\.gz)?$/.test(name))
    .sort()
    .map((name) => {
      const bytes = new Uint8Array(readFileSync(join(directory, name)));
      return name.endsWith(".gz") ? Bun.gunzipSync(bytes) : bytes;
    });
}
