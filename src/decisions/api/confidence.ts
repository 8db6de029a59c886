// The confidence of a distribution, from 0 (uniform) to 1 (certain). Clients of this format tune their thresholds to these
// formulas, so a change needs a new name in the version record.

/** The name of these formulas in version records. */
export const CONFIDENCE_FORMULA = "typesafe@1";

/** A choice's confidence: how far the most probable option exceeds an equal share. */
export function choiceConfidence(probabilities: readonly number[]): number {
  const k = probabilities.length;
  if (k <= 1) return 1;
  return clamp((Math.max(...probabilities) - 1 / k) / (1 - 1 / k));
}

/**
 * A score's confidence: how concentrated the levels' mass is around the most probable one, relative to an even spread around
 * the middle.
 */
export function scoreConfidence(probabilities: readonly number[]): number {
  const k = probabilities.length;
  if (k <= 1) return 1;
  const mode = argMax(probabilities);
  let spread = 0;
  let even = 0;
  for (let i = 0; i < k; i++) {
    spread += probabilities[i]! * Math.abs(i - mode);
    even += Math.abs(i - (k - 1) / 2) / k;
  }
  return clamp(1 - spread / even);
}

/** The index of the largest value, the first of equals. */
export function argMax(values: readonly number[]): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[best]!) best = i;
  return best;
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
