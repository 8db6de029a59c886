// The cost of requests in the form in which pages and answers show it.

const MICROS_PER_USD = 1_000_000;

/**
 * In dollars; null if it is not known. A cost of zero is known when no tokens were used, or when every model has a price, which may be
 * zero.
 */
export function knownCost(costMicros: number, tokens: number, isPriced: () => boolean): number | null {
  return costMicros === 0 && tokens > 0 && !isPriced() ? null : costMicros / MICROS_PER_USD;
}
