// Answers equal requests to endpoints whose answer is one text. The code for it is loaded with the first request.

import { lazily } from "../../../base/lazily.ts";
import type { CacheDeps, TextCache } from "./deps.ts";

/** Creates the function that looks requests up. */
export function createTextCache(deps: CacheDeps): TextCache {
  const lookUp = lazily(() => {
    const { createTextLookUp }: typeof import("./texts.ts") = require("./texts.ts");
    return createTextLookUp(deps);
  });
  return (asked) => (deps.settings().mode === "off" ? undefined : lookUp()(asked));
}
