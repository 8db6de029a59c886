// Sends the events of a job to its webhook: its start, each page, and its end.

import type { JobFailure, JobOutcome } from "../../jobs/kind.ts";
import type { FirecrawlJob } from "./crawl-input.ts";
import type { JobHeaders } from "./job-pages.ts";
import type { WebhookEvent } from "./webhook-input.ts";
import type { Webhooks } from "./webhooks.ts";

/** A job that can send events. */
export interface TellingJob {
  readonly id: string;
  readonly accountId: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** The first part of an event's `type`. */
type NoticeKind = "crawl" | "batch_scrape";

/** Sends events. A job without a webhook sends none. */
export interface JobNotices {
  started(kind: NoticeKind, job: TellingJob): void;
  page(kind: NoticeKind, job: TellingJob, page: { readonly body: unknown } | { readonly failure: JobFailure }): void;
  ended(kind: NoticeKind, job: TellingJob, outcome: JobOutcome): void;
}

/** Creates the sender of events. */
export function createJobNotices(webhooks: Pick<Webhooks, "send">, headers: JobHeaders): JobNotices {
  const tell = (
    kind: NoticeKind,
    job: TellingJob,
    what: { event: WebhookEvent; data?: readonly unknown[]; error?: string },
  ) => {
    const { webhook } = (job.input["firecrawl"] ?? {}) as Partial<FirecrawlJob>;
    if (webhook === undefined || webhook === null) return;
    const { id: jobId, accountId } = job;
    const held = headers.find(jobId)?.webhook ?? {};
    webhooks.send({ jobId, accountId, kind, webhook, headers: held, data: [], ...what });
  };
  return {
    started: (kind, job) => tell(kind, job, { event: "started" }),
    page(kind, job, page) {
      if ("body" in page) tell(kind, job, { event: "page", data: [page.body] });
      else tell(kind, job, { event: "page", data: [], error: page.failure.message });
    },
    ended(kind, job, outcome) {
      if (outcome.state === "completed") tell(kind, job, { event: "completed" });
      else tell(kind, job, { event: "failed", error: outcome.error.message });
      headers.drop(job.id);
    },
  };
}
