// Reports a job's progress to a client while the endpoint that started the job waits for its end.

import { pause } from "../base/retry.ts";
import type { InnerRun } from "../http/inner-call.ts";
import { jobAsk } from "./jobs.ts";
import type { JsonRecord, ToolRun } from "./tool.ts";

const LOOK_MS = 1000;

/**
 * The answer of a call that waits for a job. The endpoint puts the job's id into its log fields, by which the job's state is read
 * meanwhile.
 */
export async function watchJob(
  { answer, log }: InnerRun,
  { look, progress, signal }: Pick<ToolRun, "look" | "progress" | "signal">,
): Promise<JsonRecord> {
  const over = new AbortController();
  const stop = AbortSignal.any([signal, over.signal]);
  const watch = async () => {
    let before = "";
    for (;;) {
      await pause(LOOK_MS, stop);
      if (log["job_id"] === undefined) continue;
      const job = await look(jobAsk(log["job_id"]));
      stop.throwIfAborted();
      const now = JSON.stringify([job["completed"], job["total"], job["stage"]]);
      if (now !== before) progress(job);
      before = now;
    }
  };
  // The reports end with the call. A failed report is not an error, since progress is optional.
  watch().catch(() => undefined);
  try {
    return await answer;
  } finally {
    over.abort();
  }
}
