// The queue of statements that wait for a connection. Each waits until its deadline: behind connections that do not answer
// it would wait for ever.

import { StoreUnreachable } from "../store-error.ts";

/** The limit of statements that wait for a connection; further ones would be answered too late. */
const WAITING_MAX = 10_000;

/** Runs `work` when there is a place. Throws StoreUnreachable if there is none until `until`, by `performance.now()`. */
export type WaitForPlace = <T>(until: number, work: () => Promise<T>) => Promise<T>;

/** Runs this number of tasks at once; the others wait in order. */
export function createPlaces(count: number): WaitForPlace {
  let free = count;
  const waiting = new Set<() => void>();
  const wait = (until: number) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => {
          waiting.delete(go);
          reject(new StoreUnreachable("No connection to the database became free in time."));
        },
        Math.max(0, until - performance.now()),
      );
      const go = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.add(go);
    });
  return async (until, work) => {
    if (free > 0) free--;
    else {
      if (waiting.size >= WAITING_MAX) throw new StoreUnreachable("Too many statements are waiting for the database.");
      await wait(until);
    }
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next === undefined) free++;
      else {
        waiting.delete(next);
        next();
      }
    }
  };
}
