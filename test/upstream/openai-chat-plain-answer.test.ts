import { expect, test } from "bun:test";
import { plainEvents } from "../../src/upstream/dialects/openai-chat/plain-answer.ts";
import { otherEvents } from "../../src/upstream/dialects/openai-chat/reader.ts";

const MESSAGE = { role: "assistant", content: "Hello." };
const CHOICE = { index: 0, message: MESSAGE, finish_reason: "stop" };
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const BODY = { id: "a", object: "chat.completion", created: 1, model: "m", choices: [CHOICE], usage: USAGE };

const withMessage = (members: object) => ({ ...BODY, choices: [{ ...CHOICE, message: { ...MESSAGE, ...members } }] });
const withChoice = (members: object) => ({ ...BODY, choices: [{ ...CHOICE, ...members }] });

// What is plain must be read as the reader of all answers reads it.
test.each<[string, unknown, boolean]>([
  ["one text", BODY, true],
  ["no usage", { ...BODY, usage: undefined }, true],
  ["usage of nothing", { ...BODY, usage: { prompt_tokens: 0, completion_tokens: 0 } }, true],
  ["usage that is no object", { ...BODY, usage: [3] }, true],
  ["a service tier", { ...BODY, service_tier: "flex", system_fingerprint: "f" }, true],
  ["no id and another kind of time", { ...BODY, id: 3, created: "1" }, true],
  ["an index", withChoice({ index: 2 }), true],
  ["an index that is no number", withChoice({ index: "1" }), true],
  ["a limit", withChoice({ finish_reason: "length" }), true],
  ["an unknown end", withChoice({ finish_reason: "nobody-knows" }), true],
  ["empty members", withMessage({ refusal: null, annotations: [], tool_calls: [], reasoning: "" }), true],
  ["unknown members", withMessage({ audio: { id: "x" }, images: [] }), true],
  ["no end", withChoice({ finish_reason: null }), false],
  ["a failed end", withChoice({ finish_reason: "error", error: { message: "no" } }), false],
  ["log probabilities", withChoice({ logprobs: { content: [{ token: "a" }] } }), false],
  ["usage in the choice", withChoice({ usage: USAGE }), false],
  ["a refusal", withMessage({ refusal: "no" }), false],
  ["reasoning", withMessage({ reasoning_content: "so" }), false],
  ["sealed reasoning", withMessage({ reasoning_details: [{ type: "reasoning.text", text: "a" }] }), false],
  ["annotations", withMessage({ annotations: [{ type: "url_citation" }] }), false],
  ["a tool call", withMessage({ tool_calls: [{ id: "c", function: { name: "f", arguments: "{}" } }] }), false],
  ["a call of the old form", withMessage({ function_call: { name: "f", arguments: "{}" } }), false],
  ["no text", withMessage({ content: null }), false],
  ["an empty text", withMessage({ content: "" }), false],
  ["content in parts", withMessage({ content: [{ type: "text", text: "a" }] }), false],
  ["pages beside the choices", { ...BODY, search_results: [{ url: "https://a.example/" }] }, false],
  ["addresses beside the choices", { ...BODY, citations: ["https://a.example/"] }, false],
  ["no pages beside the choices", { ...BODY, citations: [], search_results: null }, true],
  ["an error", { ...BODY, error: { message: "no" } }, false],
  ["usage of Groq", { ...BODY, x_groq: { usage: USAGE } }, false],
  ["two choices", { ...BODY, choices: [CHOICE, { ...CHOICE, index: 1 }] }, false],
  ["no choices", { ...BODY, choices: [] }, false],
  ["a list", [BODY], false],
])("an answer with %s", (_name, body, isPlain) => {
  const events = plainEvents(body);
  expect(events !== undefined).toBe(isPlain);
  if (events !== undefined) expect(events).toEqual(otherEvents(body));
});
