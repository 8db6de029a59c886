import { expect, test } from "bun:test";
import type { ChatEvent } from "../../src/chat/event.ts";
import { plainGeminiEvents } from "../../src/upstream/dialects/gemini/plain-answer.ts";
import { GeminiReader } from "../../src/upstream/dialects/gemini/reader.ts";
import { shownGeminiUsage } from "../../src/upstream/dialects/gemini/shown.ts";
import { geminiUsage } from "../../src/upstream/dialects/gemini/usage.ts";

const PART = { text: "Hello." };
const CANDIDATE = { index: 0, content: { role: "model", parts: [PART] }, finishReason: "STOP" };
const USAGE = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 };
const BODY = { candidates: [CANDIDATE], usageMetadata: USAGE, modelVersion: "m", responseId: "a" };

const withPart = (members: object) => withParts([{ ...PART, ...members }]);
const withParts = (parts: unknown) => withCandidate({ content: { role: "model", parts } });
const withCandidate = (members: object) => ({ ...BODY, candidates: [{ ...CANDIDATE, ...members }] });
const withFigures = (members: object) => ({ ...BODY, usageMetadata: { ...USAGE, ...members } });

// What is plain must be read as the reader of all answers reads it.
test.each<[string, Record<string, unknown>, boolean]>([
  ["one text", BODY, true],
  ["usage of nothing", withFigures({ promptTokenCount: 0, candidatesTokenCount: 0 }), true],
  ["thoughts that were counted", withFigures({ thoughtsTokenCount: 7, totalTokenCount: 12 }), true],
  ["no id and no model", { ...BODY, responseId: 3, modelVersion: undefined }, true],
  ["an index", withCandidate({ index: 2 }), true],
  ["no index", withCandidate({ index: undefined }), true],
  ["an index that is no number", withCandidate({ index: "1" }), true],
  ["ratings", withCandidate({ safetyRatings: [{ category: "X" }] }), true],
  ["no usage", { ...BODY, usageMetadata: undefined }, false],
  ["no count of the output", { ...BODY, usageMetadata: { promptTokenCount: 3 } }, false],
  ["a limit", withCandidate({ finishReason: "MAX_TOKENS" }), false],
  ["no end", withCandidate({ finishReason: undefined }), false],
  ["a failed end", withCandidate({ finishReason: "MALFORMED_RESPONSE" }), false],
  ["searches", withCandidate({ groundingMetadata: { webSearchQueries: ["a"] } }), false],
  ["feedback", { ...BODY, promptFeedback: { blockReason: "SAFETY" } }, false],
  ["a thought", withPart({ thought: true }), false],
  ["a signature", withPart({ thoughtSignature: "c2ln" }), false],
  ["a call", withParts([{ functionCall: { name: "f", args: {} } }]), false],
  ["two parts", withParts([PART, PART]), false],
  ["an empty text", withPart({ text: "" }), false],
  ["no parts", withParts([]), false],
  ["an error", { ...BODY, error: { message: "no" } }, false],
  ["two candidates", { ...BODY, candidates: [CANDIDATE, { ...CANDIDATE, index: 1 }] }, false],
  ["no candidates", { ...BODY, candidates: [] }, false],
])("an answer with %s", (_name, body, isPlain) => {
  const events = plainGeminiEvents(body);
  expect(events !== undefined).toBe(isPlain);
  if (events === undefined) return;
  const read: ChatEvent[] = [];
  const reader = new GeminiReader();
  reader.take(body, read);
  reader.end(read);
  expect(events).toEqual(read);
});

test("usage that says what was settled is shown as it is, and no other", () => {
  const shown = (raw: Record<string, unknown>, settled: object = {}) =>
    shownGeminiUsage(raw, { ...geminiUsage(raw)!, ...settled });
  const same: Record<string, unknown>[] = [
    USAGE,
    { ...USAGE, promptTokensDetails: [{ modality: "TEXT", tokenCount: 3 }] },
    { ...USAGE, thoughtsTokenCount: 4, totalTokenCount: 9, cachedContentTokenCount: 1 },
  ];
  for (const raw of same) expect(shown(raw)).toBe(raw);
  expect(shown({ ...USAGE, cachedContentTokenCount: 9 })).toEqual(USAGE);
  expect(shown({ ...USAGE, thoughtsTokenCount: "4" })).toEqual(USAGE);
  expect(shown(USAGE, { costUsd: 0.5 })).toEqual({ ...USAGE, cost: 0.5 });
  expect(shown(USAGE, { outputTokens: 4 })).toEqual({ ...USAGE, candidatesTokenCount: 4, totalTokenCount: 7 });
});
