// The order in which accounts use something that all of them share, such as threads. Accounts take turns: the next one is that
// with the fewest running tasks, and among those the one that was served longest ago. A single task thus waits for one task of
// another account at most, however many that account has queued. No account can fill the queue, so there is room for others.

/** An entry of the queue. */
export interface Queued {
  /** The account for which it runs; "" for the program's own work. */
  readonly account: string;
  /** Whether nobody waits for it. Of all accounts, entries for which someone waits go first. */
  readonly later?: boolean | undefined;
  /** The memory that it holds while it waits. */
  readonly weight?: number;
}

/** Limits of what waits. */
export interface FairQueueLimits {
  readonly countMax?: number;
  /** An entry for which nobody waits is always accepted: its caller limits the number of such entries, and would lose this one. */
  readonly weightMax?: number | undefined;
}

/** The part of each limit that one account may use. */
const SHARE_MAX = 0.5;

/** What one account has in the queue. */
interface Share<T> {
  readonly prompt: T[];
  readonly later: T[];
  running: number;
  weight: number;
  /** The running number of its last turn. */
  served: number;
}

/** A queue in which accounts take turns. */
export class FairQueue<T extends Queued> {
  readonly #countMax: number;
  readonly #weightMax: number;
  readonly #shares = new Map<string, Share<T>>();
  #size = 0;
  #weight = 0;
  #turns = 0;

  constructor({ countMax = Number.POSITIVE_INFINITY, weightMax = Number.POSITIVE_INFINITY }: FairQueueLimits = {}) {
    this.#countMax = countMax;
    this.#weightMax = weightMax;
  }

  /** The number of waiting entries. */
  get size(): number {
    return this.#size;
  }

  /** Whether there is no room for another entry of this kind, in total or for its account. */
  isFull({ account, later, weight = 0 }: Queued): boolean {
    const share = this.#shares.get(account);
    const own = share === undefined ? 0 : share.prompt.length + share.later.length;
    // The program's own work is for all accounts.
    const most = account === "" ? 1 : SHARE_MAX;
    if (this.#size >= this.#countMax || own >= Math.max(1, this.#countMax * most)) return true;
    if (later === true) return false;
    if (this.#size > 0 && this.#weight + weight > this.#weightMax) return true;
    return own > 0 && (share?.weight ?? 0) + weight > this.#weightMax * most;
  }

  add(entry: T): void {
    let share = this.#shares.get(entry.account);
    if (share === undefined) {
      share = { prompt: [], later: [], running: 0, weight: 0, served: 0 };
      this.#shares.set(entry.account, share);
    }
    (entry.later === true ? share.later : share.prompt).push(entry);
    this.#count(share, entry, 1);
  }

  /** Takes an entry out of the queue without running it. Returns false if it does not wait. */
  remove(entry: T): boolean {
    const share = this.#shares.get(entry.account);
    const list = entry.later === true ? share?.later : share?.prompt;
    const at = list?.indexOf(entry) ?? -1;
    if (share === undefined || list === undefined || at < 0) return false;
    list.splice(at, 1);
    this.#count(share, entry, -1);
    this.#forgetIdle(entry.account, share);
    return true;
  }

  /** Takes the entry whose turn it is. It counts as running until `done` is called. */
  next(): T | undefined {
    let best: Share<T> | undefined;
    for (const share of this.#shares.values()) {
      if (share.prompt.length + share.later.length === 0) continue;
      if (best === undefined || goesBefore(share, best)) best = share;
    }
    const entry = best?.prompt.shift() ?? best?.later.shift();
    if (best === undefined || entry === undefined) return undefined;
    this.#count(best, entry, -1);
    best.running++;
    best.served = ++this.#turns;
    return entry;
  }

  /** The entry has ended. */
  done({ account }: T): void {
    const share = this.#shares.get(account);
    if (share === undefined) return;
    share.running--;
    this.#forgetIdle(account, share);
  }

  /** Empties the queue and returns what waited. */
  clear(): T[] {
    const all = [...this.#shares.values()].flatMap(({ prompt, later }) => [...prompt.splice(0), ...later.splice(0)]);
    for (const share of this.#shares.values()) share.weight = 0;
    this.#size = 0;
    this.#weight = 0;
    return all;
  }

  #count(share: Share<T>, { weight = 0 }: T, sign: 1 | -1): void {
    this.#size += sign;
    this.#weight += sign * weight;
    share.weight += sign * weight;
  }

  #forgetIdle(account: string, share: Share<T>): void {
    if (share.running === 0 && share.prompt.length + share.later.length === 0) this.#shares.delete(account);
  }
}

function goesBefore<T>(one: Share<T>, other: Share<T>): boolean {
  if (one.prompt.length > 0 !== other.prompt.length > 0) return one.prompt.length > 0;
  return one.running === other.running ? one.served < other.served : one.running < other.running;
}
