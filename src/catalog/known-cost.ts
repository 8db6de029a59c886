// The cost of requests in the form in which pages and answers show it.

const MICROS_PER_USD = 1_000_000;

/**
 * In dollars; null if it is not known: if nothing of what was used had a known price when it was used. `unpriced`: the upstream calls
 * without one, which rows of older versions do not have; of these, a cost of zero is known when nothing was `used`, or when every model
 * has a price now, which may be zero.
 */
export function knownCost(
  { costMicros, unpriced }: { readonly costMicros: number; readonly unpriced: number | boolean | null },
  used: boolean,
  isPriced: () => boolean,
): number | null {
  if (costMicros === 0 && (Number(unpriced ?? 0) > 0 || (used && !isPriced()))) return null;
  return costMicros / MICROS_PER_USD;
}

/** Whether a provider did something that it may bill: tokens were counted, or a model answered in images or speech. */
export function usesSomething(row: {
  readonly model: string;
  readonly status: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}): boolean {
  return row.inputTokens + row.outputTokens > 0 || (row.model !== "" && row.status < 400);
}
