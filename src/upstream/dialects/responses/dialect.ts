// The dialect openai-responses, whose code is loaded with the first use of a provider that speaks it.

import { lateDialect } from "../late.ts";

/** The dialect. */
export const openaiResponses = lateDialect(
  { name: "openai-responses", takesToolGroups: true, maxTokensMin: 16 },
  () => {
    const { RESPONSES_DIALECT }: typeof import("./code.ts") = require("./code.ts");
    return RESPONSES_DIALECT;
  },
);
