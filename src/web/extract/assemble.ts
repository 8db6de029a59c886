// Connects extraction in a running gateway: its kind of job, and what its endpoints need.

import type { FindWebModel } from "../../gateway/inner/web-model.ts";
import { type JobKind, lazyKind } from "../../jobs/kind.ts";
import type { WaitedJobsDeps } from "../waited-jobs.ts";
import type { ExtractJobsDeps } from "./jobs.ts";
import type { ExtractKindDeps } from "./kind.ts";
import { createExtractThreads } from "./threads.ts";

/** What extraction is built from. */
export interface ExtractServiceDeps extends Omit<ExtractKindDeps, "threads"> {
  readonly findModel: FindWebModel;
}

/** Creates extraction. `jobs` needs the job runner. */
export function createExtractService(deps: ExtractServiceDeps) {
  const threads = createExtractThreads();
  const kind: JobKind = lazyKind("extract", () => {
    const { extractKind }: typeof import("./kind.ts") = require("./kind.ts");
    return extractKind({ ...deps, threads });
  });
  return {
    kind,
    threads,
    jobs: (waited: WaitedJobsDeps & Pick<ExtractJobsDeps, "guard">): ExtractJobsDeps => ({
      ...waited,
      threads,
      findModel: deps.findModel,
    }),
    close: () => threads.close(),
  };
}
