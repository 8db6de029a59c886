// The dialect gemini, whose code is loaded with the first use of a provider that speaks it.

import { lateDialect } from "../late.ts";
import { GEMINI_NAMES } from "./names.ts";

/** The dialect. */
export const gemini = lateDialect(
  { name: "gemini", toolNames: GEMINI_NAMES, parsesInputs: true, countsTokens: true },
  () => {
    const { GEMINI_DIALECT }: typeof import("./code.ts") = require("./code.ts");
    return GEMINI_DIALECT;
  },
);
