// Errors from upstreams, row by row, and the resulting error in each of our three formats.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Fake, type Gateway, startFake, startGateway } from "./support.ts";

let upstream: Fake;
let gateway: Gateway;
let key: string;

beforeAll(async () => {
  upstream = startFake(() => new Response());
  const provider = (kind: string) => ({
    kind,
    base_url: upstream.url,
    retry: { attempts: 1 },
    breaker: { failures: 1000 },
  });
  const model = (id: string, kind: string) => ({
    id,
    backend: { kind, prior: "none", routes: [{ provider: id, model: "up-1" }] },
  });
  gateway = await startGateway({
    providers: {
      native: provider("systemone"),
      openai: provider("openai-decisions"),
      chat: { ...provider("openai"), discover: false },
    },
    decisions: {
      models: [model("native", "systemone"), model("openai", "openai-decisions"), model("chat", "logprobs")],
    },
  });
  key = await gateway.key();
});
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

interface Row {
  name: string;
  status: number;
  body: unknown;
  headers?: Record<string, string>;
  /** What the client receives: the status, the code, and the parameter in the specification's format and in OpenAI's. */
  gets: [number, string, (string | null)?, (string | null)?];
}

const UNAVAILABLE: Row["gets"] = [503, "decision_unavailable"];
const usage = (message: string) => ({ detail: { error_type: "api_usage_error", message } });
const detail = (message: string, error_type: string) => ({ detail: { error_type, message } });
const place = (...loc: unknown[]) => ({
  detail: [{ type: "missing", loc: ["body", ...loc], msg: "Field required", input: "SECRET" }],
});

/** TypeSafe's own API. */
const NATIVE: Row[] = [
  { name: "unknown model", status: 400, body: usage("Unknown model: up-1"), gets: UNAVAILABLE },
  {
    name: "context overflow, without a message",
    status: 400,
    body: { detail: { error_type: "max_tokens_exceeded" } },
    gets: [413, "context_too_large", "state", "input"],
  },
  {
    name: "413, as clients expect it",
    status: 413,
    body: detail("too large", "x"),
    gets: [413, "context_too_large", "state", "input"],
  },
  {
    name: "too many choices",
    status: 400,
    body: { detail: "Too many choices. Must have at most 255 choices." },
    gets: [422, "invalid_question", "questions", "questions"],
  },
  {
    name: "too many levels",
    status: 400,
    body: { detail: "Too many score levels. Must have at most 10 levels." },
    gets: [422, "invalid_question", "questions", "questions"],
  },
  {
    name: "no choices",
    status: 400,
    body: { detail: "Choice question must have at least one choice: 1" },
    gets: [422, "invalid_question", "questions.1", "questions[1]"],
  },
  {
    name: "nothing asked",
    status: 400,
    body: { detail: "Noul question must have criteria or instructions: 0" },
    gets: [422, "invalid_question", "questions.0", "questions[0]"],
  },
  {
    name: "an empty key",
    status: 400,
    body: { detail: "Question key cannot be empty." },
    gets: [422, "invalid_question", "questions", "questions"],
  },
  { name: "an unknown type or field", status: 400, body: usage("Invalid request."), gets: UNAVAILABLE },
  {
    name: "our key is wrong",
    status: 401,
    body: detail("Cannot authenticate with the server.", "authentication_error"),
    gets: UNAVAILABLE,
  },
  { name: "our key is missing", status: 403, body: { detail: "Not authenticated" }, gets: UNAVAILABLE },
  { name: "no credit", status: 402, body: detail("Insufficient credits.", "billing_error"), gets: UNAVAILABLE },
  { name: "a schema error of the request", status: 422, body: place("questions"), gets: UNAVAILABLE },
  { name: "a schema error of the state", status: 422, body: place("state"), gets: UNAVAILABLE },
  {
    name: "a schema error of a question",
    status: 422,
    body: place("questions", "1", "choice", "criteria"),
    gets: [422, "invalid_question", "questions.1.criteria", "questions[1].choices"],
  },
  {
    name: "a schema error of an option",
    status: 422,
    body: place("questions", "1", "choice", "criteria", "b"),
    gets: [422, "invalid_question", "questions.1.criteria.b", "questions[1].choices[1]"],
  },
  {
    name: "a schema error of a level",
    status: 422,
    body: place("questions", "2", "score", "criteria", 1),
    gets: [422, "invalid_question", "questions.2.criteria[1]", "questions[2].levels[1]"],
  },
  {
    name: "a schema error of what true means",
    status: 422,
    body: place("questions", "0", "noul", "criteria", "true"),
    gets: [422, "invalid_question", "questions.0.criteria.true", "questions[0].instructions"],
  },
  {
    name: "limited, with seconds",
    status: 429,
    body: detail("slow down", "rate_limit"),
    headers: { "retry-after": "7" },
    gets: [429, "provider_rate_limited"],
  },
  {
    name: "limited, with milliseconds",
    status: 429,
    body: {},
    headers: { "retry-after-ms": "6500" },
    gets: [429, "provider_rate_limited"],
  },
  {
    name: "overloaded",
    status: 529,
    body: detail("busy", "overloaded_error"),
    headers: { "retry-after": "7" },
    gets: UNAVAILABLE,
  },
  { name: "broken", status: 500, body: {}, gets: UNAVAILABLE },
  {
    name: "a plain text that speaks of no question",
    status: 400,
    body: { detail: "The model is not loaded." },
    gets: UNAVAILABLE,
  },
  {
    name: "vLLM's overflow",
    status: 400,
    body: { object: "error", message: "This model's maximum context length is 512 tokens.", code: 400 },
    gets: [413, "context_too_large", "state", "input"],
  },
  { name: "Ollama's plain text", status: 400, body: { error: "model does not support decisions" }, gets: UNAVAILABLE },
  {
    name: "OpenRouter's relay of a refused question",
    status: 400,
    body: {
      error: {
        message: `HTTP 400: ${JSON.stringify({ detail: "Choice question must have at least one choice: 1" })}`,
        code: 400,
      },
    },
    gets: [422, "invalid_question", "questions.1", "questions[1]"],
  },
  {
    name: "OpenRouter's relay of an overflow",
    status: 400,
    body: { error: { message: 'HTTP 400: {"detail":{"error_type":"max_tokens_exceeded"}}', code: 400 } },
    gets: [413, "context_too_large", "state", "input"],
  },
];

