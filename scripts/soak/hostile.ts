// Requests that strangers can send to stall the gateway or to fill its memory: crawls with slow patterns, PDFs that
// decompress without end, bodies with a million keys, bodies of nested objects only, and many bodies of the largest
// size. First each of them alone, then all together. Meanwhile a client chats and queries the health of the gateway.

import { deflateSync } from "node:zlib";
import { pdfOf, twiceDeflated } from "../../test/support/pdf.ts";
import { type Home, makeHome, type Running, startGateway } from "./gateway.ts";
import { Report } from "./report.ts";

const SECONDS = 6;
const PDF_MEGABYTES_MAX = 400;
const BODIES_MEGABYTES_MAX = 1000;
/** The limit for bodies, the process that converts PDFs, and the threads that convert pages. */
const ALL_MEGABYTES_MAX = 1500;
const LIVEZ_P99_MS_MAX = 50;
const CHAT_SHARE_MIN = 0.8;
const CANCEL_MS_MAX = 1000;
/** The memory that may remain in use after a trial, and the time within which the rest is released. */
const LEFT_MEGABYTES_MAX = 75;
const SETTLING_MS_MAX = 20_000;

interface Probe {
  readonly chats: number;
  readonly failures: number;
  readonly livezP99Ms: number;
  readonly livezLongestMs: number;
}

/** Sends requests until it is aborted; returns the number of answers by status. */
type Attack = (signal: AbortSignal) => Promise<ReadonlyMap<number, number>>;

export async function hostile(options: { binary?: string | undefined }): Promise<string[]> {
  const report = new Report();
  const up = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answerChat });
  const site = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: servePage });
  const home = await makeHome({
    providers: { one: { kind: "openai", base_url: `http://127.0.0.1:${up.port}/v1`, discover: false } },
    models: [{ id: "solo", routes: [{ provider: "one", model: "m" }] }],
    web: { allow_hosts: [`127.0.0.1:${site.port}`], render: "never", respect_robots: false },
  });
  const gateway = await startGateway(home, options.binary);
  const call = caller(gateway, home);
  const target = `http://127.0.0.1:${site.port}`;
  const crawls = crawlAttack(call, target, report);
  const pdfs = repeated(4, (turn) => [
    call("/v1/scrape", JSON.stringify({ url: `${target}/${turn % 2}.pdf`, documents: true })),
  ]);
  const bodies = bodyAttack(call);
  try {
    await probe(gateway, home, 2);
    const idleMegabytes = gateway.treeMegabytes();
    const settle = () => settled(gateway, idleMegabytes + LEFT_MEGABYTES_MAX, report);
    // Measured before and after, since the machine may have other work for a while.
    const before = await trial("nothing", [], { gateway, home, report });
    const crawling = await trial("crawls", [crawls], { gateway, home, report });
    await settle();
    const after = await trial("nothing", [], { gateway, home, report });
    const quiet = { chats: (before.chats + after.chats) / 2 };
    report.say(`crawls leave ${share(crawling, quiet)} of the chats`);
    if (crawling.chats < CHAT_SHARE_MIN * quiet.chats)
      report.fail(`crawls leave ${share(crawling, quiet)} of the chats`);
    const reading = await trial("PDFs", [pdfs], { gateway, home, report });
    await settle();
    if (reading.megabytes > PDF_MEGABYTES_MAX) report.fail(`PDFs take ${reading.megabytes.toFixed(0)} MB`);
    const sending = await trial("bodies", [bodies], { gateway, home, report });
    if (sending.livezP99Ms > LIVEZ_P99_MS_MAX)
      report.fail(`bodies hold /livez up for ${sending.livezP99Ms.toFixed(0)} ms`);
    await settle();
    const all = await trial("all together", [crawls, pdfs, bodies], { gateway, home, report });
    report.say(`all together leaves ${share(all, quiet)} of the chats`);
    if (sending.megabytes > BODIES_MEGABYTES_MAX) report.fail(`bodies take ${sending.megabytes.toFixed(0)} MB`);
    if (all.megabytes > ALL_MEGABYTES_MAX) report.fail(`all together take ${all.megabytes.toFixed(0)} MB`);
  } finally {
    gateway.signal("SIGTERM");
    report.equal("exit code", await gateway.exited, 0);
    await Promise.all([up.stop(true), site.stop(true)]);
    home.remove();
  }
  return report.problems;
}

/** Waits until the memory is released. */
async function settled(gateway: Running, megabytesMax: number, report: Report): Promise<void> {
  const startedMs = performance.now();
  let megabytes = gateway.treeMegabytes();
  while (megabytes > megabytesMax && performance.now() - startedMs < SETTLING_MS_MAX) {
    await Bun.sleep(100);
    megabytes = gateway.treeMegabytes();
  }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  report.say(`  ${megabytes.toFixed(0)} MB are held ${seconds} s later`);
  if (megabytes > megabytesMax) report.fail(`${megabytes.toFixed(0)} MB are still held ${seconds} s later`);
}

type Chats = Pick<Probe, "chats">;
const share = (some: Chats, all: Chats) => `${((100 * some.chats) / all.chats).toFixed(0)} %`;

/** The setting of a trial. */
interface Trial {
  readonly gateway: Running;
  readonly home: Home;
  readonly report: Report;
}

