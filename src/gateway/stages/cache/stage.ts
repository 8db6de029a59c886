// Answers an equal request with the answer that was given before, where the operator allows it. The code for it is loaded with the
// first request that may be looked up.

import { lazily } from "../../../base/lazily.ts";
import type { Stage } from "../../centre/stage.ts";
import type { CacheDeps } from "./deps.ts";

/** Creates the stage. */
export function createCacheStage(deps: CacheDeps): Stage {
  const opener = lazily(() => {
    const { createOpener }: typeof import("./run.ts") = require("./run.ts");
    return createOpener(deps);
  });
  return {
    name: "cache",
    open: (turn) => (deps.settings().mode === "off" ? undefined : opener()(turn)),
  };
}
