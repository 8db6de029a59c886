// Dialects whose code is loaded when a provider that speaks them is first used. Most installations use one or two.

import { lazily } from "../../base/lazily.ts";
import type { Dialect } from "../dialect.ts";

/** What is known of a dialect without its code. */
export interface DialectTraits
  extends Pick<Dialect, "name" | "toolNames" | "takesToolGroups" | "hasThreads" | "parsesInputs" | "maxTokensMin"> {
  /** Whether the dialect has `tokenCount`. */
  readonly countsTokens?: true;
  /** Whether the dialect has `familyHeaders`. */
  readonly namesHeaders?: true;
}

/** A dialect with these traits, whose code `load` gives at its first use. */
export function lateDialect({ countsTokens, namesHeaders, ...traits }: DialectTraits, load: () => Dialect): Dialect {
  const code = lazily(load);
  return {
    ...traits,
    request: (chat, ctx) => code().request(chat, ctx),
    reader: () => code().reader(),
    events: (body) => code().events(body),
    fault: (status, body, headers) => code().fault(status, body, headers),
    get lossless() {
      return code().lossless;
    },
    ...(namesHeaders && { familyHeaders: (headers) => code().familyHeaders?.(headers) ?? {} }),
    ...(countsTokens && {
      tokenCount: (text, chat, ctx, members) => (code() as Required<Dialect>).tokenCount(text, chat, ctx, members),
    }),
  };
}
