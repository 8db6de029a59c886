// Choices with more options than the engine's letters can label: asked in groups, each with "none of these", and a final
// among the best of all groups. Pure: readings in, probabilities out.

/** A group that was asked. */
export interface AskedGroup {
  readonly options: readonly number[];
  /** By index in `options`; they sum to 1 together with `none`. */
  readonly shares: readonly number[];
  /** The probability of "none of these". */
  readonly none: number;
}

/** No option of a large choice is impossible. */
const TAIL_FLOOR = 1e-6;
/** Keeps a quotient finite. */
const LEAST = 1e-12;

/** The best of each group as far as they fit, then the best of the rest. */
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
 * Probabilities by option. `final`: each finalist's share of the final. Within a group the options keep their proportions,
 * and a group's mass is that of its finalists in the final, where all were compared under the same conditions. The mass that
 * a group gave to "none of these" says little: a model with a constant probability for "none" gives every group of wrong
 * options the same, and fifteen such groups would outweigh the right one.
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

/** By group: the factor from its shares to the final. */
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
  // More groups than finalists, if an engine shows few alternatives: groups without a finalist are compared by "none of
  // these" with the least certain group that has one, which is the most similar.
  let nearest = -1;
  groups.forEach(({ none }, at) => {
    if (own[at] !== undefined && (nearest < 0 || none > groups[nearest]!.none)) nearest = at;
  });
  const anchor = own[nearest]! * groups[nearest]!.none;
  return own.map((scale, at) => scale ?? anchor / Math.max(groups[at]!.none, LEAST));
}
