// Starts, polls and cancels extractions, and builds the responses about them.

import { ApiError } from "../../base/errors.ts";
import type { FindWebModel } from "../../gateway/inner/web-model.ts";
import type { AddressGuard } from "../../net/address-guard.ts";
import type { JobCaller } from "../caller.ts";
import { asWebError } from "../failure.ts";
import type { Body } from "../params.ts";
import {
  cancelWaited,
  type EndingJob,
  findWaited,
  jobView,
  startWaited,
  type WaitedJobRef,
  type WaitedJobsDeps,
} from "../waited-jobs.ts";
import { readExtract, schemaRefused } from "./input.ts";
import type { StoredExtract } from "./kind.ts";
import { modelMissing } from "./result.ts";
import { SchemaError } from "./schema-error.ts";
import type { ExtractWork } from "./threads.ts";

/** What the functions for extractions need. */
export interface ExtractJobsDeps extends WaitedJobsDeps {
  readonly guard: Pick<AddressGuard, "check">;
  readonly threads: Pick<ExtractWork, "validate">;
  readonly findModel: FindWebModel;
}

const KIND = "extract";

/**
 * Reads the parameters and starts the extraction. Waits for the result as long as the client wants, and returns it, or the state
 * at that time.
 */
export async function startExtract(
  body: Body,
  { deps, ...from }: JobCaller & { deps: ExtractJobsDeps },
): Promise<Record<string, unknown>> {
  const { accountId, keyId, requestId, signal } = from;
  const { input, waitMs } = readExtract(body);
  await checkAddresses(input.urls, { deps, signal });
  if (input.schema !== null) {
    // The schema is compiled before any page is fetched.
    await deps.threads.validate(input.schema, null, { accountId, signal }).catch((error: unknown) => {
      throw error instanceof SchemaError ? schemaRefused(error) : error;
    });
  } else {
    const model = await deps.findModel({ keyId, requestId, endpoint: "/v1/extract" });
    if (typeof model !== "object") throw modelMissing(model, []);
  }
  const stored: StoredExtract = { ...input, keyId, requestId };
  const job = await startWaited(KIND, { ...from, input: { ...stored }, waitMs: from.waitMs ?? waitMs }, deps);
  return viewOf(job, deps);
}

/** If all addresses are forbidden, the request is refused immediately. If only some are, each becomes a warning in the result. */
async function checkAddresses(
  urls: readonly string[],
  { deps, signal }: { deps: ExtractJobsDeps; signal: AbortSignal },
): Promise<void> {
  const refusals = await Promise.all(
    urls.map((url, index) =>
      deps.guard.check(url, { signal }).then(
        () => undefined,
        (error: unknown) => {
          const known = asWebError(KIND, error);
          return { known, param: `urls[${index}]` };
        },
      ),
    ),
  );
  signal.throwIfAborted();
  const told = refusals.map((refusal) => refusal && { ...refusal, code: refusal.known.apiCode });
  const first =
    told.find((refusal) => refusal?.code === "invalid_request") ??
    (told.every((refusal) => refusal?.code === "url_not_allowed") ? told[0] : undefined);
  if (first !== undefined) throw refused(first);
}

function refused({ known, param }: { known: ApiError; param: string }): ApiError {
  return new ApiError(known.apiCode, known.message, { param });
}

/** The response to a poll. */
export async function pollExtract(ref: WaitedJobRef, deps: ExtractJobsDeps): Promise<Record<string, unknown>> {
  return viewOf(await findWaited(KIND, ref, deps), deps);
}

/** Cancels an extraction and returns its state afterwards. */
export async function cancelExtract(ref: WaitedJobRef, deps: ExtractJobsDeps): Promise<Record<string, unknown>> {
  const { id, state } = await cancelWaited(KIND, ref, deps);
  return { success: true, job_id: id, id, status: state };
}

function viewOf(job: EndingJob, deps: ExtractJobsDeps): Record<string, unknown> {
  const { data = null, sources, unsupported, warnings, credits } = job.result ?? {};
  const found = job.state === "completed" ? { sources, unsupported, warnings } : {};
  const completed = Number(job.progress["completed"] ?? 0);
  return {
    ...jobView(job, deps),
    data,
    ...found,
    // Links that are followed are not in the input.
    total: Math.max((job.input["urls"] as unknown[]).length, completed),
    completed,
    creditsUsed: Number(credits ?? job.progress["credits"] ?? 0),
  };
}
