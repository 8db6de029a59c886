// Reservations of requests in progress. A request that counts against a budget reserves its maximum cost before it is sent
// upstream, and releases it once its real cost is recorded: so concurrent requests cannot each spend the same remainder of a
// budget.

/** A spending limit, as one request sees it. */
export interface Budget {
  /** Unique over keys, projects, accounts and agent runs. */
  readonly id: string;
  readonly of: "key" | "project" | "account" | "run";
  /**
   * What is left of it in micro-dollars, not counting requests in progress; negative if it is overdrawn.
   */
  leftMicros(): number;
  /** Its amount in micro-dollars, and when it is full again; null: never. For the error of a refused request. */
  terms?(): { readonly limitMicros: number; readonly resetsAtMs: number | null };
  /** The error of a refused request, where it is another one than that of keys and accounts. */
  refused?(): Error;
  /** Reads again what was spent, by other nodes too; absent where no other node spends. */
  refresh?(): Promise<unknown>;
}

/** A request's reservation in its budgets. */
export interface Reservation {
  /** The reserved amount, of this budget; undefined once all holders have released it, or if it holds nothing of the budget. */
  held(budgetId?: string): number | undefined;
  /** Releases it, once for each holder; further calls do nothing. */
  release(): void;
  /** Adds a holder: the reservation lasts until all have released it. */
  share(): Reservation;
}

/** Why a request is refused: the budget is spent, or others in progress may yet spend it. */
export interface BudgetRefusal {
  readonly budget: Budget;
  readonly why: "spent" | "in_use";
}

/**
 * The reservations of all requests in progress. A budget is overdrawn by at most the cost of one request: if the remainder is
 * too small, one request is admitted only if something is left and nothing else is in progress.
 */
export interface Reservations {
  /**
   * Reserves the same amount in every budget, or in none. `within`: the request's own reservation, for a part of it that is
   * paid separately; it does not count against the part.
   */
  reserve(budgets: readonly Budget[], micros: number, within?: Reservation): Promise<Reservation | BudgetRefusal>;
  /** Why no request is admitted, whatever it costs; undefined if some are. */
  refusal(budgets: readonly Budget[]): BudgetRefusal | undefined;
}

/** Cost of ended requests that is not in the database yet, and so is unknown to other nodes. */
export interface Unwritten {
  /** The cost of a key or account, on this node. */
  pendingMicros(id: string): number;
  /** Calls `listener` with amounts at the moment at which they are no longer pending. */
  whenWritten(listener: (spent: readonly { readonly id: string; readonly costMicros: number }[]) => void): void;
}

/** Reservations to which one that was decided elsewhere can be added. */
export interface MemoryReservations extends Reservations {
  hold(budgets: readonly Budget[], micros: number): Reservation;
}

/** Reservations in this process's memory: they end with it, as the requests do. */
export function memoryReservations(): MemoryReservations {
  const reserved = new Map<string, { micros: number; requests: number }>();

  const refusal = (budgets: readonly Budget[], micros: number, own?: Reservation): BudgetRefusal | undefined =>
    refusalIn(budgets, micros, (budget) => ({
      left: budget.leftMicros(),
      held: without(reserved.get(budget.id), own?.held(budget.id)),
    }));

  const add = (budgets: readonly Budget[], micros: number, requests: 1 | -1): void => {
    for (const { id } of budgets) {
      const held = reserved.get(id) ?? { micros: 0, requests: 0 };
      held.micros += requests * micros;
      held.requests += requests;
      if (held.requests === 0) reserved.delete(id);
      else reserved.set(id, held);
    }
  };

  const hold = (budgets: readonly Budget[], micros: number): Reservation => {
    add(budgets, micros, 1);
    return sharedHold({ budgets, micros }, () => add(budgets, micros, -1));
  };

  return {
    hold,
    async reserve(budgets, micros, within) {
      const refused = refusal(budgets, micros, within);
      if (refused !== undefined) return refused;
      return hold(budgets, micros);
    },
    refusal: (budgets) => refusal(budgets, 0),
  };
}

/** What is left of a budget, and what requests in progress hold of it; undefined if there are none. */
interface BudgetState {
  readonly left: number;
  readonly held: { readonly micros: number; readonly requests: number } | undefined;
}

/** Why budgets in these states refuse a request; undefined if they admit it. */
export function refusalIn(
  budgets: readonly Budget[],
  micros: number,
  stateOf: (budget: Budget, at: number) => BudgetState,
): BudgetRefusal | undefined {
  let found: BudgetRefusal | undefined;
  for (const [at, budget] of budgets.entries()) {
    const { left, held } = stateOf(budget, at);
    if (left <= 0 && held === undefined) return { budget, why: "spent" };
    // A free request cannot overdraw; the only one in progress may, once.
    const fits = left > 0 && (micros === 0 || held === undefined || held.micros + micros <= left);
    if (!fits) found ??= { budget, why: "in_use" };
  }
  return found;
}

/** What others have reserved than the request that has reserved `own` itself; undefined if there are none. */
function without<H extends { micros: number; requests: number }>(held: H | undefined, own: number | undefined) {
  if (held === undefined || own === undefined) return held;
  return held.requests <= 1 ? undefined : { micros: held.micros - own, requests: held.requests - 1 };
}

/** A reservation that ends with its last holder. */
function sharedHold(
  { budgets, micros }: { readonly budgets: readonly Budget[]; readonly micros: number },
  end: () => void,
): Reservation {
  const holds = (budgetId: string | undefined) => budgetId === undefined || budgets.some(({ id }) => id === budgetId);
  let holders = 0;
  const join = (): Reservation => {
    let mine = true;
    holders += 1;
    return {
      held: (budgetId) => (holders > 0 && holds(budgetId) ? micros : undefined),
      release() {
        if (!mine) return;
        mine = false;
        holders -= 1;
        if (holders === 0) end();
      },
      share: join,
    };
  };
  return join();
}
