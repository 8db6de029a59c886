// What tests may assert about time. The machine may stall at any moment, so no duration and no order of two timers is
// certain; a thread's CPU time, and whether there was a stall, can be measured.

/** Milliseconds of processor time that `work` took on this thread: what other threads and programs take is not in it. */
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
/** What is later than this was kept from running. */
const STANDSTILL_MS = 150;
const TRIES = 25;

/** Runs a check that depends on real time; where it fails and this thread stood still meanwhile, once more. */
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
