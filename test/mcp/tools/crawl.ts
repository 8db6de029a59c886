import type { ToolFixture } from "./fixture.ts";

export const fixture: ToolFixture = {
  args: { url: "https://example.com/", limit: 2, wait_seconds: 60 },
  text: /"status":"completed"/,
  data: { success: true, status: "completed", completed: 1, data: [{ metadata: { statusCode: 200 } }] },
  refused: { args: { url: "https://example.com/", wait_seconds: 121 }, param: "wait_seconds" },
};
