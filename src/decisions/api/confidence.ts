// The confidence of a distribution, from 0 (uniform) to 1 (certain). Clients of this format tune their thresholds to these
// formulas, so a change needs a new name in the version record.

/** The name of these formulas in version records. */
export const CONFIDENCE_FORMULA = "typesafe@1";

/** The confidence of a choice: how far the most probable option exceeds an equal share. */
export function choiceConfidence(probabilities: readonly number[]): number {
  const k = probabilities.length;
  if (k <= 1) return 1;
  return clamp((Math.max(...probabilities) - 1 / k) / (1 - 1 / k));
}

/**
 * The confidence of a score: how much of the probability is concentrated around the most probable level, relative to an even
 * spread around the middle.
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

/** The index of the largest value; if several are equal, the first. */
export function argMax(values: readonly number[]): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[best]!) best = i;
  return best;
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
