// What tests may assert about time. The machine may stall at any moment, so no duration and no order of two timers is
// certain. The CPU time of a thread, and whether the machine stalled, can be measured.

/** The milliseconds of processor time that `work` used on this thread, without those of other threads and programs. */
export function cpuMs(work: () => unknown): number;
export function cpuMs(work: () => Promise<unknown>): Promise<number>;
export function cpuMs(work: () => unknown): number | Promise<number> {
  const before = process.threadCpuUsage();
  const taken = () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
  const result = work();
  return result instanceof Promise ? result.then(taken) : taken();
}

const BEAT_MS = 10;
/** A timer that is later than this was delayed by the machine. */
const STANDSTILL_MS = 150;
const TRIES = 25;

/** Runs a check that depends on real time. If it fails and this thread was stalled meanwhile, runs it once more. */
export async function whileSteady<T>(check: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left--) {
    let [lastMs, stoodStill] = [performance.now(), false];
    const beat = () => {
      const nowMs = performance.now();
      if (nowMs - lastMs > STANDSTILL_MS) stoodStill = true;
      lastMs = nowMs;
    };
    const timer = setInterval(beat, BEAT_MS);
    try {
      return await check();
    } catch (error) {
      beat();
      if (!stoodStill || left === 1) throw error;
    } finally {
      clearInterval(timer);
    }
  }
}
