import type { EndpointFixture } from "./fixture.ts";

const data = [{ object: "embedding", index: 0, embedding: [0.25, -1, 1e-7] }];

export const fixture: EndpointFixture = {
  body: { content: { parts: [{ text: "first" }, { text: "more" }] }, outputDimensionality: 3, taskType: "CLUSTERING" },
  sent: { input: ["first\nmore"], dimensions: 3, encoding_format: "float" },
  answer: (model) => ({ object: "list", data, model, usage: { prompt_tokens: 7, total_tokens: 7 } }),
  shown: (model) => ({ model, embedding: { values: [0.25, -1, 1e-7] }, usageMetadata: { promptTokenCount: 7 } }),
  tokens: 7,
  untold: (model) => ({ object: "list", data, model }),
  refused: [
    [{ content: undefined }, "content"],
    [{ content: { parts: [] } }, "content"],
    [{ content: { parts: [{ text: "" }] } }, "content"],
    [{ content: { parts: [{ inlineData: {} }] } }, "content"],
    [{ outputDimensionality: 0 }, "outputDimensionality"],
  ],
};
