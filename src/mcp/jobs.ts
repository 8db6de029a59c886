// Jobs by their ids: which endpoint knows them, and when they are over.

import { ApiError } from "../base/errors.ts";
import type { Ask, JsonRecord, ToolAnswer } from "./tool.ts";

const JOB_ID = /^(crawl|extract|llmstxt)_[0-9a-f]{1,64}$/;

/** The request that reads a job, or with `DELETE` ends it. Throws what its endpoint says of an id that there is not. */
export function jobAsk(id: unknown, query: Readonly<Record<string, number>> = {}, method: Ask["method"] = "GET"): Ask {
  if (id === undefined || id === null)
    throw new ApiError("invalid_request", "Missing required parameter: job_id.", { param: "job_id" });
  const kind = typeof id === "string" ? JOB_ID.exec(id)?.[1] : undefined;
  if (kind === undefined)
    throw new ApiError(
      "crawl_job_not_found",
      "There is no such job: job_id is what crawl, extract or llmstxt returned.",
    );
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  return { method, path: `/v1/${kind}/${id}${text === "" ? "" : `?${text}`}`, route: `/v1/${kind}/:id` };
}

/** True once nothing more will come of it. */
export function isOver({ status }: JsonRecord): boolean {
  return status !== "scraping" && status !== "processing";
}

/** Any JSON: what is found has the shape that was asked for. */
export const ANY_JSON = ["object", "array", "string", "number", "boolean", "null"];

/** A job's state as an answer: the screenshots of a crawl's pages are pictures. */
export function jobAnswer(job: JsonRecord): ToolAnswer {
  const { job_id: id, data } = job;
  if (!String(id).startsWith("crawl_") || !Array.isArray(data)) return { data: job };
  const pages = data as readonly JsonRecord[];
  return {
    data: { ...job, data: pages.map(({ screenshot: _, ...page }) => page) },
    images: pages.flatMap(({ screenshot }) => (typeof screenshot === "string" ? [screenshot] : [])),
  };
}
