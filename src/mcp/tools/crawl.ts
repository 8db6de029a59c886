// `crawl` reads a site page by page, as a job. The tool can wait for the job, for which clients of the REST API poll.

import { ApiError } from "../../base/errors.ts";
import { pause } from "../../base/retry.ts";
import { isOver, jobAnswer, jobAsk } from "../jobs.ts";
import type { JsonRecord, McpTool, ToolRun } from "../tool.ts";

const WAIT_SECONDS_MAX = 120;
const POLL_MS = 1000;

/** The tool `crawl`. */
export const crawlTool: McpTool = {
  name: "crawl",
  title: "Read a site",
  description:
    "Reads a site page by page as Markdown, following links within the domain, as a job. Returns a `job_id` at once: get " +
    "the pages with crawl_status. With `wait_seconds` it waits that long first and returns the pages that were read. Keep " +
    "`limit` small and narrow the paths with `include_paths`. Not for one page (scrape) and not for a list of addresses " +
    "(map).",
  endpoint: "POST /v1/crawl",
  readOnly: false,
  openWorld: true,
  schemas: ({ input, output }) => {
    const wait = {
      type: "integer",
      minimum: 0,
      maximum: WAIT_SECONDS_MAX,
      default: 0,
      description: "How long to wait for the pages, in seconds.",
    };
    const optional = {
      status: { type: "string" },
      total: { type: "integer" },
      completed: { type: "integer" },
      data: { type: "array", items: { type: "object" }, description: "Pages, with `wait_seconds`." },
      errors: { type: "array", items: { type: "object" } },
    };
    return {
      input: { ...input, properties: { ...(input["properties"] as JsonRecord), wait_seconds: wait } },
      output: { ...output, properties: { ...(output["properties"] as JsonRecord), ...optional } },
    };
  },
  async run({ wait_seconds: wait, ...args }, run) {
    const seconds = readWait(wait);
    const started = await run.ask({ method: "POST", path: "/v1/crawl", body: args });
    return seconds === 0 ? { data: started } : jobAnswer(await waitFor(String(started["job_id"]), seconds, run));
  },
};

function readWait(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= WAIT_SECONDS_MAX) return value;
  const message = `wait_seconds must be an integer from 0 to ${WAIT_SECONDS_MAX}.`;
  throw new ApiError("invalid_request", message, { param: "wait_seconds" });
}

/**
 * The state of the crawl when it has ended or the time is up. If the client disconnects earlier, it never gets the id to poll, so
 * the crawl is cancelled.
 */
async function waitFor(id: string, seconds: number, { look, end, progress, signal }: ToolRun): Promise<JsonRecord> {
  const endsMs = performance.now() + seconds * 1000;
  try {
    for (;;) {
      const job = await look(jobAsk(id, { limit: 1 }));
      progress(job);
      const leftMs = endsMs - performance.now();
      if (isOver(job) || leftMs <= 0) return await look(jobAsk(id));
      await pause(Math.min(POLL_MS, leftMs), signal);
      signal.throwIfAborted();
    }
  } catch (error) {
    if (signal.aborted) await end(jobAsk(id, {}, "DELETE"));
    throw error;
  }
}
