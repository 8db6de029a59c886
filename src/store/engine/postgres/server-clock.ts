// The time of the database's server, by which all nodes agree on when a lease ends, whatever their own clocks say.

import { type Clock, systemClock } from "../../../base/clock.ts";
import type { Pool } from "./pool.ts";

/** A clock that is set by another one. */
export interface ComparedClock extends Clock {
  compare(): Promise<void>;
}

/** A smaller difference may come from the way of the answer; a clock that is set back and forth is worse. */
const DIFFERENCE_MS = 50;

/**
 * The server's clock. Between two comparisons it goes by the time since the start, which no correction of this machine's clock
 * changes.
 */
export function serverClock({ query }: Pick<Pool, "query">, since = () => performance.now()): ComparedClock {
  let aheadMs = systemClock.now() - since();
  return {
    now: () => Math.round(since() + aheadMs),
    async compare() {
      const askedMs = since();
      const { values } = await query("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)", []);
      const answeredMs = since();
      const found = Number(values[0]?.[0]) - (askedMs + answeredMs) / 2;
      if (Math.abs(found - aheadMs) > DIFFERENCE_MS + (answeredMs - askedMs) / 2) aheadMs = found;
    },
  };
}
