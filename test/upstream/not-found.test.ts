import { expect, test } from "bun:test";
import type { Dialect } from "../../src/upstream/dialect.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { gemini } from "../../src/upstream/dialects/gemini/dialect.ts";
import { openaiChat } from "../../src/upstream/dialects/openai-chat/dialect.ts";
import { openaiResponses } from "../../src/upstream/dialects/responses/dialect.ts";

const DIALECTS: Readonly<Record<string, Dialect>> = {
  anthropic: anthropicMessages,
  gemini,
  openai: openaiChat,
  responses: openaiResponses,
};

const anthropic = (message: string, error_code?: string) => ({
  type: "error",
  error: { type: "not_found_error", message, ...(error_code === undefined ? {} : { details: { error_code } }) },
});
const openai = (message: string, code: string | null = null) => ({
  error: { message, type: "invalid_request_error", param: null, code },
});

// If the model is missing, the operator must act, and another route may answer. If anything else in the request is missing, the
// client must act.
test.each([
  ["anthropic", anthropic("model: claude-x"), "model_missing"],
  ["anthropic", anthropic("Not found"), "model_missing"],
  ["anthropic", anthropic("File not found: file_011"), "bad_request"],
  ["anthropic", anthropic("The thread cannot be continued.", "thread_not_found"), "bad_request"],
  ["anthropic", anthropic("Not found", "file_expired"), "bad_request"],
  ["openai", openai("The model `gpt-x` does not exist", "model_not_found"), "model_missing"],
  ["openai", openai("The API deployment for this resource does not exist.", "DeploymentNotFound"), "model_missing"],
  ["openai", openai("Resource not found", "404"), "model_missing"],
  ["openai", openai("Invalid URL (POST /v1/chat/completions)"), "model_missing"],
  ["openai", openai("Item with id 'rs_1' not found."), "bad_request"],
  ["openai", openai("No such File object: file-1"), "bad_request"],
  ["openai", openai("Not found", "vector_store_not_found"), "bad_request"],
  ["openai", openai("Invalid URL (POST /v1/v1/chat/completions)", "unknown_url"), "model_missing"],
  ["openai", openai("Unknown request URL: POST /v1/responses", "unknown_url"), "model_missing"],
  ["openai", openai("Invalid URL (POST /openai/threads/messages)", "unknown_url"), "model_missing"],
  ["openai", openai("no such path", "no_such_path"), "model_missing"],
  ["openai", openai("Not found", "response_not_found"), "bad_request"],
  ["openai", openai("Not found", "conversation_not_found"), "bad_request"],
  ["openai", openai("Conversation with id 'conv_1' not found."), "bad_request"],
  ["anthropic", anthropic("Unknown path: /v1/messages"), "model_missing"],
  ["gemini", { error: { code: 404, message: "models/x is not found", status: "NOT_FOUND" } }, "model_missing"],
  [
    "gemini",
    { error: { code: 404, message: "Requested entity was not found.", status: "NOT_FOUND" } },
    "model_missing",
  ],
  ["gemini", { error: { code: 404, message: "File abc not found.", status: "NOT_FOUND" } }, "bad_request"],
  ["responses", openai("Invalid URL (POST /v1/v1/responses)", "unknown_url"), "model_missing"],
  ["responses", openai("Response with id 'resp_1' not found."), "bad_request"],
  ["openai", { detail: "Not Found" }, "model_missing"],
  ["openai", "<html>404</html>", "model_missing"],
])("a 404 of %s: %j is %s", (family, body, kind) => {
  const dialect = DIALECTS[family]!;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  expect(dialect.fault(404, text, new Headers()).kind).toBe(kind as "bad_request");
});
