// A crawl as clients see it while it runs and afterwards.

import type { Body } from "./params.ts";

/** The stored job, as far as it is shown. */
export interface StoredJob {
  readonly id: string;
  readonly state: "queued" | "running" | "completed" | "failed" | "cancelled";
  readonly input: Body;
  readonly progress: Body;
  readonly error: Body | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
}

/** What was counted and read for one answer. */
export interface CrawlFigures {
  readonly pages: readonly { url: string; failed: boolean; body: Body }[];
  readonly failures: readonly { url: string; failed: boolean; body: Body }[];
  /** Pages with content, in all. */
  readonly good: number;
  readonly completed: number;
  /** Pages that are known and were not visited yet. */
  readonly ahead: number;
}

/** Paging of `data`. */
export interface Window {
  readonly offset: number;
  readonly limit: number;
}

/** The answer of a poll. */
export function crawlView(job: StoredJob, figures: CrawlFigures, { offset, limit }: Window): Record<string, unknown> {
  const isOpen = job.state === "queued" || job.state === "running";
  const asked = Number(job.input["limit"] ?? figures.completed);
  const total = isOpen ? Math.min(asked, figures.completed + figures.ahead) : figures.completed;
  const after = offset + figures.pages.length;
  return {
    success: true,
    job_id: job.id,
    id: job.id,
    status: isOpen ? "scraping" : job.state,
    url: job.input["url"],
    total: Math.max(total, figures.completed),
    completed: figures.completed,
    creditsUsed: Number(job.progress["credits"] ?? 0),
    data: figures.pages.map(({ body }) => withoutKey(body)),
    errors: figures.failures.map(({ url, body }) => ({ url, code: body["code"], message: body["message"] })),
    created_at: new Date(job.createdAtMs).toISOString(),
    ...expiry(job.expiresAtMs),
    ...(job.error === null ? {} : { error: job.error["message"], error_code: job.error["code"] }),
    ...(figures.pages.length === limit && after < figures.good
      ? { next: `/v1/crawl/${job.id}?offset=${after}&limit=${limit}` }
      : {}),
  };
}

function expiry(expiresAtMs: number | null): Record<string, unknown> {
  const at = expiresAtMs === null ? null : new Date(expiresAtMs).toISOString();
  return { expires_at: at, expiresAt: at };
}

/** The key that tells pages apart is ours. */
function withoutKey({ key: _, ...body }: Body): Body {
  return body;
}
