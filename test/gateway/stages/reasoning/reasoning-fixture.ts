// Providers of every kind with reasoning, the program in front of them, and clients that send back what they received.

import { startTestApp, type TestApp } from "../../../support/app.ts";
import { type FakeUpstream, type Received, startUpstream } from "../../../support/upstream.ts";

export type Json = Record<string, unknown>;

/** Two providers of each protocol, and those that handle reasoning in their own way. */
export const PROVIDERS: Readonly<Record<string, { kind: string; model: string; quirks?: Json }>> = {
  claude: { kind: "anthropic", model: "claude-sonnet-4-5" },
  lookalike: { kind: "anthropic", model: "claude-like" },
  openai: { kind: "openai-responses", model: "gpt-5", quirks: { plain_reasoning: false } },
  azure: { kind: "openai-responses", model: "gpt-5", quirks: { plain_reasoning: false } },
  "gpt-oss": { kind: "openai-responses", model: "gpt-oss" },
  "gemini-2": { kind: "gemini", model: "gemini-2.5-pro" },
  "gemini-3": { kind: "gemini", model: "gemini-3-pro" },
  deepseek: { kind: "openai", model: "deepseek-v4", quirks: { return_reasoning_content: true } },
  compatible: { kind: "openai", model: "some/model" },
  groq: { kind: "openai", model: "qwen3", quirks: { refuses_reasoning: true } },
};
export const NAMES = Object.keys(PROVIDERS);

/** The program in front of one fake provider per entry. Each provider has its own path. */
export async function startProviders(
  providers = PROVIDERS,
): Promise<{ app: TestApp; upstream: FakeUpstream; stop(): Promise<void> }> {
  const names = Object.keys(providers);
  const routeTo = (name: string) => ({ provider: name, model: providers[name]?.model });
  const upstream = startUpstream();
  const baseOf = (name: string) => `${upstream.baseUrl}/${name}`;
  const app = await startTestApp({
    config: {
      providers: Object.fromEntries(
        Object.entries(providers).map(([name, { kind, quirks }]) => [
          name,
          {
            kind,
            base_url: baseOf(name),
            api_key: "k",
            discover: false,
            ...(quirks === undefined ? {} : { quirks }),
            retry: { attempts: 1 },
            breaker: { failures: 1000 },
          },
        ]),
      ),
      models: [
        ...names.map((id) => ({ id, routes: [routeTo(id)] })),
        ...names.flatMap((first) =>
          names
            .filter((second) => second !== first)
            .map((second) => ({
              id: `${first}-then-${second}`,
              routes: [
                { ...routeTo(first), priority: 0 },
                { ...routeTo(second), priority: 1 },
              ],
            })),
        ),
      ],
      tiers: { premium: { rpm: 1_000_000 } },
    },
  });
  return {
    app,
    upstream,
    async stop() {
      await app.stop();
      await upstream.stop();
    },
  };
}

export const providerOf = (received: Received) => received.path.split("/")[2] ?? "";
export const thoughtOf = (name: string) => `Thinking of ${name}.`;
export const sealOf = (name: string) => Buffer.from(`sealed by ${name}`).toString("base64");

/** A provider's first answer: reasoning and a tool call. Providers without signatures send plain reasoning. */
export function thinks(name: string) {
  const signed = PROVIDERS[name]?.kind !== "openai";
  return {
    reasoning: { text: thoughtOf(name), ...(signed ? { signature: sealOf(name) } : {}) },
    calls: [{ id: "call_1", name: "look", args: { at: name } }],
  };
}

export interface Client {
  path: string;
  first(model: string, stream: boolean): Json;
  /** The assistant's turn as the client stores it. */
  kept(answer: Json): Json[];
  streamed(frames: Json[]): Json[];
  second(model: string, kept: Json[]): Json;
}

export const QUESTION = { role: "user", content: "Look." };
export const PARAMETERS = { type: "object", properties: { at: { type: "string" } } };

