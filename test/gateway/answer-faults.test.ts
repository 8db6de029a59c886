// Failures within an answer: every code has a meaning, and a failure of the model does not count against the provider.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ERRORS } from "../../src/base/errors.ts";
import { ANSWER_FAULTS, type AnswerFaultCode } from "../../src/chat/answer-fault.ts";
import { clientError, faultOfAnswer, mayRetry, mayTryElsewhere } from "../../src/gateway/rules/policy.ts";
import { outcomeOfFault } from "../../src/upstream/breaker.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { type DialectName, KINDS, say } from "../support/fake-model.ts";
import { CLIENT_FORMATS } from "../support/heard.ts";
import { chatChunk, type FakeUpstream, type Received, sse, startUpstream } from "../support/upstream.ts";

type Meaning = [status: number, breaker: "ok" | "failed", elsewhere: boolean, again: boolean];

/** The status, the outcome for the breaker, whether another route is tried, and whether the same one is retried. */
const MEANINGS: Readonly<Record<AnswerFaultCode, Meaning>> = {
  invalid_request: [400, "ok", false, false],
  content_policy_violation: [400, "ok", false, false],
  context_length_exceeded: [400, "ok", false, false],
  provider_auth_failed: [502, "ok", true, false],
  provider_model_missing: [502, "ok", true, false],
  provider_rate_limited: [429, "ok", true, true],
  provider_unavailable: [502, "failed", true, true],
  provider_stream_interrupted: [502, "failed", true, true],
  provider_timeout: [504, "failed", true, false],
  provider_answer_invalid: [502, "ok", true, false],
  tool_arguments_invalid: [502, "ok", true, false],
};

test.each([...ANSWER_FAULTS])("%s has its meaning", (code) => {
  const fault = faultOfAnswer({ code, message: "words" });
  const told = clientError(fault, (text) => text);
  // An answer that breaks off before any content counts as an unavailable provider.
  expect(told.apiCode).toBe(code === "provider_stream_interrupted" ? "provider_unavailable" : code);
  expect(told.status).toBe(ERRORS[told.apiCode].status);
  const meaning = [told.status, outcomeOfFault(fault), mayTryElsewhere(fault.kind), mayRetry(fault)];
  expect(meaning).toEqual(MEANINGS[code]);
});

const geminiEnd = (finishReason: string) => (received: Received) => {
  const chunk = { candidates: [{ index: 0, finishReason, content: { role: "model", parts: [] } }] };
  return received.path.includes(":stream") ? sse([`data: ${JSON.stringify(chunk)}\n\n`]) : Response.json(chunk);
};
const chatEnd = (finish: string) => (received: Received) => {
  if (received.json?.["stream"] === true) return sse([chatChunk({ role: "assistant" }), chatChunk({}, { finish })]);
  return Response.json({ id: "x", choices: [{ index: 0, message: { role: "assistant" }, finish_reason: finish }] });
};

type End = [
  dialect: DialectName,
  finish: string,
  script: (received: Received) => Response,
  status: number,
  code: string,
  counts: boolean,
];

/** Stop reasons of an answer that count as failures. */
const ENDS: readonly End[] = [
  ...["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"].map(
    (end): End => ["gemini", end, geminiEnd(end), 502, "tool_arguments_invalid", false],
  ),
  ["gemini", "MALFORMED_RESPONSE", geminiEnd("MALFORMED_RESPONSE"), 502, "provider_answer_invalid", false],
  ["gemini", "MISSING_THOUGHT_SIGNATURE", geminiEnd("MISSING_THOUGHT_SIGNATURE"), 400, "invalid_request", false],
  ["openai-chat", "error", chatEnd("error"), 502, "provider_unavailable", true],
  [
    "openai-chat",
    "insufficient_system_resource",
    chatEnd("insufficient_system_resource"),
    502,
    "provider_unavailable",
    true,
  ],
  [
    "openai-chat",
    "function_call_filter: MALFORMED_FUNCTION_CALL",
    chatEnd("function_call_filter: MALFORMED_FUNCTION_CALL"),
    502,
    "tool_arguments_invalid",
    false,
  ],
];

