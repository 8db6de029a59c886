// The sizes in the error messages of vendors about a prompt that does not fit.

import { expect, test } from "bun:test";
import { contextCounts } from "../../src/upstream/context-counts.ts";
import { anthropicError } from "../../src/upstream/dialects/anthropic/reader.ts";
import { openaiError } from "../../src/upstream/dialects/openai-error.ts";
import { cpuMs } from "../support/real-time.ts";

test.each<[string, ReturnType<typeof contextCounts>]>([
  [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
    { limit: 8192, requested: 9001 },
  ],
  [
    "This model's maximum context length is 4097 tokens, however you requested 5000 tokens (4000 in your prompt; 1000 for the completion).",
    { limit: 4097, requested: 5000 },
  ],
  ["prompt is too long: 210000 tokens > 200000 maximum", { limit: 200000, requested: 210000 }],
  [
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
    { limit: 200000, requested: 210000 },
  ],
  [
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    { limit: 1048576, requested: 1200000 },
  ],
  [
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    { limit: 131072, requested: 537812 },
  ],
  [
    "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    { limit: 32768, requested: 65673 },
  ],
  ["the request exceeds the available context size (4096 tokens), try increasing it", { limit: 4096 }],
  ["Your input exceeds the context window of this model. Please adjust your input and try again.", {}],
  ["Please reduce the length of the messages or completion.", {}],
])("the sizes in a vendor's message are read: %s", (message, counts) => {
  expect(contextCounts({ message })).toEqual(counts);
});

test.each([openaiError, anthropicError])("sizes in fields are read (llama.cpp)", (read) => {
  const message = "the request exceeds the available context size, try increasing it";
  const error = { code: 400, message, type: "exceed_context_size_error", n_prompt_tokens: 9123, n_ctx: 8192 };
  const said = read(error);
  expect(contextCounts({ message: said.message, said })).toEqual({ limit: 8192, requested: 9123 });
  const odd = read({ ...error, n_prompt_tokens: -1, n_ctx: "8192" });
  expect(contextCounts({ message, said: odd })).toEqual({});
});

test("counting a long text takes little time", () => {
  for (const unit of ["1+", "context size "])
    expect(cpuMs(() => contextCounts({ message: unit.repeat(100_000) }))).toBeLessThan(1000);
});
