// The dialect anthropic-messages, whose code is loaded with the first use of a provider that speaks it.

import { lateDialect } from "../late.ts";

/** The dialect. */
export const anthropicMessages = lateDialect(
  { name: "anthropic-messages", hasThreads: true, parsesInputs: true, countsTokens: true, namesHeaders: true },
  () => {
    const { ANTHROPIC_DIALECT }: typeof import("./code.ts") = require("./code.ts");
    return ANTHROPIC_DIALECT;
  },
);
