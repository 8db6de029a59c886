// Splits long loops into steps so that streams and other requests continue meanwhile. Of all loops that run at once, one takes a step
// in each turn of the event loop.

import { longStep } from "./long-steps.ts";

/** Longest step; a stream's chunk may wait this long. */
const SLICE_MS = 5;

/**
 * Awaited within a loop; yields to other work when the current step has taken long enough. `requestSinceMs`: see `longStep`.
 */
export function createPause(requestSinceMs?: number): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  return () => {
    if (performance.now() - sinceMs < SLICE_MS) return undefined;
    return longStep(requestSinceMs).then(() => {
      sinceMs = performance.now();
    });
  };
}
