// Makes routes, without loading the framework before they are needed.

import { lazily } from "../base/lazily.ts";

const load = lazily(() => {
  const { madeRouter }: typeof import("./framework.ts") = require("./framework.ts");
  return madeRouter;
});

/** Routes, none so far. */
export const createRouter: typeof import("./framework.ts").madeRouter = (options) => load()(options);
