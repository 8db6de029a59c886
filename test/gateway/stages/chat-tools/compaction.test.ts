// A conversation with results of the gateway's tools that is shortened: what is left of it, and what the rounds of the answer add.

import { afterAll, describe, expect, test } from "bun:test";
import { chatAnswer, chatChunk, type Received, sse } from "../../../support/upstream.ts";
import { startToolsApp } from "./fixture.ts";

const { app, upstream, stop } = await startToolsApp({
  models: [{ id: "m", context_length: 8000, routes: [{ provider: "up", model: "up-model" }] }],
});
afterAll(stop);

type Json = Record<string, unknown>;
const SUMMARY = "You keep the record of a conversation";
const FACT = "the field is at the river";

/** Answers summaries with a fact, searches where it may and has not since the last question, and then answers. */
function model(received: Received): Response {
  const { json, text } = received;
  const stream = json!["stream"] === true;
  const isSummary = text.includes(SUMMARY);
  const messages = json!["messages"] as Json[];
  const calls = !isSummary && messages.at(-1)!["role"] === "user";
  const call = { id: `call_${upstream.received.length}`, type: "function" };
  const search = { name: "web_search", arguments: '{"query":"rye"}' };
  const content = isSummary ? `## Task\n${FACT}` : calls ? "" : "Done.";
  const made = calls ? { tool_calls: [{ index: 0, ...call, function: search }] } : {};
  const finish = calls ? "tool_calls" : "stop";
  if (!stream) return chatAnswer({ content, ...made }, { finish });
  return sse([chatChunk({ role: "assistant", content, ...made }), chatChunk({}, { finish }), "data: [DONE]\n\n"]);
}

const FILLER = "as was said ".repeat(120);
const isTurn = ({ text }: Received) => !text.includes(SUMMARY);

const CLIENTS = {
  responses: {
    path: "/v1/responses",
    first: { input: "What is rye?", tools: [{ type: "web_search" }], store: false },
    kept: (body: Json) => body["output"] as Json[],
    next: (kept: Json[]) => ({
      context_management: [{ type: "compaction", compact_threshold: 4000 }],
      input: [
        { role: "user", content: "What is rye?" },
        ...kept,
        ...Array.from({ length: 12 }, (_, n) => [
          { role: "user", content: `Question ${n}: ${FILLER}` },
          { role: "assistant", content: `Answer ${n}: ${FILLER}` },
        ]).flat(),
        ...kept,
        { role: "user", content: "And oats?" },
      ],
    }),
  },
  messages: {
    path: "/v1/messages",
    first: {
      max_tokens: 99,
      messages: [{ role: "user", content: "What is rye?" }],
      tools: [{ type: "web_search_20250305", name: "web_search" }],
    },
    kept: (body: Json) => [{ role: "assistant", content: body["content"] }],
    next: (kept: Json[]) => ({
      context_management: { edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value: 50_000 } }] },
      messages: [
        { role: "user", content: "What is rye?" },
        ...kept,
        ...Array.from({ length: 12 }, (_, n) => [
          { role: "user", content: `Question ${n}: ${FILLER}` },
          { role: "assistant", content: `Answer ${n}: ${FILLER}` },
        ]).flat(),
        { role: "user", content: "What is rye, again?" },
        ...kept,
        { role: "user", content: "And oats?" },
      ],
    }),
  },
};

describe.each(["responses", "messages"] as const)("%s", (name) => {
  test.each([false, true])("is shortened, keeps its results, and goes on searching (stream %p)", async (stream) => {
    const { path, first, kept, next } = CLIENTS[name];
    upstream.answer(model);
    const begun = await app.post(path, { model: "m", ...first });
    const blocks = kept((await begun.json()) as Json);
    expect(JSON.stringify(blocks)).toContain("sallyport.");
    upstream.received.length = 0;
    const response = await app.post(path, { model: "m", ...first, ...next(blocks), stream });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    const summaries = upstream.received.filter((one) => !isTurn(one));
    expect(summaries.length).toBeGreaterThan(0);
    // Nobody reads anything in what is sealed.
    expect(upstream.received.filter((one) => one.text.includes("sallyport."))).toEqual([]);
    const turns = upstream.received.filter(isTurn);
    expect(turns.length).toBe(2);
    for (const { json, text: sent } of turns) {
      expect(sent).toContain(FACT);
      expect((json!["tools"] as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual([
        "web_search",
      ]);
    }
    // The newest results are there as the model saw them, and those of this answer behind them.
    const messages = turns[1]!.json!["messages"] as Json[];
    expect(messages.slice(-2).map(({ role }) => role)).toEqual(["assistant", "tool"]);
    expect(String(messages.at(-1)!["content"])).toContain("grown as a grain");
    expect(messages.filter(({ role }) => role === "tool").length).toBe(2);
    expect(text).toContain("Done.");
  });
});
