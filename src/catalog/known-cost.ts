// The cost of requests in the form in which pages and answers show it.

const MICROS_PER_USD = 1_000_000;

/**
 * In dollars; null if it is not known. A cost of zero is known when nothing was `used`, or when every model has a price, which may be
 * zero.
 */
export function knownCost(costMicros: number, used: boolean, isPriced: () => boolean): number | null {
  return costMicros === 0 && used && !isPriced() ? null : costMicros / MICROS_PER_USD;
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
