// Gives memory back when a server has become idle. The runtime collects garbage as memory is requested, so that after a peak of
// streams or long bodies nothing is freed until the next requests.

import { atIntervals, type Repeated } from "../base/at-intervals.ts";

/** What is known of this process, and done to it. */
export interface ProcessMemory {
  /** The resident memory. */
  bytes(): number;
  /** The processor time that was used so far. */
  cpuMs(): number;
  /** Frees what is not in use. */
  collect(): void;
}

// Two of them are within half a minute: the one in which the work ends, and one without work.
const INTERVAL_MS = 15_000;
/** A process that uses less processor time in an interval is idle. A collection takes some ten milliseconds. */
const IDLE_CPU_MS = 75;
/** What must have been added since the last collection. */
const GROWTH_BYTES_MIN = 8 * 1024 * 1024;

/** Looks at the memory once in each interval. */
export function createIdleMemory(memory: ProcessMemory = thisProcess): { look(): void } & Pick<Repeated, "start"> {
  let leastBytes = memory.bytes();
  let usedMs = memory.cpuMs();
  const look = () => {
    const beforeMs = usedMs;
    usedMs = memory.cpuMs();
    if (usedMs - beforeMs >= IDLE_CPU_MS) return;
    const bytes = memory.bytes();
    if (bytes >= leastBytes + GROWTH_BYTES_MIN) {
      memory.collect();
      usedMs = memory.cpuMs();
      // What cannot be freed is not collected again.
      leastBytes = memory.bytes();
    } else leastBytes = Math.min(leastBytes, bytes);
  };
  return { look, start: atIntervals(() => INTERVAL_MS, look).start };
}

const thisProcess: ProcessMemory = {
  bytes: () => process.memoryUsage.rss(),
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  collect: () => Bun.gc(true),
};
