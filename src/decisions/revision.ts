// The prompts and formulas of a version. They are part of its identity: a stored version keeps its own for one release, and
// everything created anew has the current ones.

/**
 * The current revision. A change of wording, order of the options or formula between an answer and its probabilities needs a
 * new one.
 */
export const REVISION = 3;

/** The previous release's. When the next revision is made, the code for this one is removed: `backends/former.ts`. */
export const FORMER_REVISION = 2;

/** Whether a version uses the previous release's prompts and formulas. */
export function isFormer({ revision }: { readonly revision: number }): boolean {
  return revision === FORMER_REVISION;
}
