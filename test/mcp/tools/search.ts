import type { ToolFixture } from "./fixture.ts";

export const fixture: ToolFixture = {
  args: { text_query: "example", limit: 3 },
  text: /"title":"Example Domain"/,
  data: { success: true, query: "example", number_of_results: 1, results: [{ title: "Example Domain" }] },
  refused: { args: { text_query: "" }, param: "text_query" },
};