let app: TestApp;
let up: FakeUpstream;

beforeAll(async () => {
  up = startUpstream();
  const provider = (dialect: DialectName, failures: number) => ({
    kind: KINDS[dialect],
    base_url: up.baseUrl,
    api_key: "k",
    discover: false,
    retry: { attempts: 1 },
    breaker: { failures },
  });
  const providers = {
    gemini: provider("gemini", 2),
    "openai-chat": provider("openai-chat", 10_000),
    spare: { ...provider("openai-chat", 2), base_url: `${up.baseUrl}/spare` },
  };
  const route = (name: string, priority: number) => ({ provider: name, model: "up-model", priority });
  app = await startTestApp({
    config: {
      tiers: { premium: { rpm: 100_000 } },
      providers,
      models: [
        ...Object.keys(providers).map((id) => ({ id, routes: [route(id, 1)] })),
        { id: "two", routes: [route("gemini", 1), route("spare", 2)] },
      ],
    },
  });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

async function failuresOf(name: string): Promise<number> {
  const { breakers } = (await (await fetch(`${app.url}/health`)).json()) as {
    breakers: Record<string, { failures: number }>;
  };
  return breakers[name]!.failures;
}

describe.each([false, true])("stop reasons that are failures, stream %p", (stream) => {
  test.each(ENDS)("%s: %s", async (dialect, _finish, script, status, code, counts) => {
    up.answer(script);
    for (const of of CLIENT_FORMATS) {
      const before = await failuresOf(dialect);
      const response = await app.post(of.path, { ...of.body({ stream, tools: false }), model: dialect });
      expect(response.status).toBe(status);
      expect(of.refusal(await response.json())).toMatchObject({ code });
      expect((await failuresOf(dialect)) - before).toBe(counts ? 1 : 0);
    }
  });

  test.each(["IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "SAFETY"])("gemini: %s is a filter", async (end) => {
    up.answer(geminiEnd(end));
    const [chat] = CLIENT_FORMATS;
    const response = await app.post(chat!.path, { ...chat!.body({ stream, tools: false }), model: "gemini" });
    const heard = stream ? chat!.streamed(await response.text()) : chat!.whole((await response.json()) as never);
    expect(heard.stop).toBe("content_filter");
  });

  test("another route is tried when a model's tool call cannot be parsed", async () => {
    up.answer((received) =>
      received.path.includes("/spare/")
        ? say(received, { text: "from the spare" })
        : geminiEnd("MALFORMED_FUNCTION_CALL")(received),
    );
    const [chat] = CLIENT_FORMATS;
    const response = await app.post(chat!.path, { ...chat!.body({ stream, tools: false }), model: "two" });
    const heard = stream ? chat!.streamed(await response.text()) : chat!.whole((await response.json()) as never);
    expect(heard.text).toBe("from the spare");
  });
});

test("arguments that cannot be repaired do not count as a failure of the provider", async () => {
  const calls = [{ id: "c", type: "function", function: { name: "weather", arguments: '{"a": nonsense here }{' } }];
  const choices = [{ index: 0, message: { role: "assistant", tool_calls: calls }, finish_reason: "tool_calls" }];
  up.answer(() => Response.json({ id: "x", choices, usage: { prompt_tokens: 7, completion_tokens: 3 } }));
  for (const of of CLIENT_FORMATS.filter(({ isTextOnly }) => isTextOnly !== true)) {
    const before = await failuresOf("openai-chat");
    const response = await app.post(of.path, { ...of.body({ stream: false, tools: true }), model: "openai-chat" });
    expect(of.refusal(await response.json())).toMatchObject({ code: "tool_arguments_invalid" });
    expect((await failuresOf("openai-chat")) - before).toBe(0);
    // The cost of the failed answer is counted all the same.
    await app.flushLogs();
    expect(app.logs.findLast((line) => line["path"] === of.path)).toMatchObject({ input_tokens: 7, output_tokens: 3 });
  }
});
