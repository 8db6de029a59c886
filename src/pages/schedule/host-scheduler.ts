// Schedules requests to hosts for the whole program. It limits the concurrent requests to one host, in total and for one account,
// keeps the delay between requests that the host demands, and limits the pages of jobs in progress. Accounts get equal shares
// however many jobs they have, and the jobs of an account get equal shares whatever their size. A page for which someone waits
// goes before all jobs. With several nodes, a host's places are those of all of them.

import type { Clock } from "../../base/clock.ts";
import type { HostLeases } from "../../shared-state/host-leases.ts";
import { PoolFull } from "../../workers/pool.ts";
import { SharedLeases } from "./shared-leases.ts";

/** A request's wish to use a host. */
export interface Claim {
  /** The host's name in one spelling. */
  readonly host: string;
  /** Minimum time between the starts of two requests to the host. */
  readonly delayMs: number;
}

/** The job, and the account for which it runs. */
export interface JobRef {
  readonly id: string;
  readonly accountId: string;
}

/** A page that may now be requested. */
export interface PageSlot {
  /** Ends the request to the host; what follows does not need the host. Later calls do nothing. */
  leaveHost(): void;
  /** Ends the page and frees its slot. */
  end(): void;
}

/** The scheduler of all hosts and jobs of the program. */
export interface HostScheduler {
  /**
   * Waits for the host, for a page that is already in progress or needs no slot. Such requests go before all others. Call the
   * returned function when the request is over.
   */
  ask(claim: Claim, signal?: AbortSignal): Promise<() => void>;
  /** Waits for one of the slots that jobs share and, if the page is to be requested, for its host at the same time. */
  work(job: JobRef, claim: Claim | undefined, signal: AbortSignal): Promise<PageSlot>;
  /** The same for the slots of pages for which someone waits. Throws `PoolFull` if too many wait, in total or for the account. */
  visit(accountId: string, claim: Claim | undefined, signal?: AbortSignal): Promise<PageSlot>;
  /** Waits for one of the browser's slots and for the host at the same time, so that waiting for one does not block the other. */
  show(accountId: string, claim: Claim, signal?: AbortSignal): Promise<PageSlot>;
  /** The number of pages of jobs in progress, and the number of waiting requests of all kinds. */
  load(): { readonly running: number; readonly waiting: number };
  /** For pages for which someone waits: the number in progress, and the number without a slot. */
  singles(): { readonly running: number; readonly waiting: number };
}

/** Maximum number of concurrent requests to one host. */
const PER_HOST_MAX = 4;
/**
 * With one more place at a host, used only by an account that has no request there: the pages of one account at a slow host do
 * not block a page of another.
 */
const PER_HOST_WITH_NEWCOMER_MAX = PER_HOST_MAX + 1;
/** Maximum number of waiting requests. A job has only a few of its pages waiting at a time. */
const WAITING_MAX = 5000;
/** How many of these may be pages for which someone waits, in total and for one account, so that others have room. */
const SINGLES_WAITING_MAX = 1000;
const SINGLES_WAITING_EACH_MAX = 250;
/**
 * With a new page, an account may use at most this many times the number of free slots for single pages, and likewise in the
 * browser. Some slots are thus left for other accounts, since a page may take minutes. An account that is alone can use two
 * thirds of the slots.
 */
const SHARE_OF_FREE = 2;
/** Maximum number of hosts that are remembered for their delay. */
const HOSTS_MAX = 5000;

interface Host {
  active: number;
  /** The requests in progress of each account. */
  readonly accounts: Map<string, number>;
  /** When the last request started, and how long the next one must wait from then. */
  lastMs: number;
  delayMs: number;
}

/** The share of the slots that an account or job uses. */
interface Share {
  active: number;
  waiting: number;
  /** The running number of its last start. */
  served: number;
}

/** The kinds of slots. A page in the browser also holds a slot of another kind, for jobs or for single pages. */
type Lane = "jobs" | "singles" | "browser";

interface Waiter {
  /** If undefined, no slot is needed. */
  readonly lane: Lane | undefined;
  /** The owners whose shares it counts towards: the account, then its job. */
  readonly owners: readonly string[];
  /** The account that uses the host; "" for requests of the program, such as for robots.txt. */
  readonly accountId: string;
  readonly claim: Claim | undefined;
  readonly go: () => void;
}

/** Lower numbers go first. */
const RANKS: Readonly<Record<Lane, number>> = { browser: 0, singles: 1, jobs: 2 };

