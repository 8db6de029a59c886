// Searches with engines on loopback: the time that the gateway adds to the slowest engine that an answer needs, many
// searches at once, and ten thousand with engines that fail in every known way.

import { breads, type SearchSite, startSearchSite } from "../../test/web/search-site.ts";
import { type Home, makeHome, type Running, startGateway } from "./gateway.ts";
import { seeded } from "./random.ts";
import { Report } from "./report.ts";

const ENGINES = ["searxng", "hackernews", "github", "gitlab", "stackexchange", "hugging-face"];
/** The time of the slowest engine in the measurement. */
const SLOWEST_MS = 80;
const MEASURED = 200;
const ADDED_MS_MAX = 20;
const AT_ONCE = 50;
const SEARCHES = 10_000;
const SEARCHES_AT_ONCE = 20;
/** After this number of searches caches are full and code is compiled, so growth is measured from there. */
const WARM_UP = 2500;
const GROWTH_MEGABYTES_MAX = 40;
const HITS = 10;
/** A failing engine is not used for a while, so a few failures cause many searches without it. */
const GOOD_SHARE = 0.97;

/** Runs the trial. */
export async function search(options: { binary?: string | undefined; seed: number }): Promise<string[]> {
  const report = new Report();
  const site = startSearchSite();
  const home = await makeHome({ ...site.config(ENGINES), web: { render: "never" }, providers: {} });
  const gateway = await startGateway(home, options.binary);
  try {
    await addedLatency({ site, home, gateway, report });
    await manyFailing({ site, home, gateway, report, random: seeded(options.seed) });
    gateway.signal("SIGTERM");
    report.equal("exit code", await gateway.exited, 0);
    if (gateway.complaints() !== "") report.say(gateway.complaints().slice(0, 2000));
  } finally {
    await site.stop();
    home.remove();
  }
  return report.problems;
}

interface Trial {
  readonly site: SearchSite;
  readonly home: Home;
  readonly gateway: Running;
  readonly report: Report;
}

/** Sequential searches, then many at once: how much longer an answer takes than its slowest engine. */
async function addedLatency({ site, home, gateway, report }: Trial): Promise<void> {
  ENGINES.forEach((engine, index) => {
    const body = JSON.stringify(site.shapes(engine, breads(engine, HITS)));
    const delayMs = index === 0 ? SLOWEST_MS : index * 10;
    site.answers(engine, () => Bun.sleep(delayMs).then(() => new Response(body, JSON_TYPE)));
  });
  const ask = async (text: string) => {
    const { ms, status } = await askOne(gateway, home, text);
    report.equal("status of a measured search", status, 200);
    return ms - SLOWEST_MS;
  };
  for (let at = 0; at < 50; at++) await ask(`bread ${at} to warm up`);
  const alone: number[] = [];
  for (let at = 0; at < MEASURED; at++) alone.push(await ask(`bread ${at} alone`));
  report.say(
    `added to the slowest engine: p50 ${share(alone, 0.5)} ms, p95 ${share(alone, 0.95)} ms (${MEASURED} searches)`,
  );
  if (share(alone, 0.5) > ADDED_MS_MAX) report.fail(`a search takes ${share(alone, 0.5)} ms longer than its engines`);
  const together = await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => ask(`bread ${at} together`)));
  report.say(
    `${AT_ONCE} at once, ${AT_ONCE * ENGINES.length} requests: p50 ${share(together, 0.5)} ms, slowest ${share(together, 1)} ms more`,
  );
}

/** All engines but one fail now and then: answers are complete or properly refused, and memory is limited. */
async function manyFailing({ site, home, gateway, report, random }: Trial & { random: () => number }): Promise<void> {
  for (const engine of ENGINES) {
    const body = JSON.stringify(site.shapes(engine, breads(engine, HITS)));
    const isGood = () => engine === "searxng" || random() < GOOD_SHARE;
    site.answers(engine, (request) => (isGood() ? new Response(body, JSON_TYPE) : failure(request, random())));
  }
  const statuses = new Map<number, number>();
  let warm = 0;
  let next = 0;
  const startedMs = performance.now();
  const work = async () => {
    while (next < SEARCHES) {
      const at = next++;
      if (at === WARM_UP) warm = gateway.rssMegabytes();
      const { status, isWhole } = await askOne(gateway, home, `bread number ${at} ${"x".repeat(at % 200)}`);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (!isWhole) report.fail(`an answer with status ${status} is not whole`);
    }
  };
  await Promise.all(Array.from({ length: SEARCHES_AT_ONCE }, work));
  const seconds = (performance.now() - startedMs) / 1000;
  const after = gateway.rssMegabytes();
  const told = [...statuses].map(([status, count]) => `${status}: ${count}`).join(", ");
  report.say(
    `${SEARCHES} searches in ${seconds.toFixed(0)} s (${told}); memory ${warm.toFixed(0)} MB after ${WARM_UP}, ${after.toFixed(0)} at the end`,
  );
  if (after - warm > GROWTH_MEGABYTES_MAX) report.fail(`memory grew by ${(after - warm).toFixed(0)} MB`);
}

const JSON_TYPE = { headers: { "content-type": "application/json" } };

function failure(request: Request, which: number): Response | Promise<Response> {
  if (which < 0.2) return new Response("", { status: 500 });
  if (which < 0.4) return new Response("", { status: 429, headers: { "retry-after": "1" } });
  if (which < 0.6) return new Response('{"cut": [', JSON_TYPE);
  if (which < 0.7) return new Response(new Uint8Array(5 * 1024 * 1024));
  if (which < 0.8) return Response.redirect(request.url);
  // Sends nothing until the client disconnects.
  return new Promise((done) => request.signal.addEventListener("abort", () => done(new Response("")), { once: true }));
}

async function askOne({ url }: Running, { key }: Home, text: string) {
  const startedMs = performance.now();
  const answer = await fetch(`${url}/v1/search`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ text_query: text, categories: "it", limit: 20, timeout: 3000 }),
  });
  const body = (await answer.json()) as { results?: unknown[]; error?: { code: string } };
  const ms = performance.now() - startedMs;
  const isWhole = answer.status === 200 ? body.results !== undefined : body.error?.code.startsWith("search_") === true;
  return { ms, status: answer.status, isWhole };
}

/** The time within which this share of searches ended, in tenths of a millisecond. */
function share(times: readonly number[], part: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0) * 10) / 10;
}
