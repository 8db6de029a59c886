// Labels for more options than there are letters to read: pairs of letters that the engine's tokenizer keeps whole, so that
// one call scores all of them by their tokens. Which pairs those are is asked of the engine, never assumed.

import type { Upstream } from "./backend.ts";

/** A label that is one token. */
export interface TokenLabel {
  readonly text: string;
  readonly id: number;
}

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const PAIRS = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

/** The pairs from AA that are one token at the start of an answer. Throws what the call throws. */
export async function wholeLabels(upstream: Upstream): Promise<TokenLabel[]> {
  // A line each, as they stand at the start of a text; what is cut or joined is no pair any more and falls out.
  const tokens = await upstream.tokens(PAIRS.join("\n"));
  const ids = new Map(tokens.map(({ text, id }) => [text, id]));
  return PAIRS.flatMap((text) => {
    const id = ids.get(text);
    return id === undefined ? [] : [{ text, id }];
  });
}
