// Priorities of work beside the event loop. Linux only: there each thread has its own priority, and threads and processes
// inherit it from their parent; elsewhere it would apply to the whole program. It cannot be raised again.

import { readdirSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** Below the event loop, whose work is short and urgent. */
export const BEHIND = 10;
/** For work that nobody waits for: it only uses idle time. */
export const LAST = 19;

const isLinux = process.platform === "linux";

/** Sets the priority of the calling thread. */
export function lowerThisThread(niceness: number): void {
  if (isLinux) lower(0, niceness);
}

/** Sets that of a process started by this one, including its current threads. */
export function lowerProcess(pid: number, niceness: number): void {
  if (!isLinux) return;
  for (const thread of threadsOf(pid)) lower(thread, niceness);
}

/** No threads if the process has ended. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

function lower(thread: number, niceness: number): void {
  try {
    // If the whole program was started with a low priority, raising it would be refused.
    if (getPriority(thread) < niceness) setPriority(thread, niceness);
  } catch {
    // It has ended, or the machine forbids setting priorities: then it runs with its current one.
  }
}

const WORD = "--niceness=";

/** The argument that tells a starting thread its priority. */
export const nicenessWord = (niceness: number): string => `${WORD}${niceness}`;

/** This thread's argument. */
export function toldNiceness(): number {
  const word = process.argv.findLast((one) => one.startsWith(WORD));
  return word === undefined ? BEHIND : Number(word.slice(WORD.length));
}
