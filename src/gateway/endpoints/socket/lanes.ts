// The order of the requests on one connection: one after another in each lane, the lanes beside each other.

/** Maximum number of requests that run at the same time, as at OpenAI. */
const RUNNING_MAX = 16;
/** Maximum number of named lanes, as at OpenAI. */
const LANES_MAX = 32;
/** Maximum number of requests that wait. */
const WAITING_MAX = 128;
/** Maximum length of all requests that wait on one connection. Of larger ones fewer can wait. */
const WAITING_CHARS_MAX = 64 * 1024 * 1024;
/** Maximum length of all requests that wait or run on all connections together. */
const ALL_CHARS_MAX = 256 * 1024 * 1024;
/** The part of it that one account may take, so that the others always have room. */
const ACCOUNT_CHARS_MAX = ALL_CHARS_MAX / 2;

/** What is in memory of clients' requests: of the connections of one account, and of all. */
export interface RequestTexts {
  readonly account: { chars: number };
  readonly all: { chars: number };
}

/** A request in a lane. */
export interface LaneJob {
  /** The lane's name; "" for the unnamed one. */
  readonly lane: string;
  readonly chars: number;
  /** Runs it to its end. Must not reject. */
  run(): Promise<void>;
}

/** The lanes of one connection. `texts` is shared with others; `idle` is called whenever nothing runs or waits any more. */
export function createLanes(texts: RequestTexts, idle: () => void) {
  const names = new Set<string>();
  const busy = new Set<string>();
  let waiting: LaneJob[] = [];
  let waitingChars = 0;
  let running = 0;
  const count = (chars: number) => {
    texts.account.chars += chars;
    texts.all.chars += chars;
  };
  const isOver = (held: { chars: number }, more: number, max: number) => held.chars > 0 && held.chars + more > max;
  const start = (job: LaneJob) => {
    busy.add(job.lane);
    running++;
    void job.run().finally(() => {
      busy.delete(job.lane);
      running--;
      count(-job.chars);
      next();
    });
  };
  const next = () => {
    const stillWaiting: LaneJob[] = [];
    // Of each lane only the first may start.
    const passed = new Set<string>();
    for (const job of waiting) {
      if (running < RUNNING_MAX && !busy.has(job.lane) && !passed.has(job.lane)) {
        waitingChars -= job.chars;
        start(job);
      } else {
        passed.add(job.lane);
        stillWaiting.push(job);
      }
    }
    waiting = stillWaiting;
    if (running === 0 && waiting.length === 0) idle();
  };
  return {
    /** Adds a request, or says why there is no place for it. */
    add(job: LaneJob): "too many lanes" | "too many waiting" | "no memory" | undefined {
      if (job.lane !== "" && !names.has(job.lane)) {
        if (names.size >= LANES_MAX) return "too many lanes";
        names.add(job.lane);
      }
      const isTooLong = waiting.length > 0 && waitingChars + job.chars > WAITING_CHARS_MAX;
      if (waiting.length >= WAITING_MAX || isTooLong) return "too many waiting";
      const { account, all } = texts;
      if (isOver(account, job.chars, ACCOUNT_CHARS_MAX) || isOver(all, job.chars, ALL_CHARS_MAX)) return "no memory";
      waiting.push(job);
      waitingChars += job.chars;
      count(job.chars);
      next();
      return undefined;
    },

    /** Adds a request that the gateway itself makes, before all others of its lane. */
    addFirst(job: LaneJob): void {
      waiting.unshift(job);
      waitingChars += job.chars;
      count(job.chars);
      next();
    },

    /** Takes out all requests that wait. */
    clear(): readonly LaneJob[] {
      const removed = waiting;
      waiting = [];
      count(-waitingChars);
      waitingChars = 0;
      return removed;
    },

    isIdle: () => running === 0 && waiting.length === 0,
  };
}
