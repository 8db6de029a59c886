// Answers of providers as they report usage.

/** The usage that an answer reports, and the tokens that are recorded. */
export const REPORTS: readonly [what: string, type: string, body: string, tokens: readonly number[]][] = [
  ["a chat", "application/json", '{"model":"m","usage":{"prompt_tokens":5,"completion_tokens":7}}', [5, 7]],
  [
    "a message with a cache",
    "application/json",
    '{"model":"m","usage":{"input_tokens":5,"cache_read_input_tokens":10,"output_tokens":7}}',
    [15, 7],
  ],
  [
    "the events of a message",
    "text/event-stream",
    'data: {"message":{"model":"m","usage":{"input_tokens":5,"output_tokens":1}}}\n\ndata: {"usage":{"output_tokens":7}}\n\n',
    [5, 7],
  ],
  [
    "the events of a response",
    "text/event-stream",
    'data: {"response":{"model":"m","usage":null}}\n\ndata: {"response":{"model":"m","usage":{"input_tokens":5,"output_tokens":7}}}\n\n',
    [5, 7],
  ],
  [
    "contents",
    "application/json; charset=utf-8",
    '{"modelVersion":"m","usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":4,"thoughtsTokenCount":3}}',
    [5, 7],
  ],
  ["nonsense", "application/json", '{"model":"m","usage":{"prompt_tokens":-5,"completion_tokens":"x"}}', [0, 0]],
  ["nothing", "text/plain", "usage: 5", [0, 0]],
];
