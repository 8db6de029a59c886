import type { EndpointFixture } from "./fixture.ts";

const data = [{ object: "embedding", index: 0, embedding: [0.25, -1, 1e-7] }];

export const fixture: EndpointFixture = {
  body: { input: ["first", "second"], dimensions: 3, unknown_member: { kept: 1.0 } },
  answer: (model) => ({ object: "list", data, model, usage: { prompt_tokens: 7, total_tokens: 7 } }),
  tokens: 7,
  untold: (model) => ({ object: "list", data, model }),
  refused: [
    [{ input: undefined }, "input"],
    [{ input: "" }, "input"],
    [{ input: [] }, "input"],
    [{ input: ["a", ""] }, "input[1]"],
    [{ input: [[1, 2], [-1]] }, "input[1]"],
    [{ input: Array.from({ length: 2049 }, () => "a") }, "input"],
    [{ dimensions: 0 }, "dimensions"],
    [{ encoding_format: "hex" }, "encoding_format"],
  ],
};
