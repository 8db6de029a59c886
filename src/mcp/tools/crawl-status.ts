// `crawl_status`: the state of a job, and its pages. It also reads the jobs of extract and llmstxt.

import { ANY_JSON, jobAnswer, jobAsk } from "../jobs.ts";
import type { JsonRecord, McpTool } from "../tool.ts";

const PAGES = 10;
const PAGES_MAX = 100;

/** The tool `crawl_status`. */
export const crawlStatusTool: McpTool = {
  name: "crawl_status",
  title: "Read a job's results",
  description:
    "Returns the state of a job and its results so far: the pages of a crawl, or the result of an extract or llmstxt " +
    "that answered with status `processing`. Ask again every few seconds until `status` is neither `scraping` nor " +
    "`processing`. A crawl's pages come ten at a time: raise `offset` for the next ones. Free of the rate limit.",
  endpoint: "GET /v1/crawl/:id",
  readOnly: true,
  openWorld: false,
  omits: ["next"],
  schemas: ({ output }) => ({
    input: {
      type: "object",
      properties: {
        job_id: { type: "string", description: "The id that crawl, extract or llmstxt returned." },
        offset: { type: "integer", minimum: 0, default: 0, description: "Pages of a crawl to skip." },
        limit: { type: "integer", minimum: 1, maximum: PAGES_MAX, default: PAGES, description: "Most pages." },
      },
      required: ["job_id"],
    },
    // Members that only one kind of job has are optional.
    output: {
      type: "object",
      properties: {
        ...commonOf(output["properties"] as JsonRecord),
        data: { type: ANY_JSON, description: "The pages or the result." },
      },
      required: ["job_id", "status"],
    },
  }),
  async run({ job_id: id, offset = 0, limit = PAGES }, { ask }) {
    const query = typeof id === "string" && id.startsWith("crawl_") ? { offset, limit } : {};
    const { next: _, ...job } = await ask(jobAsk(id, query as Record<string, number>));
    return jobAnswer(job);
  },
};

/** The members that all kinds of jobs have. */
function commonOf({ job_id, total, completed, creditsUsed, created_at, expires_at }: JsonRecord): JsonRecord {
  return { job_id, status: { type: "string" }, total, completed, creditsUsed, created_at, expires_at };
}
