// The revision of a version's prompts and formulas. It is part of the version's identity: a stored version keeps its own revision
// for one release, and every new version has the current one.

/**
 * The current revision. A change of wording, of the order of options, or of a formula between an answer and its probabilities
 * needs a new one.
 */
export const REVISION = 3;

/**
 * The revision of the previous release. When the next revision is made, the code for this one is removed: `backends/former.ts`.
 */
export const LEGACY_REVISION = 2;

/** Whether a version uses the prompts and formulas of the previous release. */
export function isFormer({ revision }: { readonly revision: number }): boolean {
  return revision === LEGACY_REVISION;
}
