// Whether a step holds the event loop up.

/** The longest step that what a client sends may take. */
export const STEP_MS_MAX = 50;
/** What takes too long is measured again, since code runs slowly before it is compiled and garbage is collected at any time. */
const TRIES = 6;

/** The least processor time of some tries. */
export function leastMs(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TRIES && least >= STEP_MS_MAX; attempt++) {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
