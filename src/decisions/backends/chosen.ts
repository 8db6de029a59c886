// Labels for more options than there are letters: pairs of letters that are one token in the engine's tokenizer, so that one
// call scores all of them. The engine is asked which pairs those are.

import type { Upstream } from "./backend.ts";

/** A label that is one token. */
export interface TokenLabel {
  readonly text: string;
  readonly id: number;
}

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const PAIRS = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

/** The pairs from AA on that are one token at the start of an answer. Throws what the call throws. */
export async function wholeLabels(upstream: Upstream): Promise<TokenLabel[]> {
  // One line each, as at the start of a text; pairs that are split or merged are dropped.
  const tokens = await upstream.tokens(PAIRS.join("\n"));
  const ids = new Map(tokens.map(({ text, id }) => [text, id]));
  return PAIRS.flatMap((text) => {
    const id = ids.get(text);
    return id === undefined ? [] : [{ text, id }];
  });
}
