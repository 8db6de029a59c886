import type { EndpointFixture } from "./fixture.ts";

const data = [
  { object: "embedding", index: 0, embedding: [0.25, -1, 1e-7] },
  { object: "embedding", index: 1, embedding: [1, 0, 0] },
];
const request = (text: string) => ({ content: { parts: [{ text }] }, outputDimensionality: 3 });

export const fixture: EndpointFixture = {
  body: { requests: [request("first"), request("second")] },
  sent: { input: ["first", "second"], dimensions: 3, encoding_format: "float" },
  answer: (model) => ({ object: "list", data, model, usage: { prompt_tokens: 7, total_tokens: 7 } }),
  shown: (model) => ({
    model,
    embeddings: data.map(({ embedding }) => ({ values: embedding })),
    usageMetadata: { promptTokenCount: 7 },
  }),
  tokens: 7,
  untold: (model) => ({ object: "list", data, model }),
  refused: [
    [{ requests: undefined }, "requests"],
    [{ requests: [] }, "requests"],
    [{ requests: ["text"] }, "requests[0].content"],
    [{ requests: [request("a"), { content: {} }] }, "requests[1].content"],
  ],
};
