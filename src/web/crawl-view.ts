// The response about a crawl, during and after its run.

import { isoTime } from "../base/iso-time.ts";
import type { Body } from "./params.ts";

/** The members of a stored job that the response needs. */
export interface StoredJob {
  readonly id: string;
  readonly state: "queued" | "running" | "completed" | "failed" | "cancelled";
  readonly input: Body;
  readonly progress: Body;
  readonly error: Body | null;
  readonly createdAtMs: number;
  readonly deadlineAtMs: number;
  readonly expiresAtMs: number | null;
}

/** The figures and pages that were read for one response. */
export interface CrawlFigures {
  readonly pages: readonly { url: string; failed: boolean; body: Body }[];
  readonly failures: readonly { url: string; failed: boolean; body: Body }[];
  /** The number of all pages with content. */
  readonly good: number;
  /** The number of pages that are known and not yet visited. */
  readonly ahead: number;
}

/** Which part of `data` is returned. */
export interface Window {
  /** The address of the job, for the link to the next part. */
  readonly address: string;
  readonly offset: number;
  readonly limit: number;
}

/** The response to a poll. */
export function crawlView(
  job: StoredJob,
  { figures, window, ttlMs }: { figures: CrawlFigures; window: Window; ttlMs: number },
): Record<string, unknown> {
  const isOpen = job.state === "queued" || job.state === "running";
  const completed = Number(job.progress["completed"] ?? 0);
  const after = window.offset + figures.pages.length;
  // While the job runs: the latest time at which it will be deleted.
  const expires = isoTime(job.expiresAtMs ?? job.deadlineAtMs + ttlMs);
  return {
    success: true,
    job_id: job.id,
    id: job.id,
    status: isOpen ? "scraping" : job.state,
    url: job.input["url"],
    total: isOpen || job.state === "cancelled" ? completed + stillToCome(job, figures.ahead) : completed,
    completed,
    creditsUsed: Number(job.progress["credits"] ?? 0),
    data: figures.pages.map(({ body }) => withoutKeys(body)),
    errors: figures.failures.map(({ url, body }) => ({ url, code: body["code"], message: body["message"] })),
    created_at: isoTime(job.createdAtMs),
    expires_at: expires,
    expiresAt: expires,
    ...(job.error === null ? {} : { error: job.error["message"], error_code: job.error["code"] }),
    ...(after < figures.good ? { next: `${window.address}?offset=${after}&limit=${window.limit}` } : {}),
  };
}

/** The number of queued pages, as far as the limit allows to fetch them. A crawl that has not started will fetch its root. */
function stillToCome({ input, progress }: StoredJob, ahead: number): number {
  const fetched = Number(progress["fetched"] ?? 0);
  const known = fetched === 0 ? Math.max(1, ahead) : ahead;
  return Math.min(known, Math.max(0, Number(input["limit"]) - fetched));
}

/** A page without the gateway's own keys. */
export function withoutKeys({ keys: _, ...body }: Body): Body {
  return body;
}
