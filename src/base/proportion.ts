// How sure a share is that was counted on a sample.

/** A share with its 95 % interval (Wilson's). */
export interface Proportion {
  /** Null if nothing was counted. */
  readonly value: number | null;
  readonly low: number;
  readonly high: number;
}

/** The normal quantile of 97.5 %. */
const Z = 1.959964;

/** The share of `hits` among `count`. */
export function proportion(hits: number, count: number): Proportion {
  if (count === 0) return { value: null, low: 0, high: 1 };
  const value = hits / count;
  const square = (Z * Z) / count;
  const middle = (value + square / 2) / (1 + square);
  const half = (Z * Math.sqrt((value * (1 - value) + square / 4) / count)) / (1 + square);
  return { value, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}
