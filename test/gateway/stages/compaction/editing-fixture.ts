// Conversations that are long enough for `context_management`, with upstreams that support it and upstreams that do not.

import { expect } from "bun:test";
import type { TestApp } from "../../../support/app.ts";
import { DIALECTS, KINDS } from "../../../support/fake-model.ts";
import { framesOf } from "../../../support/upstream.ts";
import { elementsOf, type Step } from "./fixture.ts";

export type Json = Record<string, unknown>;

/** A provider and a model for each protocol, two providers without compaction, and a model with a route of each kind. */
export function editingConfig(baseUrl: string, context_length = 20_000): Json {
  const provider = (kind: string, quirks: Json = {}) => ({
    kind,
    base_url: baseUrl,
    api_key: "k",
    discover: false,
    retry: { attempts: 1 },
    quirks,
  });
  return {
    providers: {
      ...Object.fromEntries(DIALECTS.map((name) => [name, provider(KINDS[name])])),
      "plain-responses": provider("openai-responses", { compaction: false }),
      "plain-messages": provider("anthropic", { compaction: false }),
    },
    models: [
      ...[...DIALECTS, "plain-responses", "plain-messages"].map((id) => ({
        id,
        context_length,
        routes: [{ provider: id, model: "up" }],
      })),
      // The gateway remembers what it learned about a model's window. Each of these models is therefore for one test.
      ...["openai-chat", "plain-messages"].flatMap((provider) =>
        [0, 1, 2, 3, 4, 5].map((n) => ({
          id: `${provider}-${n}`,
          context_length,
          routes: [{ provider, model: "up" }],
        })),
      ),
      {
        id: "mixed",
        context_length,
        routes: [
          { provider: "anthropic-messages", model: "up", priority: 1 },
          { provider: "plain-messages", model: "up", priority: 2 },
        ],
      },
    ],
    tiers: { premium: { rpm: 1_000_000 } },
  };
}

/** The usage that the upstream reports. The gateway learns token sizes from it. */
export const usageOf = ({ text }: { text: string }) => ({ input: Math.ceil(text.length / 4), output: 5 });

/** Calls with results of some 90 tokens each, and text between them. */
const steps = (name: string): Step[] =>
  Array.from({ length: 12 }, (_, n): Step[] => [
    { kind: "user", text: `${name}: fact-${n} is v${n}x` },
    {
      kind: "tools",
      calls: [{ id: `c${n}`, name: n % 2 ? "read" : "write", args: `src/f${n}.ts`, result: "line ".repeat(90) }],
    },
    { kind: "assistant", text: `noted ${n}` },
  ]).flat();
export const end: Step = { kind: "user", text: "And now?" };
export const listOf = (name: string) => elementsOf("anthropic-messages", [...steps(name), end]);
export const inputOf = (name: string) => elementsOf("openai-responses", [...steps(name), end]);

/** Requests edits of a conversation with the given name. */
export const asker =
  (app: () => TestApp) =>
  (model: string, edits: Json[], more: Json = {}) =>
    app().post("/v1/messages", {
      model,
      max_tokens: 50,
      messages: listOf("edits"),
      context_management: { edits },
      ...more,
    });

/** An answer in the messages format. */
export interface Answer extends Json {
  content: Json[];
  context_management?: { applied_edits: Json[] };
  stop_reason: string;
  usage: Json & { iterations?: Json[] };
}

/** The whole answer. For a streamed one its events must be in legal order. */
export async function answerOf(response: Response): Promise<Answer> {
  expect(response.status).toBe(200);
  if (!response.headers.get("content-type")?.includes("event-stream")) return (await response.json()) as Answer;
  const all = (await framesOf(response)) as (Json & { index?: number })[];
  const frames = all.filter(({ type }) => type !== "ping");
  const content: Json[] = [];
  let open = false;
  expect(frames.shift()?.["type"]).toBe("message_start");
  for (const frame of frames) {
    if (frame["type"] === "content_block_start") {
      expect([open, frame.index]).toEqual([false, content.length]);
      open = true;
      content.push({ ...(frame["content_block"] as Json) });
    } else if (frame["type"] === "content_block_delta") {
      expect([open, frame.index]).toEqual([true, content.length - 1]);
      const { type, ...delta } = frame["delta"] as Json;
      const block = content.at(-1)!;
      if (type === "text_delta") block["text"] = `${block["text"]}${delta["text"]}`;
      else Object.assign(block, delta);
    } else if (frame["type"] === "content_block_stop") {
      expect([open, frame.index]).toEqual([true, content.length - 1]);
      open = false;
    }
  }
  expect(frames.slice(-2).map(({ type }) => type)).toEqual(["message_delta", "message_stop"]);
  const { delta, type: _type, ...rest } = frames.at(-2) as Json;
  return { content, ...(delta as Json), ...rest } as unknown as Answer;
}

/** Clears old results if there are more than five calls. */
export const CLEAR = { type: "clear_tool_uses_20250919", trigger: { type: "tool_uses", value: 5 } };
/** Compacts conversations of this length. */
export const COMPACT = {
  type: "compact_20260112",
  trigger: { type: "input_tokens", value: 1200 },
  instructions: "Only names.",
};
