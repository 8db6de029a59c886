// Measures what the tools of chats cost: a request that names none, and a round with a search beside the search and the model's
// own answers, interleaved in one run. Run it by hand: `bun scripts/bench/chat-tools.ts [ROUNDS]`.

import type { ChatTurn } from "../../src/gateway/centre/stage.ts";
import type { ChatToolsDeps } from "../../src/gateway/stages/chat-tools/deps.ts";
import { createChatToolsStage } from "../../src/gateway/stages/chat-tools/stage.ts";
import { startToolsApp } from "../../test/gateway/stages/chat-tools/fixture.ts";
import { chatAnswer } from "../../test/support/upstream.ts";

const ROUNDS = Number(process.argv[2] ?? 300);
const WARM = 50;
/** How often the stage is asked for one figure. */
const OPENS = 200_000;

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Nanoseconds for which a request of an agent that names no such tool is held up. */
function openNs(): number {
  const stage = createChatToolsStage({ mcp: { always: () => [] } } as unknown as ChatToolsDeps);
  const text = [{ type: "text", text: "as was said" }];
  const turn = {
    body: {},
    chat: {
      tools: Array.from({ length: 40 }, (_, n) => ({ type: "function", name: `tool_${n}` })),
      messages: Array.from({ length: 200 }, (_, n) => ({ role: n % 2 === 0 ? "user" : "assistant", content: text })),
    },
  } as unknown as ChatTurn;
  const run = () => {
    const from = Bun.nanoseconds();
    for (let n = 0; n < OPENS; n++) if (stage.open(turn) !== undefined) throw new Error("It opened.");
    return (Bun.nanoseconds() - from) / OPENS;
  };
  run();
  return median(Array.from({ length: 9 }, run));
}

async function roundMs() {
  const { app, upstream, stop } = await startToolsApp({ tiers: { premium: { rpm: 1_000_000 } } });
  upstream.answer(({ json }) => {
    const messages = json!["messages"] as { role: string }[];
    const calls = (json!["tools"] as unknown[] | undefined)?.length && messages.at(-1)!.role === "user";
    const search = { id: "c", type: "function", function: { name: "web_search", arguments: '{"query":"rye"}' } };
    return calls
      ? chatAnswer({ content: null, tool_calls: [search] }, { finish: "tool_calls" })
      : chatAnswer({ content: "Rye is a grass [1]." });
  });
  const timed = async (path: string, body: object) => {
    const from = performance.now();
    const response = await app.post(path, body);
    await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    return performance.now() - from;
  };
  const messages = [{ role: "user", content: "What is rye?" }];
  const plain: number[] = [];
  const searched: number[] = [];
  const whole: number[] = [];
  for (let n = 0; n < ROUNDS + WARM; n++) {
    upstream.received.length = 0;
    const one = await timed("/v1/chat/completions", { model: "m", messages });
    const found = await timed("/v1/search", { query: "rye", limit: 5, include_content: true, timeout_seconds: 15 });
    const both = await timed("/v1/chat/completions", { model: "m", messages, web_search_options: {} });
    if (n < WARM) continue;
    plain.push(one);
    searched.push(found);
    whole.push(both);
  }
  await stop();
  return { plain: median(plain), searched: median(searched), whole: median(whole) };
}

const { plain, searched, whole } = await roundMs();
const figure = (value: number) => value.toFixed(2).padStart(8);
process.stdout.write(
  [
    `a request that names no such tool, 40 functions and 200 messages: ${figure(openNs())} ns`,
    `a chat without a search:                                          ${figure(plain)} ms`,
    `a search with its pages:                                          ${figure(searched)} ms`,
    `a chat with a search, two rounds:                                 ${figure(whole)} ms`,
    `added beside the search and two chats:                            ${figure(whole - searched - 2 * plain)} ms`,
    "",
  ].join("\n"),
);
process.exit(0);
