// Answers questions of Firecrawl's clients about their account. Nothing is counted in credits here, so credits never
// run out; GET /v1/key reports the limits of requests.

import type { FirecrawlJobsDeps } from "./jobs.ts";

/** The largest number that those clients can read. */
const WITHOUT_END = 999_999_999;
const LISTED_MAX = 500;

/** `GET /v2/team/credit-usage` */
export function creditUsage(): Record<string, unknown> {
  return {
    success: true,
    data: { remainingCredits: WITHOUT_END, planCredits: WITHOUT_END, billingPeriodStart: null, billingPeriodEnd: null },
  };
}

/** `GET /v2/team/token-usage` */
export function tokenUsage(): Record<string, unknown> {
  return {
    success: true,
    data: { remainingTokens: WITHOUT_END, planTokens: WITHOUT_END, billingPeriodStart: null, billingPeriodEnd: null },
  };
}

/** `GET …/historical` */
export function pastUsage(): Record<string, unknown> {
  return { success: true, periods: [] };
}

/** `GET /v2/team/queue-status` */
export async function queueStatus(
  accountId: string,
  { jobs, limits }: Pick<FirecrawlJobsDeps, "jobs" | "limits">,
): Promise<Record<string, unknown>> {
  const listed = await jobs.listJobs(accountId, { limit: LISTED_MAX });
  const active = listed.filter(({ state }) => state === "running").length;
  const waiting = listed.filter(({ state }) => state === "queued").length;
  const last = listed.find(({ state }) => state === "completed")?.finishedAtMs ?? null;
  return {
    success: true,
    jobsInQueue: active + waiting,
    activeJobsInQueue: active,
    waitingJobsInQueue: waiting,
    maxConcurrency: limits().concurrency,
    mostRecentSuccess: last === null ? null : new Date(last).toISOString(),
  };
}

/** `GET /v2/concurrency-check` */
export async function concurrencyCheck(
  accountId: string,
  { jobs, limits }: Pick<FirecrawlJobsDeps, "jobs" | "limits">,
): Promise<Record<string, unknown>> {
  const listed = await jobs.listJobs(accountId, { limit: LISTED_MAX });
  const concurrency = listed.filter(({ state }) => state === "running").length;
  const { concurrency: maxConcurrency } = limits();
  return { success: true, data: { concurrency, maxConcurrency }, concurrency, maxConcurrency };
}
