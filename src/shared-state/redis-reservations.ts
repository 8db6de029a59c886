// Reservations that all nodes share: the possible cost of requests in progress on any node, and the cost of those that ended
// until it is written. While Redis cannot be reached, each node may spend its share.

import { ApiError } from "../base/errors.ts";
import { budgetShares } from "./budget-shares.ts";
import { askRedis, type SharedRedis } from "./redis.ts";
import { type BudgetEntry, keysOf, OwnEntries, RESERVE } from "./redis-entries.ts";
import {
  type Budget,
  type BudgetRefusal,
  memoryReservations,
  type Reservation,
  type Reservations,
  refusalIn,
  type Unwritten,
} from "./reservations.ts";

/** What reservations need to be shared with other nodes. */
export interface SharedReservationsOptions {
  readonly redis: Pick<SharedRedis, "isUp" | "run" | "whenUp">;
  /** `local`: each node spends its share; `closed`: requests with a budget are refused. */
  onFailure(): "local" | "closed";
  /** The number of live nodes, including this one. */
  liveNodes(): number;
  /** Unique among nodes, even after restarts. */
  readonly node: string;
  readonly unwritten: Unwritten;
}

/** Reservations with a timer that renews this node's own. */
export interface SharedReservations extends Reservations {
  stop(): void;
}

/**
 * A refusal is looked at again after these times: a request whose answer its client already has may not be settled yet, and cost
 * that another node has just written counts twice for a moment.
 */
const LOOK_AGAIN_MS = [20, 60];
const RETRY_AFTER_SECONDS = 5;

/** What a request asks for. */
interface Wish {
  readonly budgets: readonly Budget[];
  readonly micros: number;
  readonly within: Reservation | undefined;
}

/** A decision; undefined if there is room now that was not there when it was asked for. */
interface Answer {
  readonly hold: Reservation | BudgetRefusal | undefined;
  /** Looking again would change nothing. */
  readonly isFinal: boolean;
}

/** Reservations on Redis. Call `stop` at the end. */
export function sharedReservations(options: SharedReservationsOptions): SharedReservations {
  const { redis, node } = options;
  const local = memoryReservations();
  const entries = new OwnEntries(options);
  const shares = budgetShares(options);
  let count = 0;

  /** Decides without Redis: by this node's share, or by refusing the request. */
  const alone = async ({ budgets, micros, within }: Wish, entry: BudgetEntry): Promise<Reservation | BudgetRefusal> => {
    if (options.onFailure() === "closed") {
      // The question may have reached Redis, though its answer came too late.
      await entries.drop(entry);
      throw new ApiError("server_busy", "Budgets cannot be checked at the moment. Try again shortly.", {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    // Without the database too, the share of what was left last counts.
    await refreshed(budgets).catch(() => undefined);
    const decided = await local.reserve(budgets.map(shares.of), micros, within);
    // Redis will be told when it is there again.
    if (!("why" in decided)) return entries.track(decided, entry, () => shares.ended(budgets));
    await entries.drop(entry);
    const budget = budgets.find(({ id }) => id === decided.budget.id) ?? decided.budget;
    // What is left may be spent by the other nodes.
    return { budget, why: budget.leftMicros() > 0 ? "in_use" : decided.why };
  };

  /** Adds an entry if there is room, and decides by what was spent when it was there: so nobody's cost is missed. */
  const together = async ({ budgets, micros, within }: Wish, entry: BudgetEntry): Promise<Answer> => {
    const left = budgets.map((budget) => Math.floor(budget.leftMicros()));
    const args = [entry.name, micros, entries.nameOf(within), node, ...left];
    const reply = await askRedis(redis, RESERVE, { keys: keysOf(entry.budgets), args }).catch(() => undefined);
    // It may be reserved nevertheless.
    if (reply === undefined) return { hold: await alone({ budgets, micros, within }, entry), isFinal: true };
    shares.clear();
    const [added, ...counted] = reply.slice(0, -1).map(Number);
    try {
      // Other nodes spend too. Read after the entries: what one of them stood for is in the database if it is gone.
      await refreshed(budgets);
    } catch (error) {
      await entries.drop(entry);
      throw error;
    }
    const refused = refusalIn(budgets, micros, (budget, at) => {
      const [held = 0, requests = 0, unwritten = 0] = counted.slice(3 * at, 3 * at + 3);
      return {
        left: Math.floor(budget.leftMicros()) - unwritten,
        held: requests === 0 ? undefined : { micros: held, requests },
      };
    });
    if (refused === undefined && added === 1)
      return { hold: entries.track(local.hold(budgets, micros), entry), isFinal: true };
    if (added === 1) await entries.drop(entry);
    return { hold: refused, isFinal: refused !== undefined && counted.every((figure) => figure === 0) };
  };

  return {
    async reserve(budgets, cost, within) {
      const wish: Wish = { budgets, micros: Math.ceil(cost), within };
      for (let look = 0; ; look++) {
        count += 1;
        const entry: BudgetEntry = { name: `${node}:${count}:${wish.micros}`, budgets: budgets.map(({ id }) => id) };
        if (!redis.isUp()) return await alone(wish, entry);
        const { hold, isFinal } = await together(wish, entry);
        const pauseMs = LOOK_AGAIN_MS[look];
        if (hold !== undefined && (isFinal || pauseMs === undefined)) return hold;
        // There is room now, but others take it each time.
        if (pauseMs === undefined) return { budget: budgets[0] as Budget, why: "in_use" };
        if (hold !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
    refusal: (budgets) => local.refusal(budgets),
    stop: () => entries.stop(),
  };
}

async function refreshed(budgets: readonly Budget[]): Promise<void> {
  await Promise.all(budgets.map((budget) => budget.refresh?.()));
}
