// What requests in progress may still cost. A request that counts against a budget reserves the most it can cost before
// it goes up, and gives that back once its real cost is written down: so requests that run side by side cannot each
// spend the same rest of a budget.

/** A limit on what is spent, as one request meets it. */
export interface Budget {
  /** Unique over keys and accounts. */
  readonly id: string;
  readonly of: "key" | "account";
  /**
   * Micro-dollars left of it by what was spent so far, requests in progress not counted; negative where it is
   * overdrawn.
   */
  leftMicros(): number;
}

/** What a request holds of its budgets. */
export interface Hold {
  /** What it reserved; undefined once all have released theirs. */
  held(): number | undefined;
  /** Gives it back, once for each holder; further calls do nothing. */
  release(): void;
  /** One holder more: the hold lasts until both have released theirs. */
  share(): Hold;
}

/** Why a request is not let in: the budget is spent, or others in progress may yet spend it. */
export interface BudgetRefusal {
  readonly budget: Budget;
  readonly why: "spent" | "in_use";
}

/**
 * The reservations of all requests in progress. A budget is overdrawn by the cost of one request at most: beyond what
 * fits, one is admitted only where something is left and nothing else is in progress.
 */
export interface Reservations {
  /**
   * Reserves the same amount of every budget, or of none. `within`: what the request already holds, for a part of it that is
   * paid apart; its own reservation does not stand in its way.
   */
  reserve(budgets: readonly Budget[], micros: number, within?: Hold): Promise<Hold | BudgetRefusal>;
  /** Why no request is admitted, whatever it costs; undefined when some are. */
  refusal(budgets: readonly Budget[]): BudgetRefusal | undefined;
}

/** Reservations in this process's memory: they end with it, as the requests do. */
export function memoryReservations(): Reservations {
  const open = new Map<string, { micros: number; requests: number }>();

  const judge = (budget: Budget, micros: number, own: number | undefined): BudgetRefusal["why"] | undefined => {
    const held = without(open.get(budget.id), own);
    const left = budget.leftMicros();
    if (left <= 0) return held === undefined ? "spent" : "in_use";
    // What costs nothing cannot overdraw; the only one in progress may, once.
    return micros === 0 || held === undefined || held.micros + micros <= left ? undefined : "in_use";
  };

  const refusal = (budgets: readonly Budget[], micros: number, own?: number): BudgetRefusal | undefined => {
    let found: BudgetRefusal | undefined;
    for (const budget of budgets) {
      const why = judge(budget, micros, own);
      if (why === "spent") return { budget, why };
      if (why !== undefined) found ??= { budget, why };
    }
    return found;
  };

  const add = (budgets: readonly Budget[], micros: number, requests: 1 | -1): void => {
    for (const { id } of budgets) {
      const held = open.get(id) ?? { micros: 0, requests: 0 };
      held.micros += requests * micros;
      held.requests += requests;
      if (held.requests === 0) open.delete(id);
      else open.set(id, held);
    }
  };

  return {
    async reserve(budgets, micros, within) {
      const refused = refusal(budgets, micros, within?.held());
      if (refused !== undefined) return refused;
      add(budgets, micros, 1);
      return sharedHold(micros, () => add(budgets, micros, -1));
    },
    refusal: (budgets) => refusal(budgets, 0),
  };
}

/** What is held by others than the one request that holds `own`; undefined where there are none. */
function without<H extends { micros: number; requests: number }>(held: H | undefined, own: number | undefined) {
  if (held === undefined || own === undefined) return held;
  return held.requests <= 1 ? undefined : { micros: held.micros - own, requests: held.requests - 1 };
}

/** A hold that ends with its last holder. */
function sharedHold(micros: number, end: () => void): Hold {
  let holders = 0;
  const join = (): Hold => {
    let mine = true;
    holders += 1;
    return {
      held: () => (holders === 0 ? undefined : micros),
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