/** Creates a scheduler. The limits are functions because they may change. `shared` are the leases that all nodes share. */
export function createHostScheduler(
  clock: Clock,
  placesMax: Readonly<Record<Lane, () => number>>,
  shared?: HostLeases,
): HostScheduler {
  const queue = new Queue(clock, placesMax, shared);
  return {
    ask: async (claim, signal) => {
      await queue.wait({ lane: undefined, owners: [], accountId: "", claim }, signal);
      return once(() => queue.leave(claim.host, ""));
    },
    work: ({ accountId, id }, claim, signal) =>
      queue.take({ lane: "jobs", owners: [accountId, `${accountId} ${id}`], accountId, claim }, signal),
    visit: (accountId, claim, signal) =>
      queue.take({ lane: "singles", owners: [`singles of ${accountId}`], accountId, claim }, signal),
    show: (accountId, claim, signal) =>
      queue.take({ lane: "browser", owners: [`browser of ${accountId}`], accountId, claim }, signal),
    load: () => ({ running: queue.working.jobs, waiting: queue.waiting.size }),
    singles: () => ({ running: queue.working.singles, waiting: queue.waitingSingles() }),
  };
}

/** The waiting and running requests, and the choice of the next one. */
class Queue {
  /** The waiting requests in the order of arrival. */
  readonly waiting = new Set<Waiter>();
  readonly working = { jobs: 0, singles: 0, browser: 0 };
  readonly #placesMax: Readonly<Record<Lane, () => number>>;
  readonly #hosts: Hosts;
  readonly #shares = new Shares();
  #starts = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(clock: Clock, placesMax: Readonly<Record<Lane, () => number>>, shared: HostLeases | undefined) {
    this.#placesMax = placesMax;
    this.#hosts = new Hosts(clock, shared && new SharedLeases(shared, clock, () => this.#pump()));
  }

  /** Resolves when the waiter may start. Throws `PoolFull` if too many wait, or the signal's reason. */
  async wait(what: Omit<Waiter, "go">, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#isCrowded(what)) throw new PoolFull("Too many pages are waiting to be requested.");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { ...what, go: resolve };
    const stop = () => {
      if (!this.waiting.delete(waiter)) return;
      this.#shares.change(what.owners, (share) => share.waiting--);
      reject(signal?.reason);
    };
    this.waiting.add(waiter);
    this.#shares.change(what.owners, (share) => share.waiting++);
    signal?.addEventListener("abort", stop, { once: true });
    // If the new request cannot run now, no other waiting request can either.
    if (this.#isFree(waiter) && Number.isFinite(this.#hosts.waitMs(what))) this.#pump();
    await promise.finally(() => signal?.removeEventListener("abort", stop));
  }

  /** Waits in the same way, for a page that keeps its slot until its end. */
  async take(what: Omit<Waiter, "go"> & { lane: Lane }, signal?: AbortSignal): Promise<PageSlot> {
    await this.wait(what, signal);
    const leaveHost = once(() => this.leave(what.claim?.host, what.accountId));
    return {
      leaveHost,
      end: once(() => {
        leaveHost();
        this.working[what.lane]--;
        this.#shares.change(what.owners, (share) => share.active--);
        this.#pump();
      }),
    };
  }

  /** Called when the request to the host is over. */
  leave(host: string | undefined, accountId: string): void {
    if (host !== undefined && this.#hosts.leave(host, accountId)) this.#pump();
  }

  waitingSingles(): number {
    let count = 0;
    for (const { lane } of this.waiting) if (lane === "singles") count++;
    return count;
  }

  #pump(): void {
    clearTimeout(this.#timer);
    for (;;) {
      let first: Waiter | undefined;
      let soonestMs = Number.POSITIVE_INFINITY;
      for (const waiter of this.waiting) {
        if (!this.#isFree(waiter)) continue;
        const ms = this.#hosts.waitMs(waiter);
        if (ms > 0) soonestMs = Math.min(soonestMs, ms);
        else if (first === undefined || this.#goesBefore(waiter, first)) first = waiter;
      }
      if (first === undefined) {
        if (Number.isFinite(soonestMs)) this.#timer = setTimeout(() => this.#pump(), Math.ceil(soonestMs));
        return;
      }
      if (!this.#hosts.isGranted(first)) continue;
      this.waiting.delete(first);
      this.#start(first);
    }
  }

  #start({ lane, owners, accountId, claim, go }: Waiter): void {
    this.#starts++;
    if (lane !== undefined) this.working[lane]++;
    this.#shares.change(owners, (share) => {
      share.waiting--;
      share.active++;
      share.served = this.#starts;
    });
    if (claim !== undefined) this.#hosts.enter(claim, accountId);
    go();
  }

  /** Whether the request needs no slot or one is free for it. */
  #isFree({ lane, owners }: Waiter): boolean {
    if (lane === undefined) return true;
    const free = this.#placesMax[lane]() - this.working[lane];
    if (lane === "jobs" || free <= 0) return free > 0;
    return this.#shares.of(owners[0] as string).active <= SHARE_OF_FREE * free;
  }

  /** Whether the first request goes before the second, which arrived earlier. */
  #goesBefore(one: Waiter, other: Waiter): boolean {
    if (one.lane !== other.lane) return rankOf(one) < rankOf(other);
    const level = one.owners.findIndex((owner, index) => owner !== other.owners[index]);
    if (level < 0) return false;
    const [mine, theirs] = [one, other].map(({ owners }) => this.#shares.of(owners[level] as string)) as [Share, Share];
    return mine.active < theirs.active || (mine.active === theirs.active && mine.served < theirs.served);
  }

  #isCrowded({ lane, owners }: Omit<Waiter, "go">): boolean {
    if (this.waiting.size >= WAITING_MAX) return true;
    if (lane !== "singles") return false;
    const own = this.#shares.of(owners[0] as string).waiting;
    return this.waitingSingles() >= SINGLES_WAITING_MAX || own >= SINGLES_WAITING_EACH_MAX;
  }
}

