import type { EndpointFixture } from "./fixture.ts";

const results = [
  { index: 1, relevance_score: 0.75 },
  { index: 0, relevance_score: 1e-7 },
];

export const fixture: EndpointFixture = {
  body: { query: "which?", documents: ["this one", { text: "that one" }], unknown_member: { kept: 1.0 } },
  answer: (model) => ({ id: "rank-1", model, results, usage: { total_tokens: 9 } }),
  tokens: 9,
  untold: (model) => ({ id: "rank-1", model, results }),
  refused: [
    [{ query: undefined }, "query"],
    [{ query: "" }, "query"],
    [{ documents: "this" }, "documents"],
    [{ documents: [] }, "documents"],
    [{ documents: ["a", 5] }, "documents[1]"],
    [{ documents: [{ title: "a" }] }, "documents[0]"],
    [{ top_n: 0 }, "top_n"],
    [{ return_documents: "yes" }, "return_documents"],
  ],
};
