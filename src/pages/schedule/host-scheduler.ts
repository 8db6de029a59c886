// Whose turn it is to ask a host. Over everything the program does, only so many requests to one host run at once, their
// starts lie apart as the host wants it, and only so many pages of jobs are under way. Accounts share evenly however many
// jobs they have, and the jobs of one whatever their size; a page that somebody waits for goes before them all.

import type { Clock } from "../../base/clock.ts";
import { PoolFull } from "../../workers/pool.ts";

/** A request's claim on a host. */
export interface Claim {
  /** Names the host; its spellings are one. */
  readonly host: string;
  /** The least time between the starts of two requests to the host. */
  readonly delayMs: number;
}

/** Whose page it is. */
export interface JobRef {
  readonly id: string;
  readonly accountId: string;
}

/** A page that has its turn. */
export interface PageTurn {
  /** The request is over: what follows is our own work. Later calls do nothing. */
  leaveHost(): void;
  /** The page is done. */
  end(): void;
}

/** Turns over all hosts and jobs of the program. */
export interface Manners {
  /**
   * Waits for a place on the host and its time, for a page that is under way or needs no place; before all others. Call the
   * result when the request is over.
   */
  ask(claim: Claim, signal?: AbortSignal): Promise<() => void>;
  /** Waits for one of the places that jobs share and, when the page is to be asked for, for its host at the same moment. */
  work(job: JobRef, claim: Claim | undefined, signal: AbortSignal): Promise<PageTurn>;
  /** The same among the places of pages that somebody waits for. Throws `PoolFull` when too many wait, of all or of the account. */
  visit(accountId: string, claim: Claim | undefined, signal?: AbortSignal): Promise<PageTurn>;
  /** Waits for one of the places in the browser, and for the host at the same moment: whoever waits for one holds up nobody at the other. */
  show(accountId: string, claim: Claim, signal?: AbortSignal): Promise<PageTurn>;
  /** How many pages of jobs are under way, and how many requests of all kinds wait. */
  load(): { readonly running: number; readonly waiting: number };
  /** How many pages that somebody waits for are under way, and how many have no place yet. */
  singles(): { readonly running: number; readonly waiting: number };
}

/** Requests to one host at once. */
const PER_HOST_MAX = 4;
/** Requests that may wait; jobs ask for a few turns each. */
const WAITING_MAX = 5000;
/** Of them pages that somebody waits for, and those of one account: the others' find room. */
const SINGLES_WAITING_MAX = 1000;
const SINGLES_WAITING_EACH_MAX = 250;
/**
 * An account has at most so many times the places for single pages that are free, and so it is in the browser; one is then for
 * somebody else: such a page may take minutes, and what one account keeps busy no other can wait for. Alone it gets two thirds.
 */
const SHARE_OF_FREE = 2;
/** Hosts remembered for their delay's sake. */
const HOSTS_MAX = 5000;

interface Host {
  active: number;
  /** Start of the last request, and how long the next one waits from then. */
  lastMs: number;
  delayMs: number;
}

/** What an account or a job has of the places. */
interface Share {
  active: number;
  waiting: number;
  /** Number of its last turn. */
  served: number;
}

/** Pages that share places. What is shown in the browser is under way already, as a page of a job or a single one. */
type Lane = "jobs" | "singles" | "browser";

interface Waiter {
  /** Undefined: needs none of the places. */
  readonly lane: Lane | undefined;
  /** Whose shares it counts for: the account, and then its job. */
  readonly owners: readonly string[];
  readonly claim: Claim | undefined;
  readonly go: () => void;
}

/** Those that go first have the lower number. */
const RANKS: Readonly<Record<Lane, number>> = { browser: 0, singles: 1, jobs: 2 };

