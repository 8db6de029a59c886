// Measures the processor time that the gateway needs for a request and for a chunk of a stream, relative to a bare
// passthrough on the same runtime. It uses the median of alternating rounds, so that other work on the machine affects
// both. It fails if a ratio is worse than the one in speed/kept.json by more than half, in two measurements.
// Usage: bun scripts/bench/speed.ts [--binary FILE] [--rounds 5] [--keep]
//   --keep  write the ratios to speed/kept.json, for a change that is worth its cost

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeHome, startGateway } from "../soak/gateway.ts";
import { CHUNKS } from "./speed/upstream.ts";
import { startedScripts, startScript } from "./start-script.ts";

const { values } = parseArgs({
  options: { binary: { type: "string" }, rounds: { type: "string", default: "5" }, keep: { type: "boolean" } },
});
const KEPT_FILE = join(import.meta.dir, "speed/kept.json");
/** Chance and other machines change a ratio by less than this. */
const WORSE_MAX = 1.5;
const AT_ONCE = 16;
const REQUESTS = 6000;
const STREAMS = 600;
/** The share of a round that runs first without being measured, since code is slow when it is new to the runtime. */
const WARM_UP = 0.5;
/** The unit in which the kernel counts processor time. */
const TICK_MS = 10;

/** A server that is measured. */
interface Target {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  readonly key: string;
}

interface Measure {
  readonly name: string;
  readonly path: string;
  readonly requests: number;
  /** The number of parts in one request, such as chunks, by which its cost is divided. */
  readonly parts: number;
  readonly body: string;
  /** The corresponding request to the passthrough. */
  readonly plain: { readonly path: string; readonly body: string };
}

const messages = [{ role: "user", content: "Say something." }];
const contents = [{ role: "user", parts: [{ text: "Say something." }] }];
const CHAT = { path: "/v1/chat/completions", body: JSON.stringify({ model: "solo", messages }) };
const STREAM = { path: CHAT.path, body: JSON.stringify({ model: "solo", messages, stream: true }) };
const MEASURES: readonly Measure[] = [
  { name: "request", ...CHAT, requests: REQUESTS, parts: 1, plain: CHAT },
  { name: "chunk", ...STREAM, requests: STREAMS, parts: CHUNKS, plain: STREAM },
  {
    name: "translated chunk",
    path: "/v1/messages",
    body: JSON.stringify({ model: "solo", messages, stream: true, max_tokens: 4096 }),
    requests: STREAMS,
    parts: CHUNKS,
    plain: STREAM,
  },
  {
    name: "request of Gemini's clients",
    path: "/v1beta/models/gemini:generateContent",
    body: JSON.stringify({ contents }),
    requests: REQUESTS,
    parts: 1,
    plain: CHAT,
  },
  {
    name: "chunk for Gemini's clients",
    path: "/v1beta/models/gemini:streamGenerateContent?alt=sse",
    body: JSON.stringify({ contents }),
    requests: STREAMS,
    parts: CHUNKS,
    plain: STREAM,
  },
];

const upstream = await startScript("speed/upstream.ts");
const upstreamUrl = `http://127.0.0.1:${upstream.port}/v1`;
const bare = await startScript("speed/passthrough.ts", `${upstreamUrl}/chat/completions`);
const home = await makeHome({
  providers: {
    one: { kind: "openai", base_url: upstreamUrl, discover: false },
    other: { kind: "gemini", base_url: upstreamUrl, api_key: "k", discover: false },
  },
  models: [
    { id: "solo", routes: [{ provider: "one", model: "m" }] },
    { id: "gemini", routes: [{ provider: "other", model: "m" }] },
  ],
});
const gateway = await startGateway(home, values.binary);
const ours: Target = { name: "sallyport", pid: gateway.pid, url: gateway.url, key: home.key };
const plain: Target = { name: "passthrough", pid: bare.pid, url: `http://127.0.0.1:${bare.port}`, key: "" };
let failures = 0;
try {
  const ratios: Record<string, number> = {};
  const kept = JSON.parse(readFileSync(KEPT_FILE, "utf8")) as Record<string, number>;
  for (const measure of MEASURES) {
    const { name } = measure;
    const most = (kept[name] ?? 0) * WORSE_MAX;
    const first = await ratioOf(measure);
    // Repeated, since the machine may have had other work in most of the rounds.
    const ratio = first > most ? Math.min(first, await ratioOf(measure)) : first;
    ratios[name] = ratio;
    const isGood = ratio <= most || values.keep === true;
    if (isGood && first > most)
      process.stdout.write(`passed only when measured again: ${name} (${first.toFixed(2)} at first)\n`);
    if (!isGood) failures++;
    const verdict = isGood ? "" : ` FAILED: at most ${most.toFixed(2)}`;
    process.stdout.write(`${name}: ${ratio.toFixed(2)} × the passthrough (kept: ${kept[name] ?? "none"})${verdict}\n`);
  }
  if (values.keep === true) await Bun.write(KEPT_FILE, `${JSON.stringify(ratios, undefined, 2)}\n`);
} finally {
  gateway.signal("SIGTERM");
  await gateway.exited;
  for (const child of startedScripts) child.kill();
  home.remove();
}
process.stdout.write(`${MEASURES.length - failures} passed, ${failures} failed\n`);
process.exit(failures === 0 ? 0 : 1);

/** The median of all rounds. */
async function ratioOf(measure: Measure): Promise<number> {
  const rounds: { ratio: number; ours: number; plain: number }[] = [];
  for (const target of [plain, ours]) await costOf(target, measure, WARM_UP);
  for (let round = 0; round < Number(values.rounds); round++) {
    // The second server finds the machine as the first one left it, so they alternate.
    const order = round % 2 === 0 ? [plain, ours] : [ours, plain];
    const costs = new Map<string, number>();
    for (const target of order) costs.set(target.name, await costOf(target, measure));
    const [one, other] = [costs.get(ours.name) ?? 0, costs.get(plain.name) ?? 0];
    rounds.push({ ratio: one / other, ours: one, plain: other });
  }
  rounds.sort((a, b) => a.ratio - b.ratio);
  const middle = rounds[Math.floor(rounds.length / 2)] as (typeof rounds)[number];
  const all = rounds.map(({ ratio }) => ratio.toFixed(2)).join(", ");
  const us = (ms: number) => (1000 * ms).toFixed(2);
  process.stdout.write(`${measure.name}: ${us(middle.ours)} us, passthrough ${us(middle.plain)} us (rounds: ${all})\n`);
  return Math.round(100 * middle.ratio) / 100;
}

/** The processor time for one part, in milliseconds. */
async function costOf(target: Target, measure: Measure, share = 1): Promise<number> {
  const { path, body } = target === ours ? measure : measure.plain;
  const headers = { authorization: `Bearer ${target.key}`, "content-type": "application/json" };
  let left = Math.round(measure.requests * share);
  const before = cpuMs(target.pid);
  const lane = async () => {
    while (left-- > 0) {
      const answer = await fetch(target.url + path, { method: "POST", headers, body });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${target.name} answered ${answer.status}: ${text.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const ms = cpuMs(target.pid) - before;
  return Math.max(TICK_MS, ms) / (Math.round(measure.requests * share) * measure.parts);
}

/** The processor time of a process so far, with all its threads. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
