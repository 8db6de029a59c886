// Starts, polls and cancels the jobs that build an llms.txt, and builds the responses about them.

import type { AddressGuard } from "../../net/address-guard.ts";
import type { JobCaller } from "../caller.ts";
import { asWebError } from "../failure.ts";
import { type Body, readBoolean, readInteger, readUrl } from "../params.ts";
import {
  cancelWaited,
  type EndingJob,
  findWaited,
  jobView,
  startWaited,
  type WaitedJobRef,
  type WaitedJobsDeps,
} from "../waited-jobs.ts";
import type { LlmstxtInput, StoredLlmstxt } from "./kind.ts";

/** What the functions for these jobs need. */
export interface LlmstxtJobsDeps extends WaitedJobsDeps {
  readonly guard: Pick<AddressGuard, "check">;
}

const KIND = "llmstxt";
/** How many pages a file has if the request states no limit. */
export const LLMSTXT_URLS = 10;
/** Maximum number of pages of one file. */
export const LLMSTXT_URLS_MAX = 100;
const WAIT_SECONDS = 60;
const WAIT_SECONDS_RANGE = { min: 10, max: 120 };

/** Reads the parameters. Throws 400. */
export function readLlmstxt(body: Body): LlmstxtInput {
  return {
    url: readUrl(body),
    maxUrls: readInteger(body, ["max_urls", "maxUrls"], { min: 1, max: LLMSTXT_URLS_MAX }) ?? LLMSTXT_URLS,
    showFullText: readBoolean(body, ["show_full_text", "showFullText"], false),
  };
}

/**
 * Reads the parameters and starts the job. Waits for the file as long as the client wants, and returns it, or the state at that
 * time.
 */
export async function startLlmstxt(
  body: Body,
  { deps, ...from }: JobCaller & { deps: LlmstxtJobsDeps },
): Promise<Record<string, unknown>> {
  const { keyId, requestId, signal } = from;
  const input = readLlmstxt(body);
  const waitSeconds = readInteger(body, ["timeout_seconds", "timeoutSeconds"], WAIT_SECONDS_RANGE) ?? WAIT_SECONDS;
  // A forbidden root is refused immediately. A root that cannot be read now fails the job later.
  await deps.guard.check(input.url, { signal }).catch((error: unknown) => {
    const { apiCode } = asWebError(KIND, error);
    if (apiCode === "url_not_allowed" || apiCode === "invalid_request") throw error;
  });
  const stored: StoredLlmstxt = { ...input, keyId, requestId };
  const waitMs = from.waitMs ?? waitSeconds * 1000;
  const job = await startWaited(KIND, { ...from, input: { ...stored }, waitMs }, deps);
  return viewOf(job, deps);
}

/** The response to a poll. */
export async function pollLlmstxt(ref: WaitedJobRef, deps: LlmstxtJobsDeps): Promise<Record<string, unknown>> {
  return viewOf(await findWaited(KIND, ref, deps), deps);
}

/** Cancels a job and returns its state afterwards. */
export async function cancelLlmstxt(ref: WaitedJobRef, deps: LlmstxtJobsDeps): Promise<Record<string, unknown>> {
  const { id, state } = await cancelWaited(KIND, ref, deps);
  return { success: true, job_id: id, id, status: state };
}

function viewOf(job: EndingJob, deps: LlmstxtJobsDeps): Record<string, unknown> {
  const { stage = "mapping", total = 1, completed = 0, credits = 0 } = job.progress;
  const isOpen = job.state === "queued" || job.state === "running";
  // Firecrawl's clients expect the texts in `data`.
  const texts = job.state === "completed" ? { ...job.result, data: job.result ?? {} } : {};
  return {
    ...jobView(job, deps),
    url: job.input["url"],
    ...(isOpen ? { stage } : {}),
    total,
    completed,
    creditsUsed: credits,
    ...texts,
  };
}
