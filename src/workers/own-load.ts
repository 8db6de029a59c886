// Tells whether this process itself is busy, so that work that may wait leaves it a processor.

/** What the load is measured with, for tests. */
export interface LoadMeters {
  /** The processor time of the process so far, in milliseconds. */
  readonly usedMs: () => number;
  readonly nowMs: () => number;
}

/** A process that uses more than this share of one processor is busy. */
const BUSY_SHARE = 0.5;
/** The load is measured over at least this time. */
const WINDOW_MS = 200;
/** A measurement over a longer time says nothing of the present. */
const WINDOW_MS_MAX = 2000;

const OWN: LoadMeters = {
  usedMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  nowMs: () => performance.now(),
};

/** Creates a function that tells whether the process is busy. It measures from call to call. */
export function watchOwnLoad({ usedMs, nowMs }: LoadMeters = OWN): () => boolean {
  let startMs = nowMs();
  let startUsedMs = usedMs();
  let isBusy = false;
  return () => {
    const passedMs = nowMs() - startMs;
    if (passedMs < WINDOW_MS) return isBusy;
    const used = usedMs();
    isBusy = passedMs <= WINDOW_MS_MAX && used - startUsedMs > passedMs * BUSY_SHARE;
    startMs = nowMs();
    startUsedMs = used;
    return isBusy;
  };
}
