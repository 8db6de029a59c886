// Jobs by their ids: the endpoint that reads each kind, and whether a job has ended.

import { ApiError } from "../base/errors.ts";
import type { Ask, JsonRecord, ToolAnswer } from "./tool.ts";

const JOB_ID = /^(crawl|extract|llmstxt)_[0-9a-f]{1,64}$/;

/** The request that reads a job or, with `DELETE`, cancels it. Throws the endpoint's error for an unknown id. */
export function jobAsk(id: unknown, query: Readonly<Record<string, number>> = {}, method: Ask["method"] = "GET"): Ask {
  if (id === undefined || id === null)
    throw new ApiError("invalid_request", "Missing required parameter: job_id.", { param: "job_id" });
  const kind = typeof id === "string" ? JOB_ID.exec(id)?.[1] : undefined;
  if (kind === undefined)
    throw new ApiError(
      "crawl_job_not_found",
      "There is no job with this id. Use the job_id that crawl, extract or llmstxt returned.",
    );
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  return { method, path: `/v1/${kind}/${id}${text === "" ? "" : `?${text}`}`, route: `/v1/${kind}/:id` };
}

/** Whether the job has ended, in whichever way. */
export function isOver({ status }: JsonRecord): boolean {
  return status !== "scraping" && status !== "processing";
}

/** Types for any JSON value, since extracted data has the structure that the caller requested. */
export const ANY_JSON = ["object", "array", "string", "number", "boolean", "null"];

/** The answer for a job's state, with the screenshots of a crawl's pages as images. */
export function jobAnswer(job: JsonRecord): ToolAnswer {
  const { job_id: id, data } = job;
  if (!String(id).startsWith("crawl_") || !Array.isArray(data)) return { data: job };
  const pages = data as readonly JsonRecord[];
  return {
    data: { ...job, data: pages.map(({ screenshot: _, ...page }) => page) },
    images: pages.flatMap(({ screenshot }) => (typeof screenshot === "string" ? [screenshot] : [])),
  };
}
