// Work that nodes do once for all of them: the first one works, the others wait for its result. In memory there is nothing to
// do, since callers join their own work in progress; redis-flights.ts shares it with other nodes.

/** The result of work, here or on another node. */
export interface Flight<T> {
  readonly value: T;
  /** How much longer the value may be reused. */
  readonly leftMs: number;
}

/** How work is shared. */
export interface FlightOptions<T> {
  /** How long the value may be reused; 0: only by those that wait for it now; undefined: by nobody else. */
  keptMs(value: T): number | undefined;
  /** A value that exists already is not used. */
  readonly anew?: boolean | undefined;
  /** After waiting this long for another node, this one works too; a minute if absent. */
  readonly waitMs?: number | undefined;
  /** Ends the wait for another node. */
  readonly signal?: AbortSignal | undefined;
}

/** Shares work. */
export interface Flights {
  /**
   * The value under this key, which must survive JSON. `make` is called unless another node has the value or is making it,
   * and in any case if that node fails. It is told whether another node was waited for, which may have done the work although
   * its value did not arrive. Throws what `make` throws, or the signal's reason.
   */
  share<T>(key: string, make: (hasWaited: boolean) => Promise<T>, options: FlightOptions<T>): Promise<Flight<T>>;
}

/** For a program that shares with none. */
export const ownFlights: Flights = {
  async share(_key, make, { keptMs }) {
    const value = await make(false);
    return { value, leftMs: keptMs(value) ?? 0 };
  },
};
