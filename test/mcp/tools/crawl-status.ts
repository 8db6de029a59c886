import type { ToolFixture } from "./fixture.ts";

export const fixture: ToolFixture = {
  args: { limit: 1 },
  before: { tool: "crawl", args: { url: "https://example.com/", limit: 1, wait_seconds: 60 } },
  text: /"status":"completed"/,
  data: { status: "completed", completed: 1, data: [{ metadata: { statusCode: 200 } }] },
  refused: { args: {}, param: "job_id" },
};
