// The cost that is reserved before a call foresees the dearest way in which the prompt may be cached.

import { expect, test } from "bun:test";
import { highestCost, worstCaseMicros } from "../../../src/gateway/usage/worst-case.ts";
import { chatCompletionsFormat as chatCompletions } from "../../../src/wire/chat-completions/format.ts";
import type { WireFormat } from "../../../src/wire/format.ts";
import { messagesFormat as messages } from "../../../src/wire/messages/format.ts";

const PRICES = { input: 1, cacheWrite: 1.25, cacheWrite1h: 2, output: 0 };
const hour = { type: "ephemeral", ttl: "1h" };
const text = (mark?: object) => ({ type: "text", text: "a word ".repeat(2000), ...(mark && { cache_control: mark }) });
const of = (content: object[], more: object = {}) => ({
  model: "m",
  max_tokens: 1,
  messages: [{ role: "user", content }],
  ...more,
});

type Row = [string, WireFormat, object, number];
test.each<Row>([
  ["no marker", messages, of([text()]), 1.25],
  ["a usual marker", messages, of([text({ type: "ephemeral" })]), 1.25],
  ["a block for an hour", messages, of([text(hour)]), 2],
  ["the whole prompt for an hour", messages, of([text()], { cache_control: hour }), 2],
  ["a system prompt for an hour", messages, of([text()], { system: [text(hour)] }), 2],
  ["a tool for an hour", messages, of([text()], { tools: [{ name: "t", input_schema: {}, cache_control: hour }] }), 2],
  ["a result for an hour", messages, of([{ type: "tool_result", tool_use_id: "t", content: [text(hour)] }]), 2],
  [
    "a block of Anthropic's own for an hour",
    messages,
    of([text(), { type: "search_result", source: "s", title: "t", content: [text()], cache_control: hour }]),
    2,
  ],
  [
    "a block within a block of Anthropic's own for an hour",
    messages,
    of([text(), { type: "search_result", source: "s", title: "t", content: [text(hour)] }]),
    2,
  ],
  [
    "a block of Anthropic's own in a result for an hour",
    messages,
    of([
      text(),
      {
        type: "tool_result",
        tool_use_id: "t",
        content: [{ type: "search_result", source: "s", title: "t", content: [], cache_control: hour }],
      },
    ]),
    2,
  ],
  [
    "a tool of Anthropic's own for an hour",
    messages,
    of([text()], { tools: [{ type: "web_search_20250305", name: "web_search", cache_control: hour }] }),
    2,
  ],
  [
    "a block of Anthropic's own with a usual marker",
    messages,
    of([text(), { type: "search_result", source: "s", title: "t", content: [], cache_control: { type: "ephemeral" } }]),
    1.25,
  ],
  ["chat: for an hour", chatCompletions, of([text(hour)]), 2],
  ["chat: a long lifetime", chatCompletions, of([text()], { prompt_cache_options: { ttl: "12h" } }), 2],
])("the reserved cost foresees how the prompt may be cached: %s", (_name, format, body, factor) => {
  const chat = format.decode(body as never, {} as never);
  const cost = (prices: typeof PRICES) =>
    worstCaseMicros(chat, { prices, largestContext: undefined, routes: [], maxOutputTokens: 1 }, {});
  const tokens = cost({ input: 1, cacheWrite: 1, cacheWrite1h: 1, output: 0 });
  expect(tokens).toBeGreaterThan(2000);
  expect(cost(PRICES) / tokens).toBeCloseTo(factor, 2);
});

test.each([
  ["", true],
  ["context-1m-2025-08-07", false],
  ["tools-2024-04-04,context-2m", false],
])("the model's context bounds the input, unless a larger one is requested: %p", (betas, isBound) => {
  const chat = messages.decode(of([text()]) as never, {} as never);
  const cost = (largestContext: number | undefined) =>
    worstCaseMicros(chat, { prices: PRICES, largestContext, routes: [], maxOutputTokens: 1 }, { betas });
  expect(cost(100) < cost(undefined)).toBe(isBound);
});

test.each([
  ["without prices", undefined, [], 0],
  ["the model's", 2, [], 2],
  ["a dearer route's", 2, [1, 7, undefined], 7],
  ["a route's alone", undefined, [3], 3],
] as const)("the dearest route is reserved: %s", (_name, own, ofRoutes, want) => {
  const prices = (input: number | undefined) => (input === undefined ? undefined : { input });
  const route = { provider: "p", model: "m", priority: 1, weight: 1 };
  const routes = ofRoutes.map((input) => ({ ...route, prices: prices(input) }));
  expect(highestCost({ prices: prices(own), routes }, ({ input }) => input)).toBe(want);
});