const openaiError = (param: string | null, code: string | null = null) => ({
  error: { message: "No.", type: "invalid_request_error", param, code },
});

/** OpenAI's API. */
const OPENAI: Row[] = [
  {
    name: "a refused question",
    status: 400,
    body: openaiError("questions[1]"),
    gets: [422, "invalid_question", "questions.1", "questions[1]"],
  },
  {
    name: "refused instructions",
    status: 400,
    body: openaiError("questions[0].instructions"),
    gets: [422, "invalid_question", "questions.0.instructions", "questions[0].instructions"],
  },
  {
    name: "refused choices",
    status: 400,
    body: openaiError("questions[1].choices"),
    gets: [422, "invalid_question", "questions.1.criteria", "questions[1].choices"],
  },
  {
    name: "a refused choice",
    status: 400,
    body: openaiError("questions[1].choices[1].value"),
    gets: [422, "invalid_question", "questions.1.criteria.b", "questions[1].choices[1]"],
  },
  {
    name: "a refused level",
    status: 400,
    body: openaiError("questions[2].levels[1].label"),
    gets: [422, "invalid_question", "questions.2.criteria[1]", "questions[2].levels[1]"],
  },
  { name: "a refused input", status: 400, body: openaiError("input"), gets: UNAVAILABLE },
  {
    name: "context overflow",
    status: 400,
    body: openaiError("input", "context_length_exceeded"),
    gets: [413, "context_too_large", "state", "input"],
  },
  {
    name: "content refused",
    status: 400,
    body: openaiError(null, "cyber_policy"),
    gets: [400, "cyber_policy"],
  },
  {
    name: "content refused without a code of its own",
    status: 400,
    body: openaiError("input", "content_policy_violation"),
    gets: [400, "content_policy_violation", "state", "input"],
  },
  { name: "our key is wrong", status: 401, body: openaiError(null, "invalid_api_key"), gets: UNAVAILABLE },
  { name: "not allowed here", status: 403, body: openaiError(null, "unsupported_country"), gets: UNAVAILABLE },
  { name: "unknown model", status: 404, body: openaiError("model", "model_not_found"), gets: UNAVAILABLE },
  {
    name: "limited",
    status: 429,
    body: openaiError(null, "rate_limit_exceeded"),
    headers: { "retry-after": "7" },
    gets: [429, "provider_rate_limited"],
  },
  {
    name: "out of quota",
    status: 429,
    body: openaiError(null, "insufficient_quota"),
    gets: [429, "provider_rate_limited"],
  },
  { name: "broken", status: 500, body: openaiError(null), gets: UNAVAILABLE },
  { name: "overloaded", status: 503, body: openaiError(null), gets: UNAVAILABLE },
  {
    name: "refusals that cannot be matched to their questions",
    status: 200,
    body: {
      model: "up-1",
      answers: [
        { type: "predicate", probability: 1 },
        { type: "refusal", name: "1" },
        { type: "refusal", name: "2" },
      ],
    },
    gets: UNAVAILABLE,
  },
];

