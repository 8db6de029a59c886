// Connects llms.txt in a running gateway.

import { type JobKind, lazyKind } from "../../jobs/kind.ts";

/** The kind of job of llms.txt, whose code is loaded with its first job. */
export function llmstxtJobs(deps: Parameters<typeof import("./kind.ts").llmstxtKind>[0]): JobKind {
  return lazyKind("llmstxt", () => {
    const { llmstxtKind }: typeof import("./kind.ts") = require("./kind.ts");
    return llmstxtKind(deps);
  });
}
