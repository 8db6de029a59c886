// Measures the CPU time of the dialects' relays and readers for each chunk, without sockets: `bun
// scripts/bench/relay.ts [dialect]`. Blocks of a single frame are the worst case, since networks usually deliver
// several at once.

import type { ChatEvent } from "../../src/chat/event.ts";
import type { Dialect, RelayIdentity } from "../../src/upstream/dialect.ts";
import { anthropicMessages } from "../../src/upstream/dialects/anthropic/dialect.ts";
import { openaiChat } from "../../src/upstream/dialects/openai-chat/dialect.ts";
import { openaiResponses } from "../../src/upstream/dialects/responses/dialect.ts";
import { StreamReader } from "../../src/upstream/plain-frames.ts";

const CHUNKS = 500;
const ROUNDS = 400;

const identity: RelayIdentity = {
  id: "ours",
  model: "canonical",
  includeUsage: true,
  requestId: "r",
  createdSeconds: 1,
  settle: (told) => told ?? { inputTokens: 1, outputTokens: 1 },
  tell: ({ code, message }) => ({ code, message, type: "provider_error", param: null }),
};

const named = (data: Record<string, unknown>) => `event: ${data["type"]}\ndata: ${JSON.stringify(data)}\n\n`;
const word = (i: number) => ` word${i % 97}`;

const streams: Record<string, { dialect: Dialect; open: string[]; chunk(i: number): string; close: string[] }> = {
  "anthropic-messages": {
    dialect: anthropicMessages,
    open: [
      named({ type: "message_start", message: { id: "m", model: "c", usage: { input_tokens: 1 } } }),
      named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    ],
    chunk: (i) => named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: word(i) } }),
    close: [named({ type: "message_delta", delta: { stop_reason: "end_turn" } }), named({ type: "message_stop" })],
  },
  "openai-responses": {
    dialect: openaiResponses,
    open: [
      named({ type: "response.created", response: { id: "r", model: "c" } }),
      named({ type: "response.output_item.added", output_index: 0, item: { id: "m", type: "message" } }),
    ],
    chunk: (i) =>
      named({
        type: "response.output_text.delta",
        sequence_number: i,
        item_id: "m",
        output_index: 0,
        content_index: 0,
        delta: word(i),
        logprobs: [],
        obfuscation: "abcdefgh",
      }),
    close: [named({ type: "response.completed", response: { id: "r", model: "c", status: "completed", output: [] } })],
  },
  "openai-chat": {
    dialect: openaiChat,
    open: [],
    chunk: (i) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content: word(i) }, finish_reason: null }] })}\n\n`,
    close: [
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n`,
      "data: [DONE]\n\n",
    ],
  },
};

for (const [name, { dialect, open, chunk, close }] of Object.entries(streams)) {
  if (process.argv[2] !== undefined && process.argv[2] !== name) continue;
  const frames = [...open, ...Array.from({ length: CHUNKS }, (_, i) => chunk(i)), ...close];
  for (const perBlock of [1, 8]) {
    const blocks = Array.from({ length: Math.ceil(frames.length / perBlock) }, (_, i) =>
      frames.slice(i * perBlock, (i + 1) * perBlock).join(""),
    );
    measure(`${name} relay, ${perBlock} frames a block`, () => {
      const relay = dialect.lossless.relay(identity);
      let chars = 0;
      for (const block of blocks) chars += relay.push(block).length;
      return chars + relay.end().length;
    });
    measure(`${name} reader, ${perBlock} frames a block`, () => {
      const out: ChatEvent[] = [];
      const reader = new StreamReader(dialect.reader(), {
        take: (events) => void out.push(...events),
        repeat: (event, text) => void out.push({ ...event, text }),
        isOver: false,
      });
      for (const block of blocks) reader.push(block);
      reader.end();
      return out.length;
    });
  }
}

function measure(name: string, run: () => number): void {
  let sum = 0;
  for (let i = 0; i < ROUNDS / 4; i++) sum += run();
  const before = process.cpuUsage();
  for (let i = 0; i < ROUNDS; i++) sum += run();
  const { user, system } = process.cpuUsage(before);
  const each = (user + system) / (ROUNDS * CHUNKS);
  console.log(`${name}: ${each.toFixed(2)} µs CPU per chunk${sum === 0 ? "?" : ""}`);
}
