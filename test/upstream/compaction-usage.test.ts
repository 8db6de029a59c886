// The cost of a provider's own compaction is part of the request's cost, for whole and streamed answers.

import { expect, test } from "bun:test";
import { anthropicUsage } from "../../src/upstream/dialects/anthropic/usage.ts";

const own = { input_tokens: 100, cache_read_input_tokens: 20, output_tokens: 10 };
const compaction = { type: "compaction", input_tokens: 5000, cache_creation_input_tokens: 7, output_tokens: 300 };

test("the iterations of a compaction are added, those of the answer are not counted twice", () => {
  const message = { type: "message", ...own };
  expect(anthropicUsage({ ...own, iterations: [compaction, message] })).toEqual({
    inputTokens: 5127,
    outputTokens: 310,
    cachedTokens: 20,
    cacheWriteTokens: 7,
  });
  expect(anthropicUsage({ ...own, iterations: null })).toEqual({
    inputTokens: 120,
    outputTokens: 10,
    cachedTokens: 20,
  });
  expect(anthropicUsage(own)).toEqual({ inputTokens: 120, outputTokens: 10, cachedTokens: 20 });
});

test("an invalid count in an iteration makes the count of that side invalid, and the gateway counts it instead", () => {
  expect(anthropicUsage({ ...own, iterations: [{ ...compaction, output_tokens: -5 }] })).toMatchObject({
    outputTokens: 0,
  });
});
