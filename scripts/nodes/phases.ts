// The faults of the trial, one function for each, and what must be true during and after them.

import { ask, type Key } from "./client.ts";
import type { Cluster, TrialNode } from "./cluster.ts";
import type { Entry } from "./journal.ts";
import { heldBy } from "./limits.ts";
import { statusOf, TRIES, watched } from "./steady.ts";
import type { Trial } from "./trial.ts";

const WINDOW_MS = 60_000;
const HAMMERS_PER_NODE = 3;
const HAMMER_PAUSE_MS = 20;
const REVOKED_MS_MAX = 10_000;
const COUNTED_MS_MAX = 30_000;
const REFUSED_MS_MAX = 15_000;
const RPM = 60;
const SAME_ID = 1000;
const SAME_ID_AT_ONCE = 25;
const STREAMS = 20;
const SLOW_PACE_MS = 150;
const RECOVERY_MS = 2000;

/** Without a fault: limits are exact, and each request counts although all have the same id. */
export async function calm(trial: Trial): Promise<void> {
  const { cluster, check } = trial;
  const [first] = await Promise.all([limited(trial, "calm"), sameId(trial)]);
  let seen = first;
  // A node that stood still took a slow Redis for one that is gone, and admitted its share. Once more, then.
  for (let again = 2; !seen.isSteady && again <= TRIES; again++) seen = await limited(trial, `calm ${again}`);
  const most = seen.isSteady ? RPM + 1 : mostAfterALoss(cluster);
  const { admitted, asked, isSteady } = seen;
  check(
    "in normal running a key's limit holds over all nodes, within one request",
    admitted > most || admitted < RPM ? [`${admitted} were admitted in a minute, ${RPM} to ${most} may`] : [],
    `${admitted} of ${RPM}, asked ${asked} times on ${cluster.nodes.length} nodes${isSteady ? "" : "; the machine stood still, so that a share may come on top"}`,
  );
}

/** Asks with a key of a limit for a phase; whether all nodes ran on meanwhile. */
async function limited(trial: Trial, name: string) {
  const key = await trial.newKey(name, RPM);
  const { result: entries, isSteady } = await watched(trial.cluster, () => hammer(trial, key, trial.phaseMs));
  return { entries, admitted: busiestMinute(entries), asked: entries.length, isSteady };
}

/** What nodes may admit together when each counts its own share beside what Redis has counted. */
function mostAfterALoss({ nodes }: Cluster): number {
  return RPM + (nodes.length - 1) * Math.floor(RPM / nodes.length);
}

/** Sends 1,000 requests with the same X-Request-ID. Their records are compared at the end. */
async function sameId({ cluster, journal, key, check }: Trial): Promise<void> {
  const requestId = `same-${crypto.randomUUID()}`;
  let left = SAME_ID;
  let whole = 0;
  const client = async (number: number) => {
    while (left > 0) {
      left -= 1;
      const node = cluster.nodes[(left + number) % cluster.nodes.length]!;
      const { outcome } = await ask(journal, node, { kind: "chat", key, requestId });
      if (outcome === "whole") whole += 1;
    }
  };
  await Promise.all(Array.from({ length: SAME_ID_AT_ONCE }, (_, number) => client(number)));
  check(
    "1,000 requests with one X-Request-ID are answered",
    whole === SAME_ID ? [] : [`${whole} of ${SAME_ID} were answered`],
  );
}

/** A node is killed, and started again when the others have noticed it. */
export async function killNode(trial: Trial, node: TrialNode): Promise<void> {
  const { cluster, journal, check } = trial;
  const other = cluster.nodes.find((one) => one !== node)!;
  const ended = journal.fault(
    `${node.name} is killed`,
    (entry) => entry.node === node.name && entry.outcome === "none",
  );
  const givenBack = await heldBy(trial, node, other);
  const saidMs = performance.now();
  const unwritten = await gauge(node, "sallyport_usage_queue");
  node.kills.push({ atMs: performance.now(), saidMs, unwritten });
  await node.kill();
  const free = givenBack();
  const noticed = await untilMs(COUNTED_MS_MAX, async () => (await activeNodes(other)) === cluster.nodes.length - 1);
  check("a killed node is not counted any more within 30 s", missed(noticed), `${noticed?.toFixed(0)} ms`);
  await free;
  await node.start();
  // Every node must know it: one that is cut off next admits its share by the number that it has heard last.
  const isCounted = async () =>
    (await Promise.all(cluster.nodes.map(activeNodes))).every((count) => count === cluster.nodes.length);
  const back = await untilMs(COUNTED_MS_MAX, isCounted);
  ended();
  check("started again it is counted within 30 s", missed(back), `${back?.toFixed(0)} ms`);
}

