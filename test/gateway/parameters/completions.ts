// The expected handling of the parameters of legacy completions, written by hand.

import { config, LOGPROBS, type Row, row, sent, threadRows } from "./row.ts";

/** The parameters of `POST /v1/completions`. No upstream is called in this format. */
export const COMPLETIONS: readonly Row[] = [
  row("best_of", { best_of: 2 }, "dropped", "dropped", "dropped", "dropped"),
  row("echo", { echo: true }, "ours", "ours", "ours", "ours"),
  row("frequency_penalty", { frequency_penalty: 0.5 }, "same", "dropped", "dropped", "dropped"),
  row("logit_bias", { logit_bias: { "5": 1 } }, "same", "dropped", "dropped", "dropped"),
  row(
    "logprobs",
    { logprobs: 2 },
    { logprobs: true, top_logprobs: 2 },
    { include: LOGPROBS, top_logprobs: 2 },
    "dropped",
    "dropped",
  ),
  row("max_tokens", { max_tokens: 50 }, "same", { max_output_tokens: 50 }, "same", config({ maxOutputTokens: 50 })),
  row("n", { n: 2 }, "same", "dropped", "dropped", config({ candidateCount: 2 })),
  row("presence_penalty", { presence_penalty: 0.5 }, "same", "dropped", "dropped", "dropped"),
  row(
    "prompt",
    { prompt: "hello" },
    { messages: [{ role: "user", content: "hello" }] },
    { input: [{ role: "user" }] },
    { messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }] },
    { contents: [{ role: "user", parts: [{ text: "hello" }] }] },
  ),
  row("seed", { seed: 1 }, "same", "dropped", "dropped", config({ seed: 1 })),
  row("stop", sent, "same", "ours", { stop_sequences: ["END"] }, config({ stopSequences: ["END"] })),
  row("stream", { stream: true }, "same", "same", "same", "ours"),
  row("stream_options", { stream: true, stream_options: { include_usage: true } }, "same", "ours", "ours", "ours"),
  row("suffix", { suffix: "x" }, "refused", "refused", "refused", "refused"),
  row("temperature", { temperature: 0.3 }, "same", "same", "same", config({ temperature: 0.3 })),
  row("top_p", { top_p: 0.5 }, "same", "same", "same", config({ topP: 0.5 })),
  row("user", { user: "u" }, "same", "same", { metadata: { user_id: "u" } }, "dropped"),
  ...threadRows("thread_id", "conversation_id"),
  row("a_new_one", { a_new_one: { x: 1 } }, "dropped", "dropped", "dropped", "dropped"),
];
