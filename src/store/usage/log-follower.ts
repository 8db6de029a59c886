// Follows the request log and returns each row exactly once. If several programs write, a row may become visible after
// one with a higher id. Recent ids are therefore queried again, and rows that were already returned are left out.

import type { Clock } from "../../base/clock.ts";
import type { LogFilter, LogRow } from "./log.ts";
import type { UsageStore } from "./usage.ts";

/** How long ids are queried again. A transaction that writes rows takes only a small part of this time. */
const SETTLED_MS = 10_000;
/** Maximum number of rows that are queried again. */
const RECENT_MAX = 400;
const BATCH = 200;
/** The shortest time between two marks. */
const MARK_MS = 1000;

/** Every matching row up to this id was returned if it was visible at this time. */
interface Mark {
  readonly id: number;
  readonly atMs: number;
}

type LogVerbs = Pick<UsageStore, "followLog" | "lastLogId">;

/** One reader of the log. */
export class LogFollower {
  readonly #usage: LogVerbs;
  readonly #clock: Clock;
  readonly #filter: LogFilter;
  /** Ids up to this one are not queried again. */
  #floor: number;
  /** Ids above the floor that were already returned, and when. */
  readonly #recent = new Map<number, number>();
  /** The earliest first. Without them, a rare match would be searched for in ever more rows. */
  readonly #marks: Mark[] = [];

  constructor(deps: { usage: LogVerbs; clock: Clock }, filter: LogFilter, afterId: number) {
    this.#usage = deps.usage;
    this.#clock = deps.clock;
    this.#filter = filter;
    this.#floor = afterId;
  }

  /** The rows written since the last call, oldest first: at most a few hundred, the others with the next call. */
  async next(): Promise<LogRow[]> {
    this.#settle();
    const mark = { id: await this.#usage.lastLogId(), atMs: this.#clock.now() };
    const fresh: LogRow[] = [];
    let after = this.#floor;
    for (;;) {
      const rows = await this.#usage.followLog(this.#filter, after, BATCH);
      for (const row of rows) {
        if (this.#recent.has(row.id)) continue;
        this.#recent.set(row.id, this.#clock.now());
        fresh.push(row);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) {
        if (mark.atMs - (this.#marks.at(-1)?.atMs ?? 0) >= MARK_MS) this.#marks.push(mark);
        return fresh;
      }
      if (fresh.length > 0) return fresh;
      after = last.id;
    }
  }

  #settle(): void {
    const settledMs = this.#clock.now() - SETTLED_MS;
    for (let first = this.#marks[0]; first !== undefined && first.atMs <= settledMs; first = this.#marks[0]) {
      this.#floor = Math.max(this.#floor, first.id);
      this.#marks.shift();
    }
    for (const id of this.#recent.keys()) if (id <= this.#floor) this.#recent.delete(id);
    const ids = [...this.#recent].sort(([a], [b]) => a - b);
    for (const [index, [id, seenMs]] of ids.entries()) {
      if (seenMs > settledMs && ids.length - index <= RECENT_MAX) break;
      this.#recent.delete(id);
      this.#floor = id;
    }
  }
}
