// The labels of the kinds of provider failures.

/** Kind → label. */
export const FAULT_WORDS: Readonly<Record<string, string>> = {
  auth: "refused our credentials",
  bad_request: "refused a request",
  context_length: "input too long",
  model_missing: "has no such model",
  rate_limited: "rate limited",
  unavailable: "unavailable",
  timeout: "timed out",
  model_list: "returned no model list",
};
