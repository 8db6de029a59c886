// Questions about a provider's quirks that several dialects ask.

import type { RequestContext } from "./dialect.ts";

/** The top-level parameters that this provider refuses for this model. */
export function refusedFor(ctx: Pick<RequestContext, "model" | "quirks">): readonly string[] {
  const always = ctx.quirks.refuses ?? [];
  const byModel = ctx.quirks.refuses_by_model;
  if (byModel === undefined) return always;
  const refused = new Set(always);
  for (const [glob, names] of Object.entries(byModel)) {
    if (matches(glob, ctx.model)) for (const name of names) refused.add(name);
  }
  return [...refused];
}

/** True when `*` in the glob stands for anything and all else for itself; letter case is ignored. */
function matches(glob: string, model: string): boolean {
  const [first = "", ...rest] = glob.toLowerCase().split("*");
  const name = model.toLowerCase();
  if (rest.length === 0) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  const last = rest.pop() ?? "";
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - at >= last.length && name.endsWith(last);
}