/** The API of a chat model. */
const CHAT: Row[] = [
  {
    name: "context overflow",
    status: 400,
    body: openaiError("messages", "context_length_exceeded"),
    gets: [413, "context_too_large", "state", "input"],
  },
  {
    name: "content refused",
    status: 400,
    body: openaiError(null, "cyber_policy"),
    gets: [400, "cyber_policy"],
  },
  {
    name: "content refused by Azure's filter",
    status: 200,
    body: {
      model: "up-1",
      choices: [{ index: 0, message: { role: "assistant", content: null }, finish_reason: "content_filter" }],
    },
    gets: [400, "content_policy_violation"],
  },
  {
    name: "a model's refusal",
    status: 200,
    body: {
      model: "up-1",
      choices: [
        { index: 0, message: { role: "assistant", content: null, refusal: "I can't." }, finish_reason: "stop" },
      ],
    },
    gets: [400, "content_policy_violation"],
  },
  { name: "log-probabilities refused", status: 400, body: openaiError("logprobs"), gets: UNAVAILABLE },
  { name: "our key is wrong", status: 401, body: openaiError(null), gets: UNAVAILABLE },
  {
    name: "limited",
    status: 429,
    body: openaiError(null),
    headers: { "retry-after": "7" },
    gets: [429, "provider_rate_limited"],
  },
  { name: "broken", status: 502, body: {}, gets: UNAVAILABLE },
];

const OWN_QUESTIONS = {
  "0": { type: "noul", instructions: "?", criteria: { true: "yes" } },
  "1": { type: "choice", instructions: "?", criteria: { a: null, b: null } },
  "2": { type: "score", instructions: "?", criteria: ["low", "high"] },
};
const OPENAI_QUESTIONS = [
  { type: "predicate", instructions: "?" },
  { type: "choice", instructions: "?", choices: [{ value: "a" }, { value: "b" }] },
  { type: "score", instructions: "?", levels: [{ label: "low" }, { label: "high" }] },
];

describe.each([
  ["native", NATIVE],
  ["openai", OPENAI],
  ["chat", CHAT],
])("from a %s upstream", (model, rows) => {
  test.each(rows.map((row) => [row.name, row] as const))("%s", async (_, { status, body, headers = {}, gets }) => {
    upstream.answer = () => Response.json(body, { status, headers });
    const [expected, code, param = null, openaiParam = null] = gets;
    for (const [path, request, about] of [
      ["/v1/systemone", { model, state: "s", questions: OWN_QUESTIONS }, param],
      ["/typesafe/v1/systemone", { model, state: "s", questions: OWN_QUESTIONS }, param],
      ["/v1/decisions", { model, input: "s", questions: OPENAI_QUESTIONS }, openaiParam],
    ] as const) {
      const got = await gateway.post(path, request, key);
      expect([path, got.status, got.body.error.code, got.body.error.param]).toEqual([path, expected, code, about]);
      expect(got.body.error.message).not.toBe("");
      // Texts that an upstream echoes, and texts about the operator's account, are not passed on.
      expect(JSON.stringify(got.body)).not.toMatch(/SECRET|authenticat|credit|quota/i);
      if (headers["retry-after"] !== undefined || headers["retry-after-ms"] !== undefined)
        expect(got.headers.get("retry-after")).toBe("7");
    }
  });
});
