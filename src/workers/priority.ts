// The priorities of work beside the event loop. They are set on Linux only, where each thread has its own priority, which threads
// and processes inherit from their parent; elsewhere a priority would apply to the whole program. A priority cannot be raised
// again.

import { readdirSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** The priority of work that comes after the event loop's, which is short and urgent. */
export const BEHIND = 10;
/** The priority of work for which nobody waits, which only uses idle time. */
export const LAST = 19;

const isLinux = process.platform === "linux";

/** Sets the priority of the calling thread. */
export function lowerThisThread(niceness: number): void {
  if (isLinux) lower(0, niceness);
}

/** Sets the priority of a process that this one has started, with all of its current threads. */
export function lowerProcess(pid: number, niceness: number): void {
  if (!isLinux) return;
  for (const thread of threadsOf(pid)) lower(thread, niceness);
}

/** The threads of a process; none if the process has ended. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

function lower(thread: number, niceness: number): void {
  try {
    // Raising a priority would be refused, in case the whole program was started with a low one.
    if (getPriority(thread) < niceness) setPriority(thread, niceness);
  } catch {
    // The thread has ended, or the system forbids setting priorities. It then runs with its current priority.
  }
}

const WORD = "--niceness=";

/** The argument that tells a starting thread its priority. */
export const nicenessWord = (niceness: number): string => `${WORD}${niceness}`;

/** The priority in this thread's arguments. */
export function toldNiceness(): number {
  const word = process.argv.findLast((one) => one.startsWith(WORD));
  return word === undefined ? BEHIND : Number(word.slice(WORD.length));
}