/** A node stops while it streams. */
export async function leaveNode(trial: Trial, node: TrialNode): Promise<void> {
  const { journal, upstream, key, check } = trial;
  const usual = upstream.pace.ms;
  upstream.pace.ms = SLOW_PACE_MS;
  const streams = Array.from({ length: STREAMS }, () => ask(journal, node, { kind: "stream", key }));
  await untilMs(COUNTED_MS_MAX, async () => upstream.open() >= STREAMS);
  const left = node.leave();
  const unready = await untilMs(COUNTED_MS_MAX, async () => (await statusOf(`${node.url}/readyz`)) === 503);
  check("a node that leaves says so by /readyz while it still answers", missed(unready));
  const gone = await untilMs(COUNTED_MS_MAX, async () => (await statusOf(`${node.url}/livez`)) === 0);
  check("then it takes no new request", missed(gone));
  const entries = await Promise.all(streams);
  const whole = entries.filter(({ outcome }) => outcome === "whole").length;
  check(
    "its streams end whole",
    whole === STREAMS ? [] : entries.map(({ why }) => why).filter((why) => why !== ""),
    `${whole} of ${STREAMS}`,
  );
  upstream.pace.ms = usual;
  const code = await left;
  check("it exits 0", code === 0 ? [] : [`it exited ${code}`]);
  node.ready = false;
  await node.start();
}

/** A node loses Redis: it admits its share of each limit, and learns of a revoked key from PostgreSQL. */
export async function cutRedis(trial: Trial, node: TrialNode): Promise<void> {
  const { cluster, journal, check } = trial;
  const [first] = cluster.nodes.filter((one) => one !== node);
  const revoked = await trial.newKey("revoked", 1_000_000);
  await ask(journal, node, { kind: "chat", key: revoked });
  node.redis.cut();
  const hammering = limited(trial, "cut");
  const ended = journal.fault("a key is revoked", (entry) => entry.key === "revoked" && entry.status === 401);
  await first!.command("key", "revoke", "--id", revoked.id);
  const refused = async () => (await ask(journal, node, { kind: "chat", key: revoked })).status === 401;
  const heardMs = await untilMs(REVOKED_MS_MAX, refused);
  ended();
  check("a node without Redis refuses a revoked key within 10 s", missed(heardMs), `${heardMs?.toFixed(0)} ms`);
  const { entries, isSteady } = await hammering;
  const alone = busiestMinute(entries.filter((entry) => entry.node === node.name));
  const all = busiestMinute(entries);
  const most = isSteady ? RPM + 1 : mostAfterALoss(cluster);
  const live = await activeNodes(first!);
  const share = Math.max(1, Math.floor(RPM / live));
  check(
    "cut off from Redis it admits its share of the limit, and the others the limit",
    [
      ...(alone > share ? [`it admitted ${alone}, its share is ${share}`] : []),
      ...(all - alone > most ? [`the others admitted ${all - alone}`] : []),
      ...(alone === 0 ? ["it admitted nothing"] : []),
    ],
    `${alone} alone, ${all - alone} on the others, share ${share} of ${RPM}`,
  );
  node.redis.restore();
  const shared = await untilMs(COUNTED_MS_MAX, async () => (await limiterMode(node)) === "shared");
  check("when Redis is there again it shares limits again", missed(shared), `${shared?.toFixed(0)} ms`);
}

/** Redis is killed and is empty when it starts again. */
export async function restartRedis(trial: Trial): Promise<void> {
  const { cluster, check } = trial;
  const key = await trial.newKey("emptied", RPM);
  const hammering = hammer(trial, key, trial.phaseMs + RECOVERY_MS);
  await Bun.sleep(trial.phaseMs / 3);
  await cluster.redis.kill();
  await Bun.sleep(RECOVERY_MS / 4);
  await cluster.redis.start();
  const entries = await hammering;
  // The shared counts are lost, but each node still counts its own requests against its share.
  const most = mostAfterALoss(cluster);
  const admitted = busiestMinute(entries);
  check(
    "a Redis that is emptied lets each node admit at most its share once more",
    admitted > most ? [`${admitted} were admitted in a minute, at most ${most} may`] : [],
    `${admitted}, limit ${RPM}, at most ${most}`,
  );
}