async function trial(name: string, attacks: readonly Attack[], { gateway, home, report }: Trial) {
  const stop = new AbortController();
  let megabytes = 0;
  const watch = setInterval(() => {
    megabytes = Math.max(megabytes, gateway.treeMegabytes());
  }, 20);
  const running = attacks.map((attack) => attack(stop.signal));
  const seen = await probe(gateway, home, SECONDS);
  stop.abort();
  const ended = await Promise.all(running);
  clearInterval(watch);
  const statuses = ended.map((counts) => [...counts].map(([status, count]) => `${count} × ${status}`).join(", "));
  report.say(
    `${name}: ${(seen.chats / SECONDS).toFixed(0)} chats a second, /livez p99 ${seen.livezP99Ms.toFixed(0)} ms, longest ${seen.livezLongestMs.toFixed(0)} ms, peak ${megabytes.toFixed(0)} MB${statuses.length === 0 ? "" : ` (${statuses.join("; ")})`}`,
  );
  if (seen.failures > 0) report.fail(`${name}: ${seen.failures} requests of others failed`);
  for (const counts of ended)
    for (const [status, count] of counts) if (status === 500) report.fail(`${name}: ${count} answers with ${status}`);
  return { ...seen, megabytes };
}

async function probe(gateway: Running, home: Home, seconds: number): Promise<Probe> {
  const command = [process.execPath, new URL("./probe.ts", import.meta.url).pathname];
  const child = Bun.spawn([...command, gateway.url, home.key, String(seconds)], { stdout: "pipe" });
  return JSON.parse(await new Response(child.stdout).text()) as Probe;
}

type Call = (path: string, body?: string, method?: string) => Promise<Response>;

function caller({ url }: Running, { key }: Home): Call {
  return (path, body, method = "POST") =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body }),
    });
}

/** Sends the requests that `make` returns for each turn, with `lanes` turns at once, and counts the answers. */
function repeated(lanes: number, make: (turn: number) => Promise<Response>[]): Attack {
  return async (signal) => {
    const counts = new Map<number, number>();
    let turn = 0;
    const lane = async () => {
      while (!signal.aborted)
        for (const answer of await Promise.all(make(turn++))) {
          await answer.text();
          counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
        }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    return counts;
  };
}

function crawlAttack(call: Call, target: string, report: Report): Attack {
  const exclude_paths = Array.from({ length: 100 }, () => `/${"**a".repeat(14)}b0`);
  return async (signal) => {
    const counts = new Map<number, number>();
    const ids: string[] = [];
    while (!signal.aborted) {
      const answer = await call(
        "/v1/crawl",
        JSON.stringify({ url: `${target}/?${ids.length}`, limit: 5, exclude_paths }),
      );
      ids.push(((await answer.json()) as { id: string }).id);
      counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
      await Bun.sleep(1000);
    }
    const startedMs = performance.now();
    for (const id of ids) await (await call(`/v1/crawl/${id}`, undefined, "DELETE")).text();
    const ms = performance.now() - startedMs;
    report.say(`${ids.length} crawls were cancelled in ${ms.toFixed(0)} ms`);
    if (ms > CANCEL_MS_MAX) report.fail(`cancelling took ${ms.toFixed(0)} ms`);
    return counts;
  };
}

const MIB = 1024 * 1024;

function bodyAttack(call: Call): Attack {
  const keys = (name: (index: number) => string, count: number) =>
    `{${Array.from({ length: count }, (_, index) => `"${name(index)}":0`).join(",")}}`;
  const distinct = keys((index) => `k${index}`, 1_600_000);
  const sparse = keys((index) => String((index * 40_009) % 4_294_967_290), 1_000_000);
  const objects = `{"model":"solo","messages":[${"{},".repeat(6_300_000)}{}]}`;
  const text = JSON.stringify({ model: "solo", messages: [{ role: "user", content: "x".repeat(20 * MIB - 1000) }] });
  const chat = (body: string) => call("/v1/chat/completions", body);
  return repeated(1, (turn) => {
    if (turn % 4 === 0) return [chat(distinct)];
    if (turn % 4 === 1) return [chat(sparse)];
    if (turn % 4 === 2) return Array.from({ length: 6 }, () => chat(objects));
    return Array.from({ length: 64 }, () => chat(text));
  });
}

async function answerChat(request: Request): Promise<Response> {
  // Read in pieces, so that this process does not hold the largest bodies.
  for await (const _ of request.body ?? []);
  const message = { role: "assistant", content: "hello" };
  return Response.json({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
}

const LINKS = Array.from({ length: 2000 }, (_, index) => `<a href="/${"a".repeat(1900)}${index}">x</a>`).join("\n");
/** PDFs whose size is visible before parsing, and others whose size is visible only after decompression. */
const PDFS: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  "/0.pdf": pdfOf(twiceDeflated(1000), "/Subtype/Image/Filter[/FlateDecode/FlateDecode]"),
  "/1.pdf": pdfOf(deflateSync("(a) Tj 1 0 Td ".repeat(600_000)), "/Filter/FlateDecode"),
};

function servePage(request: Request): Response {
  const { pathname } = new URL(request.url);
  const pdf = PDFS[pathname];
  if (pdf !== undefined) return new Response(pdf, { headers: { "content-type": "application/pdf" } });
  return new Response(`<!doctype html><title>Links</title><main>${LINKS}</main>`, {
    headers: { "content-type": "text/html" },
  });
}
