import type { ToolFixture } from "./fixture.ts";

export const fixture: ToolFixture = {
  args: { url: "https://example.com/", limit: 5 },
  text: /^http:\S+\/$/,
  data: { success: true, total: 1 },
  refused: { args: { url: "https://example.com/", limit: 0 }, param: "limit" },
};
