// Long loops on the event loop, cut into turns so that streams and other requests continue meanwhile.

/** Longest turn; a stream's chunk may wait this long. */
const TURN_MS = 5;

/** Awaited within a loop, lets others run when this loop's turn is over. */
export function createTurns(): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  return () => {
    if (performance.now() - sinceMs < TURN_MS) return undefined;
    return Bun.sleep(0).then(() => {
      sinceMs = performance.now();
    });
  };
}
