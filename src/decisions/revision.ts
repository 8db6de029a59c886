// Which words and formulas a version is asked and read with. They are part of what a version is: a stored version keeps
// those it was stored with for one release, and everything made again has the current ones.

/** The current ones. Another wording, order of the options or formula between an answer and its probabilities is a new one. */
export const REVISION = 3;

/** Those of the release before. When the next revision is made, what serves this one goes: `backends/former.ts`. */
export const FORMER_REVISION = 2;

/** True for a version that is asked and read as the release before did it. */
export function isFormer({ revision }: { readonly revision: number }): boolean {
  return revision === FORMER_REVISION;
}