/** Makes them. The places are asked for each time: they may change. */
export function createManners(clock: Clock, placesMax: Readonly<Record<Lane, () => number>>): Manners {
  const hosts = new Map<string, Host>();
  /** By account, and by account and job; only of those that wait or work. */
  const shares = new Map<string, Share>();
  /** In the order they came. */
  const waiting = new Set<Waiter>();
  const working = { jobs: 0, singles: 0, browser: 0 };
  let turns = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const waitMs = (claim: Claim | undefined): number => {
    const host = claim === undefined ? undefined : hosts.get(claim.host);
    if (host === undefined || claim === undefined) return 0;
    if (host.active >= PER_HOST_MAX) return Number.POSITIVE_INFINITY;
    // A clock that was set back must not silence a host for as long.
    host.lastMs = Math.min(host.lastMs, clock.now());
    return Math.max(0, host.lastMs + Math.max(host.delayMs, claim.delayMs) - clock.now());
  };

  /** Whether there is a place, where that is needed. */
  const isFree = ({ lane, owners }: Waiter): boolean => {
    if (lane === undefined) return true;
    const free = placesMax[lane]() - working[lane];
    if (lane === "jobs" || free <= 0) return free > 0;
    return (shares.get(owners[0] as string)?.active ?? 0) <= SHARE_OF_FREE * free;
  };

  const shareOf = (name: string): Share => {
    const share = shares.get(name) ?? { active: 0, waiting: 0, served: 0 };
    shares.set(name, share);
    return share;
  };

  /** Changes what the owners have. */
  const book = (owners: readonly string[], change: (share: Share) => void): void => {
    for (const name of owners) {
      const share = shareOf(name);
      change(share);
      if (share.active === 0 && share.waiting === 0) shares.delete(name);
    }
  };

  /** Whether the first goes before the second, which came earlier. */
  const goesBefore = (one: Waiter, other: Waiter): boolean => {
    if (one.lane !== other.lane) return rankOf(one) < rankOf(other);
    const level = one.owners.findIndex((owner, index) => owner !== other.owners[index]);
    if (level < 0) return false;
    const [mine, theirs] = [shareOf(one.owners[level] as string), shareOf(other.owners[level] as string)];
    return mine.active < theirs.active || (mine.active === theirs.active && mine.served < theirs.served);
  };

  const start = ({ lane, owners, claim, go }: Waiter): void => {
    turns++;
    if (lane !== undefined) working[lane]++;
    book(owners, (share) => {
      share.waiting--;
      share.active++;
      share.served = turns;
    });
    if (claim !== undefined) {
      const active = (hosts.get(claim.host)?.active ?? 0) + 1;
      hosts.delete(claim.host);
      hosts.set(claim.host, { active, lastMs: clock.now(), delayMs: claim.delayMs });
      if (hosts.size > HOSTS_MAX) forgetOne();
    }
    go();
  };

  /** The one that was asked longest ago, and is not asked now. */
  const forgetOne = (): void => {
    for (const [name, { active }] of hosts)
      if (active === 0) {
        hosts.delete(name);
        return;
      }
  };

  const pump = (): void => {
    clearTimeout(timer);
    for (;;) {
      let first: Waiter | undefined;
      let soonestMs = Number.POSITIVE_INFINITY;
      for (const waiter of waiting) {
        if (!isFree(waiter)) continue;
        const ms = waitMs(waiter.claim);
        if (ms > 0) soonestMs = Math.min(soonestMs, ms);
        else if (first === undefined || goesBefore(waiter, first)) first = waiter;
      }
      if (first === undefined) {
        if (Number.isFinite(soonestMs)) timer = setTimeout(pump, Math.ceil(soonestMs));
        return;
      }
      waiting.delete(first);
      start(first);
    }
  };

  const waitingSingles = (): number => {
    let count = 0;
    for (const { lane } of waiting) if (lane === "singles") count++;
    return count;
  };

  const isCrowded = ({ lane, owners }: Omit<Waiter, "go">): boolean => {
    if (waiting.size >= WAITING_MAX) return true;
    if (lane !== "singles") return false;
    const own = shares.get(owners[0] as string)?.waiting ?? 0;
    return waitingSingles() >= SINGLES_WAITING_MAX || own >= SINGLES_WAITING_EACH_MAX;
  };

  const turn = async (what: Omit<Waiter, "go">, signal: AbortSignal | undefined): Promise<void> => {
    signal?.throwIfAborted();
    if (isCrowded(what)) throw new PoolFull("Too many pages are waiting to be asked for.");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { ...what, go: resolve };
    const stop = () => {
      if (!waiting.delete(waiter)) return;
      book(what.owners, (share) => share.waiting--);
      reject(signal?.reason);
    };
    waiting.add(waiter);
    book(what.owners, (share) => share.waiting++);
    signal?.addEventListener("abort", stop, { once: true });
    // Where the newcomer cannot go nobody else can who could not before.
    if (isFree(waiter) && Number.isFinite(waitMs(what.claim))) pump();
    await promise.finally(() => signal?.removeEventListener("abort", stop));
  };

  const leave = (name: string | undefined): void => {
    const host = name === undefined ? undefined : hosts.get(name);
    if (host === undefined || name === undefined) return;
    host.active--;
    if (host.active === 0 && host.delayMs === 0) hosts.delete(name);
    pump();
  };

  const take = async (what: Omit<Waiter, "go"> & { lane: Lane }, signal?: AbortSignal): Promise<PageTurn> => {
    await turn(what, signal);
    const leaveHost = once(() => leave(what.claim?.host));
    return {
      leaveHost,
      end: once(() => {
        leaveHost();
        working[what.lane]--;
        book(what.owners, (share) => share.active--);
        pump();
      }),
    };
  };

  return {
    ask: async (claim, signal) => {
      await turn({ lane: undefined, owners: [], claim }, signal);
      return once(() => leave(claim.host));
    },
    work: ({ accountId, id }, claim, signal) =>
      take({ lane: "jobs", owners: [accountId, `${accountId} ${id}`], claim }, signal),
    visit: (accountId, claim, signal) => take({ lane: "singles", owners: [`singles of ${accountId}`], claim }, signal),
    show: (accountId, claim, signal) => take({ lane: "browser", owners: [`browser of ${accountId}`], claim }, signal),
    load: () => ({ running: working.jobs, waiting: waiting.size }),
    singles: () => ({ running: working.singles, waiting: waitingSingles() }),
  };
}

function rankOf({ lane }: Waiter): number {
  return lane === undefined ? 0 : RANKS[lane];
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
