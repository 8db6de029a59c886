// Limits concurrency. Accounts take turns; the waiters of one account go in the order of arrival. A waiter that aborts leaves the
// queue.

import { FairQueue, type Queued } from "../workers/fair-queue.ts";

/** A counting semaphore. */
export interface Slots {
  /** `account`: the account for which the work runs; "" if all of it is for one. */
  run<T>(account: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

interface Waiter extends Queued {
  readonly go: () => void;
}

/** Creates a semaphore with `count` slots. */
export function createSlots(count: number): Slots {
  let free = count;
  const queue = new FairQueue<Waiter>();
  const pump = () => {
    while (free > 0) {
      const next = queue.next();
      if (next === undefined) return;
      free--;
      next.go();
    }
  };
  const enter = async (account: string, signal: AbortSignal): Promise<Waiter> => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { account, go: resolve };
    const stop = () => {
      // If the slot was already granted, the waiter notices the signal itself and releases the slot.
      if (queue.remove(waiter)) reject(signal.reason);
    };
    if (free > 0) {
      // Nobody waits while there is a free slot.
      queue.add(waiter);
      pump();
      return waiter;
    }
    queue.add(waiter);
    signal.addEventListener("abort", stop, { once: true });
    await promise.finally(() => signal.removeEventListener("abort", stop));
    return waiter;
  };
  return {
    run: async (account, signal, work) => {
      const waiter = await enter(account, signal);
      try {
        return await work();
      } finally {
        queue.done(waiter);
        free++;
        pump();
      }
    },
  };
}
