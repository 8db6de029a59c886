import type { ToolFixture } from "./fixture.ts";

export const fixture: ToolFixture = {
  args: {
    urls: ["https://example.com/"],
    prompt: "What is the page called?",
    schema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
  },
  text: /"title":"Example Domain"/,
  data: { success: true, status: "completed", data: { title: "Example Domain" } },
  refused: { args: { urls: [], prompt: "What?" }, param: "urls" },
};
