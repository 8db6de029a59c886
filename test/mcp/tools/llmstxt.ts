import type { ToolFixture } from "./fixture.ts";

export const fixture: ToolFixture = {
  args: { url: "https://example.com/", max_urls: 2 },
  text: /^# /,
  data: { success: true, status: "completed", total: 1 },
  refused: { args: { url: "https://example.com/", max_urls: 101 }, param: "max_urls" },
};
