// Whether the nodes ran on while something was tried: a machine that stands still lets them take a slow Redis for one that is gone.

import type { Cluster, TrialNode } from "./cluster.ts";

/** A node waits for Redis for half a second; one that stood still for a part of that may have waited in vain. */
const STANDSTILL_MS = 250;
const PAUSE_MS = 20;
/** How often what needs steady nodes is tried. */
export const TRIES = 3;

/** Does the work; whether all nodes ran on meanwhile. */
export async function watched<T>(
  { nodes }: Cluster,
  work: () => Promise<T>,
): Promise<{ result: T; isSteady: boolean }> {
  let isOver = false;
  const slowest = Promise.all(nodes.map((node) => slowestAnswer(node, () => isOver)));
  const result = await work();
  isOver = true;
  return { result, isSteady: Math.max(...(await slowest)) < STANDSTILL_MS };
}

/** The longest time that a node took to say that it lives. */
async function slowestAnswer({ url }: TrialNode, isOver: () => boolean): Promise<number> {
  let slowestMs = 0;
  while (!isOver()) {
    const began = performance.now();
    await statusOf(`${url}/livez`);
    slowestMs = Math.max(slowestMs, performance.now() - began);
    await Bun.sleep(PAUSE_MS);
  }
  return slowestMs;
}

/** 0 means that nothing answers. */
export const statusOf = (url: string): Promise<number> =>
  fetch(url, { signal: AbortSignal.timeout(12_000) }).then(
    ({ status }) => status,
    () => 0,
  );
