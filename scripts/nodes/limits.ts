// The phase of limits that concern more than a minute's requests: requests at once, tokens a minute and the budget of a project are
// kept over all nodes together, and given back.

import { ask, type Key } from "./client.ts";
import type { TrialNode } from "./cluster.ts";
import type { Entry } from "./journal.ts";
import { TRIES, watched } from "./steady.ts";
import type { Trial } from "./trial.ts";

const ASKED = 60;
const PARALLEL = 6;
const TPM = 10_000;
/** With its prompt, nine of these fit. */
const MAX_TOKENS = 1000;
const FIT = 9;
/** Streams take long enough that all are asked for before one ends. */
const PACE_MS = 500;
const BUDGET_MICROS = 5000;
const CLIENTS_PER_NODE = 2;
/** The most that a request may cost here. */
const DEAREST_MICROS = 600;
/** What a killed node held is free after this time. */
const GIVEN_BACK_MS = 31_000;
const PAUSE_MS = 200;

/** Asks all nodes at once, twice; the second time shows that all was given back. */
export async function sharedLimits(trial: Trial): Promise<void> {
  const { upstream } = trial;
  const atOnce = await trial.newKey("limits at once", 1_000_000, "--parallel", String(PARALLEL));
  const tokens = await trial.newKey("limits tokens", 1_000_000, "--tpm", String(TPM));
  const usual = upstream.pace.ms;
  upstream.pace.ms = PACE_MS;
  for (const time of ["", ", and again when they have ended"]) {
    await exactly(trial, atOnce, { limit: PARALLEL, name: `requests at once are ${PARALLEL} over all nodes${time}` });
    const name = `tokens of a minute admit ${FIT} requests over all nodes${time}`;
    await exactly(trial, tokens, { limit: FIT, maxTokens: MAX_TOKENS, name });
  }
  upstream.pace.ms = usual;
  await projectBudget(trial);
}

/** Asks until the nodes ran on meanwhile; a node that took Redis for gone admits its share, which may come on top. */
async function exactly(
  trial: Trial,
  key: Key,
  { limit, maxTokens, name }: { limit: number; maxTokens?: number; name: string },
): Promise<void> {
  const { cluster, check } = trial;
  let seen = await watched(cluster, () => admitted(trial, key, maxTokens));
  for (let again = 2; !seen.isSteady && again <= TRIES; again++) {
    seen = await watched(cluster, () => admitted(trial, key, maxTokens));
  }
  const { result, isSteady } = seen;
  const count = cluster.nodes.length;
  const most = isSteady ? limit : limit + (count - 1) * Math.floor(limit / count);
  // What such a node asked for in vain is given back later.
  const least = isSteady ? limit : 1;
  const problems = result > most || result < least ? [`${result} of ${ASKED} were admitted`] : [];
  check(name, problems, isSteady ? "" : `${result}; the machine stood still, so that a share may come on top`);
}

/** How many of many streams are admitted that are asked for at the same time. */
async function admitted({ cluster, journal }: Trial, key: Key, maxTokens?: number): Promise<number> {
  const { nodes } = cluster;
  const asked = Array.from({ length: ASKED }, (_, at) =>
    ask(journal, nodes[at % nodes.length]!, { kind: "stream", key, maxTokens }),
  );
  return (await Promise.all(asked)).filter(({ outcome }) => outcome === "whole").length;
}

/** Two keys of a project spend on all nodes until its budget is used up. */
async function projectBudget({ cluster, journal, newKey, newProject, check }: Trial): Promise<void> {
  const project = await newProject("limits", "--budget", String(BUDGET_MICROS / 1_000_000));
  const keys = await Promise.all(
    ["one", "other"].map((name) => newKey(`limits ${name}`, 1_000_000, "--project", project)),
  );
  const entries: Entry[] = [];
  const ended = journal.fault("a budget is used up", ({ code }) => code === "budget_exceeded");
  const client = async (node: TrialNode, key: Key) => {
    for (let isOver = false; !isOver; ) {
      const entry = await ask(journal, node, { kind: "chat", key, maxTokens: 200 });
      entries.push(entry);
      isOver = entry.status === 402 || entry.outcome === "none";
      if (entry.status === 429) await Bun.sleep(PAUSE_MS);
    }
  };
  const clients = cluster.nodes.flatMap((node) =>
    keys.flatMap((key) => Array.from({ length: CLIENTS_PER_NODE }, () => client(node, key))),
  );
  await Promise.all(clients);
  ended();
  const spent = entries.reduce((sum, { cost }) => sum + (cost === undefined ? 0 : cost.input + 2 * cost.output), 0);
  check(
    "the budget of a project holds over all nodes and keys, within one request",
    Math.abs(spent - BUDGET_MICROS) <= DEAREST_MICROS ? [] : [`${spent} of ${BUDGET_MICROS} micro-dollars were spent`],
    `${spent} of ${BUDGET_MICROS} micro-dollars by ${entries.length} requests`,
  );
}

/**
 * Fills the places of a key by streams on a node that will be killed. Gives a function that checks that another node has them soon
 * after.
 */
export async function heldBy(trial: Trial, node: TrialNode, other: TrialNode): Promise<() => Promise<void>> {
  const { journal, upstream, newKey, check } = trial;
  const key = await newKey("limits killed", 1_000_000, "--parallel", "3");
  const usual = upstream.pace.ms;
  upstream.pace.ms = PACE_MS * 20;
  const streams = Array.from({ length: 3 }, () => ask(journal, node, { kind: "stream", key }));
  const isFull = async () => (await ask(journal, other, { kind: "chat", key })).status === 429;
  while (!(await isFull())) await Bun.sleep(PAUSE_MS);
  upstream.pace.ms = usual;
  return async () => {
    const killedMs = performance.now();
    await Promise.all(streams);
    while ((await isFull()) && performance.now() - killedMs < GIVEN_BACK_MS) await Bun.sleep(PAUSE_MS);
    const ms = performance.now() - killedMs;
    const late = ms < GIVEN_BACK_MS ? [] : ["they are still taken"];
    check("the places of requests on a killed node are free within 30 s", late, `${ms.toFixed(0)} ms`);
  };
}