/** The shares of accounts and of their jobs, kept only while they wait or run. */
class Shares {
  readonly #shares = new Map<string, Share>();

  of(name: string): Readonly<Share> {
    return this.#shares.get(name) ?? NO_SHARE;
  }

  /** Changes the shares of the owners. */
  change(owners: readonly string[], change: (share: Share) => void): void {
    for (const name of owners) {
      const share = this.#shares.get(name) ?? { ...NO_SHARE };
      change(share);
      if (share.active === 0 && share.waiting === 0) this.#shares.delete(name);
      else this.#shares.set(name, share);
    }
  }
}

const NO_SHARE: Readonly<Share> = { active: 0, waiting: 0, served: 0 };

/** The times at which hosts may be requested again. */
class Hosts {
  readonly #clock: Clock;
  readonly #hosts = new Map<string, Host>();
  readonly #shared: SharedLeases | undefined;

  constructor(clock: Clock, shared: SharedLeases | undefined) {
    this.#clock = clock;
    this.#shared = shared;
  }

  /**
   * How long a request that could start now must wait; infinite while too many are in progress, or while other nodes are asked.
   */
  waitMs({ claim, accountId }: Pick<Waiter, "claim" | "accountId">): number {
    if (claim === undefined) return 0;
    const ownMs = this.#ownWaitMs(claim, accountId);
    if (ownMs > 0 || this.#shared === undefined) return ownMs;
    return this.#shared.waitMs(claim.host, accountId);
  }

  /** Whether a request that need not wait may start. If not, the other nodes are now asked. */
  isGranted({ claim, accountId }: Pick<Waiter, "claim" | "accountId">): boolean {
    if (claim === undefined || this.#shared === undefined) return true;
    const { host, delayMs } = claim;
    const newcomerMost = PER_HOST_WITH_NEWCOMER_MAX;
    return this.#shared.isGranted(host, { accountId, delayMs, most: PER_HOST_MAX, newcomerMost });
  }

  #ownWaitMs(claim: Claim, accountId: string): number {
    const host = this.#hosts.get(claim.host);
    if (host === undefined) return 0;
    const isNewcomer = accountId !== "" && !host.accounts.has(accountId);
    const most = isNewcomer ? PER_HOST_WITH_NEWCOMER_MAX : PER_HOST_MAX;
    if (host.active >= most) return Number.POSITIVE_INFINITY;
    // If the clock was set back, a host must not be blocked until that time has passed again.
    host.lastMs = Math.min(host.lastMs, this.#clock.now());
    return Math.max(0, host.lastMs + Math.max(host.delayMs, claim.delayMs) - this.#clock.now());
  }

  enter({ host, delayMs }: Claim, accountId: string): void {
    this.#shared?.enter(host, accountId);
    const { active = 0, accounts = new Map<string, number>() } = this.#hosts.get(host) ?? {};
    accounts.set(accountId, (accounts.get(accountId) ?? 0) + 1);
    this.#hosts.delete(host);
    this.#hosts.set(host, { active: active + 1, accounts, lastMs: this.#clock.now(), delayMs });
    if (this.#hosts.size > HOSTS_MAX) this.#forgetOne();
  }

  /** Ends a request to a host. Returns false if none was in progress. */
  leave(name: string, accountId: string): boolean {
    this.#shared?.leave(name, accountId);
    const host = this.#hosts.get(name);
    if (host === undefined) return false;
    host.active--;
    const left = (host.accounts.get(accountId) ?? 0) - 1;
    if (left > 0) host.accounts.set(accountId, left);
    else host.accounts.delete(accountId);
    if (host.active === 0 && host.delayMs === 0) this.#hosts.delete(name);
    return true;
  }

  /** Forgets the host whose last request is the oldest and that has none in progress. */
  #forgetOne(): void {
    for (const [name, { active }] of this.#hosts)
      if (active === 0) {
        this.#hosts.delete(name);
        return;
      }
  }
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
