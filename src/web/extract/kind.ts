// The kind of job for extractions: runs the extraction with its caller's model, and maps the outcome to the job's state.

import { ApiError } from "../../base/errors.ts";
import type { FindWebModel } from "../../gateway/inner/web-model.ts";
import { type JobFailure, type JobKind, type JobOutcome, JobTimeout, type RunningJob } from "../../jobs/kind.ts";
import { asWebError, endsWorker } from "../failure.ts";
import { type ExtractInput, schemaRefused } from "./input.ts";
import { createExtract, type ExtractDeps, type ExtractStore } from "./run.ts";

/** The parameters as they are stored with the job. */
export interface StoredExtract extends ExtractInput {
  readonly keyId: string;
  readonly requestId: string;
}

/** What the kind needs. */
export interface ExtractKindDeps extends ExtractDeps {
  readonly store: ExtractStore;
  readonly findModel: FindWebModel;
}

/** The endpoint under which usage is recorded. */
const ENDPOINT = "/v1/extract";

/** Creates the job kind. */
export function extractKind(deps: ExtractKindDeps): JobKind {
  const extract = createExtract(deps);
  const run = async (job: RunningJob, signal: AbortSignal): Promise<JobOutcome> => {
    const { keyId, requestId, ...input } = job.input as unknown as StoredExtract;
    let refused: ApiError | undefined;
    try {
      const model = await deps.findModel({ keyId, requestId, endpoint: ENDPOINT }).catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.apiCode !== "tier_required") throw error;
        // Extraction from structured data is available on every plan. An error about the plan is only reported if that is not
        // enough.
        refused = error;
        return undefined;
      });
      const result = await extract({ ...job, input, model, store: deps.store, signal });
      return { state: "completed", result: { ...result } };
    } catch (error) {
      signal.throwIfAborted();
      job.winding.throwIfAborted();
      if (endsWorker(error)) throw error;
      const found = failureOf(error);
      const failure = refused !== undefined && found.code === "extract_unavailable" ? failureOf(refused) : found;
      // The job runner logs unexpected errors.
      if (failure.code === "extract_internal_error") throw error;
      return { state: "failed", error: failure };
    }
  };
  return {
    name: "extract",
    run,
    failure: (error) =>
      error instanceof JobTimeout ? { code: "extract_timeout", message: error.message } : failureOf(error),
  };
}

function failureOf(error: unknown): JobFailure {
  const told = schemaRefused(error);
  const known = asWebError("extract", told);
  const param = told instanceof ApiError ? known.detail.param : null;
  return { code: known.apiCode, message: known.message, ...(param == null ? {} : { param }) };
}