/** PostgreSQL is killed and started again. */
export async function restartPostgres(trial: Trial): Promise<void> {
  const { cluster, journal, check } = trial;
  const ended = journal.fault("PostgreSQL restarts", ({ outcome, status }) => outcome === "refused" && status === 503);
  const began = performance.now();
  await cluster.server.restart();
  const downMs = performance.now() - began;
  const ready = await untilMs(COUNTED_MS_MAX, async () => {
    const states = await Promise.all(cluster.nodes.map(({ url }) => statusOf(`${url}/readyz`)));
    return states.every((status) => status === 200);
  });
  check(
    "after a restart of PostgreSQL every node is ready again",
    missed(ready),
    `away ${downMs.toFixed(0)} ms, ready after ${ready?.toFixed(0)} ms`,
  );
  ended();
  await Bun.sleep(trial.phaseMs / 2);
}

/** PostgreSQL falls silent for a node, whose connections stay silent; new ones work when it is back. */
export async function silencePostgres(trial: Trial, node: TrialNode): Promise<void> {
  const { journal, check, newKey } = trial;
  // A node knows keys that it has seen; this one needs the database.
  const unknown = await newKey("silence", 1_000_000);
  const ended = journal.fault(
    "PostgreSQL is silent",
    (entry) => entry.node === node.name && entry.outcome === "refused" && entry.status === 503,
  );
  node.postgres.stall();
  const began = performance.now();
  const { status } = await ask(journal, node, { kind: "chat", key: unknown });
  const refusedMs = performance.now() - began;
  check(
    "a request that needs a silent PostgreSQL gets 503 within 15 s",
    status === 503 && refusedMs <= REFUSED_MS_MAX ? [] : [`${status} after ${refusedMs.toFixed(0)} ms`],
    `${refusedMs.toFixed(0)} ms`,
  );
  node.postgres.strand();
  node.postgres.restore();
  const ready = await untilMs(COUNTED_MS_MAX, async () => (await statusOf(`${node.url}/readyz`)) === 200);
  check(
    "it is ready again within 30 s, though its old connections stay silent",
    missed(ready),
    `${ready?.toFixed(0)} ms`,
  );
  const holds = await untilMs(COUNTED_MS_MAX, async () => (await nodesState(node)) === "ok");
  check("and has its name again", missed(holds), `${holds?.toFixed(0)} ms`);
  ended();
}

/** Sends requests with one key on every node as fast as answers arrive. */
async function hammer({ cluster, journal }: Trial, key: Key, forMs: number): Promise<Entry[]> {
  const untilMs = performance.now() + forMs;
  const entries: Entry[] = [];
  const one = async (node: TrialNode) => {
    while (performance.now() < untilMs) {
      if (node.ready) entries.push(await ask(journal, node, { kind: "chat", key }));
      await Bun.sleep(HAMMER_PAUSE_MS);
    }
  };
  await Promise.all(cluster.nodes.flatMap((node) => Array.from({ length: HAMMERS_PER_NODE }, () => one(node))));
  return entries;
}

/** The largest number of requests that were certainly admitted within one minute. */
function busiestMinute(entries: readonly Entry[]): number {
  const admitted = entries.filter(({ status }) => status === 200).sort((a, b) => a.startMs - b.startMs);
  return Math.max(
    0,
    ...admitted.map(({ startMs }) => {
      return admitted.filter((other) => other.startMs >= startMs && other.endMs <= startMs + WINDOW_MS).length;
    }),
  );
}

/** The time until `holds` is true; undefined if that took longer than `mostMs`. */
async function untilMs(mostMs: number, holds: () => Promise<boolean>): Promise<number | undefined> {
  for (const began = performance.now(); ; await Bun.sleep(20)) {
    const held = await holds();
    const tookMs = performance.now() - began;
    if (held) return tookMs <= mostMs ? tookMs : undefined;
    if (tookMs > mostMs) return undefined;
  }
}

const missed = (tookMs: number | undefined): string[] => (tookMs === undefined ? ["it did not"] : []);

async function activeNodes({ url }: TrialNode): Promise<number> {
  const answer = await fetch(`${url}/v1/status/runtime`);
  return ((await answer.json()) as { active_nodes: number }).active_nodes;
}

async function nodesState({ url }: TrialNode): Promise<string> {
  const answer = await fetch(`${url}/health`);
  return ((await answer.json()) as { subsystems: { nodes?: { status: string } } }).subsystems.nodes?.status ?? "";
}

async function gauge({ url }: TrialNode, name: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const found = new RegExp(`^${name} (\\d+)$`, "m").exec(metrics);
  if (found === null) throw new Error(`there is no metric ${name}`);
  return Number(found[1]);
}

async function limiterMode({ url }: TrialNode): Promise<string> {
  const { subsystems } = (await (await fetch(`${url}/health`)).json()) as {
    subsystems: { redis?: { mode: string } };
  };
  return subsystems.redis?.mode ?? "";
}
