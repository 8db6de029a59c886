// Limits concurrency in the order of arrival. A waiter that aborts leaves the queue.

/** A counting semaphore. */
export interface Slots {
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** Creates a semaphore with `count` slots. */
export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  const enter = async (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (free > 0) {
      free--;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = () => {
      const at = waiting.indexOf(resolve);
      // The slot was already granted: the waiter notices the signal itself and releases the slot.
      if (at < 0) return;
      waiting.splice(at, 1);
      reject(signal.reason);
    };
    waiting.push(resolve);
    signal.addEventListener("abort", stop, { once: true });
    await promise.finally(() => signal.removeEventListener("abort", stop));
  };
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  };
  return {
    run: async (signal, work) => {
      await enter(signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
