// The order in which a model's routes are tried: by priority, and at random by weight among routes of equal priority. Pure: the
// state of breakers, and the failures of this request, are passed in.

/** The members of a route that determine its order. */
export interface Orderable {
  readonly provider: string;
  /** Lower values go first. */
  readonly priority: number;
  /** The weight among routes of equal priority. With 0 or less, a route comes after all others of its priority. */
  readonly weight: number;
}

export interface OrderOptions<R> {
  /** A random number, uniform in [0, 1). */
  readonly random: () => number;
  /** Whether a route may not be tried now: its breaker is open, or it has already failed in this request. */
  readonly skip?: (route: R) => boolean;
}

/** The routes that may be tried, in order. The same input and random numbers always give the same order. */
export function orderRoutes<R extends Orderable>(routes: readonly R[], options: OrderOptions<R>): R[] {
  const { skip, random } = options;
  const eligible = skip === undefined ? [...routes] : routes.filter((route) => !skip(route));
  if (eligible.length <= 1) return eligible;
  eligible.sort((a, b) => a.priority - b.priority);
  const out: R[] = [];
  let from = 0;
  while (from < eligible.length) {
    let to = from + 1;
    while (to < eligible.length && eligible[to]!.priority === eligible[from]!.priority) to++;
    if (to - from === 1) out.push(eligible[from]!);
    else drawAll(eligible.slice(from, to), random, out);
    from = to;
  }
  return out;
}

/** Moves the routes of a group to `out` by weighted random choice without replacement. */
function drawAll<R extends Orderable>(group: R[], random: () => number, out: R[]): void {
  while (group.length > 0) {
    let total = 0;
    for (const route of group) total += weightOf(route);
    let at = group.length - 1;
    if (total === 0) at = 0;
    else {
      let mark = random() * total;
      for (let i = 0; i < group.length; i++) {
        const weight = weightOf(group[i]!);
        if (weight > 0) at = i;
        mark -= weight;
        if (mark < 0) break;
      }
    }
    out.push(...group.splice(at, 1));
  }
}

function weightOf(route: Orderable): number {
  return route.weight > 0 && Number.isFinite(route.weight) ? route.weight : 0;
}
