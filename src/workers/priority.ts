// How much of a busy machine work beside the event loop gets. Linux only: there a priority is a thread's own, and what a
// thread or a process starts inherits it; elsewhere it would be the whole program's. It cannot be raised again.

import { readdirSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** Behind the event loop, whose chunks are small and wanted at once. */
export const BEHIND = 10;
/** What no one waits for takes what others leave. */
export const LAST = 19;

const isLinux = process.platform === "linux";

/** Sets the priority of the thread that calls it. */
export function lowerThisThread(niceness: number): void {
  if (isLinux) lower(0, niceness);
}

/** Sets that of a process that this one started, with the threads it has by now. */
export function lowerProcess(pid: number, niceness: number): void {
  if (!isLinux) return;
  for (const thread of threadsOf(pid)) lower(thread, niceness);
}

/** None of a process that has ended. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

function lower(thread: number, niceness: number): void {
  try {
    // Where the whole program was started behind others, going before them again would be refused.
    if (getPriority(thread) < niceness) setPriority(thread, niceness);
  } catch {
    // It has ended, or the machine lets no one set priorities: then it works as it is.
  }
}

const WORD = "--niceness=";

/** The word by which a thread is told its priority when it is started. */
export const nicenessWord = (niceness: number): string => `${WORD}${niceness}`;

/** What this thread was told. */
export function toldNiceness(): number {
  const word = process.argv.findLast((one) => one.startsWith(WORD));
  return word === undefined ? BEHIND : Number(word.slice(WORD.length));
}
