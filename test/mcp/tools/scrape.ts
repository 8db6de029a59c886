import type { ToolFixture } from "./fixture.ts";

export const fixture: ToolFixture = {
  args: { url: "https://example.com/" },
  text: "Example Domain",
  data: { success: true, data: { metadata: { statusCode: 200 } } },
  refused: { args: { url: "https://example.com/", formats: ["pdf"] }, param: "formats[0]" },
};