export const CLIENTS: Readonly<Record<string, Client>> = {
  messages: {
    path: "/v1/messages",
    first: (model, stream) => ({
      model,
      stream,
      max_tokens: 4000,
      thinking: { type: "enabled", budget_tokens: 1024 },
      tools: [{ name: "look", input_schema: PARAMETERS }],
      messages: [QUESTION],
    }),
    kept: (answer) => [{ role: "assistant", content: answer["content"] }],
    streamed: (frames) => [{ role: "assistant", content: blocksOf(frames) }],
    second(model, kept) {
      const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "seen" }] };
      return { ...this.first(model, false), messages: [QUESTION, ...kept, result] };
    },
  },
  responses: {
    path: "/v1/responses",
    first: (model, stream) => ({
      model,
      stream,
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "high" },
      tools: [{ type: "function", name: "look", parameters: PARAMETERS }],
      input: [QUESTION],
    }),
    kept: (answer) => answer["output"] as Json[],
    streamed: outputOf,
    second(model, kept) {
      const result = { type: "function_call_output", call_id: "call_1", output: "seen" };
      return { ...this.first(model, false), input: [QUESTION, ...kept, result] };
    },
  },
  chat: {
    path: "/v1/chat/completions",
    first: (model, stream) => ({
      model,
      stream,
      max_tokens: 4000,
      reasoning_effort: "low",
      tools: [{ type: "function", function: { name: "look", parameters: PARAMETERS } }],
      messages: [QUESTION],
    }),
    kept: (answer) => [(answer["choices"] as Json[])[0]?.["message"] as Json],
    streamed: (frames) => [messageOf(frames)],
    second(model, kept) {
      const result = { role: "tool", tool_call_id: "call_1", content: "seen" };
      return { ...this.first(model, false), messages: [QUESTION, ...kept, result] };
    },
  },
};

/** The items of a streamed response. */
function outputOf(frames: Json[]): Json[] {
  const response = frames.find(({ type }) => type === "response.completed")?.["response"] as Json | undefined;
  return response?.["output"] as Json[];
}

/** The blocks of a streamed message. */
function blocksOf(frames: Json[]): Json[] {
  const blocks: Json[] = [];
  for (const { type, index, content_block, delta } of frames) {
    if (type === "content_block_start") blocks[index as number] = { ...(content_block as Json) };
    if (type !== "content_block_delta") continue;
    const block = blocks[index as number] as Json;
    const { type: kind, ...pieces } = delta as Json;
    for (const [name, piece] of Object.entries(pieces)) {
      const key = kind === "input_json_delta" ? "json" : name;
      block[key] = `${String(block[key] ?? "")}${String(piece)}`;
    }
  }
  return blocks.map(({ json, ...block }) =>
    json === undefined ? block : { ...block, input: JSON.parse(String(json)) },
  );
}

/** The message of the streamed chunks, put together as clients do it: texts are joined, and lists are extended. */
function messageOf(frames: Json[]): Json {
  const message: Json = { role: "assistant", content: "" };
  const calls: Json[] = [];
  for (const frame of frames) {
    const delta = ((frame["choices"] as Json[] | undefined)?.[0]?.["delta"] ?? {}) as Json;
    for (const [name, piece] of Object.entries(delta)) {
      if (name === "role" || piece === null) continue;
      if (name === "tool_calls") {
        for (const { index, function: fn, ...call } of piece as Json[]) {
          const known = calls[index as number] ?? { function: { name: "", arguments: "" } };
          calls[index as number] = Object.assign(known, call);
          const whole = known["function"] as Json;
          for (const key of ["name", "arguments"])
            whole[key] = `${String(whole[key])}${String((fn as Json)?.[key] ?? "")}`;
        }
      } else if (Array.isArray(piece)) message[name] = [...((message[name] as unknown[]) ?? []), ...piece];
      else message[name] = `${String(message[name] ?? "")}${String(piece)}`;
    }
  }
  return { ...message, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}

export const framesIn = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)) as Json);
