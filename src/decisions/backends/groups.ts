// Choices with more options than the engine's letters can label. They are asked in groups, each with "none of these", followed by
// a final among the best options of all groups. Pure: takes readings and returns probabilities.

/** A group that was asked. */
export interface AskedGroup {
  readonly options: readonly number[];
  /** The probabilities by index in `options`; together with `none` they sum to 1. */
  readonly shares: readonly number[];
  /** The probability of "none of these". */
  readonly none: number;
}

/** The smallest probability of an option in a large choice. */
const TAIL_FLOOR = 1e-6;
/** The smallest divisor, which keeps quotients finite. */
const LEAST = 1e-12;

/** The best options of each group as far as there is room, then the best of the rest. */
export function finalistsOf(groups: readonly AskedGroup[], room: number): number[] {
  const weights = new Map(groups.flatMap(({ options, shares }) => options.map((option, at) => [option, shares[at]!])));
  const byWeight = (a: number, b: number) => weights.get(b)! - weights.get(a)! || a - b;
  const winners = groups.map(({ options }) => [...options].sort(byWeight)[0]!).sort(byWeight);
  const chosen = new Set(winners.slice(0, room));
  const rest = groups.flatMap(({ options }) => options).sort(byWeight);
  for (const option of rest) {
    if (chosen.size >= room) break;
    chosen.add(option);
  }
  return [...chosen].sort((a, b) => a - b);
}

/**
 * The probability of each option. `final`: each finalist's share in the final. Within a group, the options keep their
 * proportions. The group's total is that of its finalists in the final, where all were compared under the same conditions. The
 * probability that a group gave to "none of these" means little: a model with a constant probability for it gives it to every
 * group of wrong options, and fifteen such groups would outweigh the right one.
 */
export function joinGroups(groups: readonly AskedGroup[], final: ReadonlyMap<number, number>): number[] {
  const scales = scalesOf(groups, final);
  const joined: number[] = [];
  groups.forEach(({ options, shares }, at) => {
    options.forEach((option, place) => {
      joined[option] = final.get(option) ?? shares[place]! * scales[at]!;
    });
  });
  const total = joined.reduce((sum, p) => sum + p, 0);
  const floored = joined.map((p) => Math.max(p / total, TAIL_FLOOR));
  const sum = floored.reduce((all, p) => all + p, 0);
  return floored.map((p) => p / sum);
}

/** For each group, the factor from its shares to the final. */
function scalesOf(groups: readonly AskedGroup[], final: ReadonlyMap<number, number>): number[] {
  const own = groups.map(({ options, shares }) => {
    let [inFinal, inGroup] = [0, 0];
    options.forEach((option, at) => {
      const share = final.get(option);
      if (share === undefined) return;
      inFinal += share;
      inGroup += shares[at]!;
    });
    return inGroup === 0 ? undefined : inFinal / Math.max(inGroup, LEAST);
  });
  // If an engine shows few alternatives, there may be more groups than finalists. A group without a finalist is compared, by
  // "none of these", with the least certain group that has one, since that group is the most similar.
  let nearest = -1;
  groups.forEach(({ none }, at) => {
    if (own[at] !== undefined && (nearest < 0 || none > groups[nearest]!.none)) nearest = at;
  });
  const anchor = own[nearest]! * groups[nearest]!.none;
  return own.map((scale, at) => scale ?? anchor / Math.max(groups[at]!.none, LEAST));
}
