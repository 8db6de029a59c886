import type { EndpointFixture } from "./fixture.ts";

const data = [
  { object: "embedding", index: 0, embedding: [0.25, -1, 1e-7] },
  { object: "embedding", index: 1, embedding: [1, 0, 0] },
];
const embeddings = data.map(({ embedding }) => embedding);

export const fixture: EndpointFixture = {
  body: { input: ["first", "second"], dimensions: 3, options: { num_ctx: 4096 } },
  sent: { input: ["first", "second"], dimensions: 3, encoding_format: "float" },
  answer: (model) => ({ object: "list", data, model, usage: { prompt_tokens: 7, total_tokens: 7 } }),
  shown: (model) => ({ model, embeddings, total_duration: 0, load_duration: 0, prompt_eval_count: 7 }),
  tokens: 7,
  untold: (model) => ({ object: "list", data, model }),
  refused: [
    [{ input: undefined }, "input"],
    [{ input: "" }, "input"],
    [{ input: [] }, "input"],
    [{ input: ["a", ""] }, "input"],
    [{ input: [[1, 2]] }, "input"],
    [{ dimensions: 0 }, "dimensions"],
  ],
};
