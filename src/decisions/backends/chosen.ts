// Labels for more options than there are letters: pairs of letters that are one token in the engine's tokenizer, so that one call
// can score all of them. The engine is asked which pairs these are.

import type { Upstream } from "./backend.ts";

/** A label that is a single token. */
export interface TokenLabel {
  readonly text: string;
  readonly id: number;
}

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const PAIRS = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

/** The pairs, beginning with AA, that are a single token at the start of an answer. Throws the error of the call. */
export async function wholeLabels(upstream: Upstream): Promise<TokenLabel[]> {
  // Each pair is on a line of its own, which is like the start of a text. Pairs that are split or merged are dropped.
  const tokens = await upstream.tokens(PAIRS.join("\n"));
  const ids = new Map(tokens.map(({ text, id }) => [text, id]));
  return PAIRS.flatMap((text) => {
    const id = ids.get(text);
    return id === undefined ? [] : [{ text, id }];
  });
}
