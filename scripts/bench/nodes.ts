// What several processes on one port (`server.reuse_port`) answer in a second, what they need for it, and what limits that are
// shared through Redis add to a request. Ratios of alternating rounds within one run, so that other work on the machine weighs on
// all. Usage: bun scripts/bench/nodes.ts [--binary FILE] [--rounds 3] [--seconds 4]

import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Cluster, type Sabotage, startCluster } from "../nodes/cluster.ts";

const { values } = parseArgs({
  options: {
    binary: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "4" },
  },
});
const binary = resolve(values.binary ?? join(import.meta.dir, "../../dist/sallyport"));
const LANES = 32;
const WARM_UP_SECONDS = 1.5;
const LATENCIES = 2000;
const WARM_UP_LATENCIES = 300;

const upstream = Bun.spawn([process.execPath, join(import.meta.dir, "speed/upstream.ts")], { stdout: "pipe" });
const baseUrl = `http://127.0.0.1:${(await lineOf(upstream.stdout)).trim()}/v1`;
const config = {
  server: { reuse_port: true },
  tiers: { premium: { rpm: 1_000_000_000 } },
  providers: { up: { kind: "openai", base_url: baseUrl, discover: false } },
  models: [{ id: "chat", routes: [{ provider: "up", model: "m" }] }],
};
try {
  await throughput();
  await latency();
} finally {
  upstream.kill();
}

interface Figures {
  readonly perSecond: number;
  /** Processor time of all nodes for one request. */
  readonly cpuMs: number;
  readonly megabytes: number;
}

async function throughput(): Promise<void> {
  const counts = [1, 2, 3];
  const rounds: Figures[][] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const figures: Figures[] = [];
    for (const count of counts) figures.push(await figuresOf(count));
    rounds.push(figures);
  }
  process.stdout.write("processes | requests/s | of one | CPU per request | memory of each\n");
  for (const [at, count] of counts.entries()) {
    const of = (read: (figures: Figures) => number) => median(rounds.map((round) => read(round[at]!)));
    const ratio = median(rounds.map((round) => round[at]!.perSecond / round[0]!.perSecond));
    const cells = [
      String(count),
      of(({ perSecond }) => perSecond).toFixed(0),
      `${ratio.toFixed(2)} ×`,
      `${of(({ cpuMs }) => cpuMs).toFixed(2)} ms`,
      `${of(({ megabytes }) => megabytes).toFixed(0)} MB`,
    ];
    process.stdout.write(`${cells.join(" | ")}\n`);
  }
}

async function figuresOf(count: number): Promise<Figures> {
  const cluster = await start(count);
  try {
    const key = await keyOf(cluster);
    const [first] = cluster.nodes;
    await asked(first!.url, key, WARM_UP_SECONDS);
    const cpu = () => cluster.nodes.reduce((sum, node) => sum + node.cpuMs(), 0);
    const before = cpu();
    const seconds = Number(values.seconds);
    const answers = await asked(first!.url, key, seconds);
    return {
      perSecond: answers / seconds,
      cpuMs: (cpu() - before) / answers,
      megabytes: Math.max(...cluster.nodes.map((node) => node.rssMegabytes())),
    };
  } finally {
    await cluster.stop();
  }
}

async function start(count: number, without?: Sabotage): Promise<Cluster> {
  const names = Array.from({ length: count }, (_, number) => `n${number}`);
  const server = without === undefined ? config.server : {};
  const cluster = await startCluster({
    binary,
    names,
    config: { ...config, server },
    oneAddress: true,
    sabotage: without,
  });
  for (const node of cluster.nodes) await node.start();
  return cluster;
}

async function keyOf({ nodes: [first] }: Cluster): Promise<string> {
  const email = "bench@example.com";
  const account = ["--email", email, "--username", "bench", "--tier", "premium", "--verified"];
  await first!.command("account", "create", ...account);
  const made = await first!.command("key", "create", "--account", email, "--name", "bench", "--rpm", "1000000000");
  return String(made["key"]);
}

/** How many answers a client got. */
async function asked(url: string, key: string, seconds: number): Promise<number> {
  const script = join(import.meta.dir, "nodes/client.ts");
  const client = Bun.spawn([process.execPath, script, url, key, String(seconds), String(LANES)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const answers = Number(await new Response(client.stdout).text());
  if ((await client.exited) !== 0) throw new Error("the client failed");
  return answers;
}

/** One request after the other, in turns on a node with Redis and on one without; both on PostgreSQL. */
async function latency(): Promise<void> {
  const clusters = [await start(1), await start(1, "no-redis")];
  try {
    const targets = await Promise.all(
      clusters.map(async (cluster) => ({ url: cluster.nodes[0]!.url, key: await keyOf(cluster), ms: [] as number[] })),
    );
    for (let turn = -WARM_UP_LATENCIES; turn < LATENCIES; turn++) {
      for (const { url, key, ms } of turn % 2 === 0 ? targets : targets.toReversed()) {
        const began = performance.now();
        const answer = await fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Say something." }] }),
        });
        await answer.text();
        if (turn >= 0) ms.push(performance.now() - began);
      }
    }
    const [shared, memory] = targets.map(({ ms }) => ({ p50: at(ms, 0.5), p95: at(ms, 0.95) }));
    process.stdout.write(
      `limits through Redis: p50 ${shared!.p50.toFixed(2)} ms, p95 ${shared!.p95.toFixed(2)} ms; in memory: p50 ${memory!.p50.toFixed(2)} ms, p95 ${memory!.p95.toFixed(2)} ms; added at p50 ${(shared!.p50 - memory!.p50).toFixed(2)} ms\n`,
    );
  } finally {
    for (const cluster of clusters) await cluster.stop();
  }
}

function at(list: readonly number[], share: number): number {
  return [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) * share)] ?? Number.NaN;
}

function median(list: readonly number[]): number {
  return at(list, 0.5);
}

async function lineOf(stdout: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let said = "";
  for await (const text of stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    if (said.includes("\n")) break;
  }
  return said;
}
