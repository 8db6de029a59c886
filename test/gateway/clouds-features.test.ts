// The clouds, feature by feature: a client of chat completions asks each of their models with a tool, a picture and an effort, and the
// call, the thinking and the usage come back, whole and streamed. And no secret of theirs is in a log, a trace, an error or the shown
// configuration, also where the cloud and its token server repeat them.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommandLine } from "../../src/cli/run.ts";
import { tempDir } from "../store/support.ts";
import { startTestApp } from "../support/app.ts";
import { AWS_KEYS, chunk, eventStream, type Seen, startCloudServer } from "../support/cloud-server.ts";
import { CLIENT_FORMATS } from "../support/heard.ts";
import { FakeTerminal } from "../support/terminal.ts";
import { startTraceCollector } from "../support/trace-collector.ts";

const TOKEN = "ya29.token-of-the-cloud-0123456789";
const cloud = startCloudServer(TOKEN);
const { origin, seen } = cloud;
const region = "us-west-2";
const SECRETS = {
  refresh: "refresh-token-of-the-account",
  account: "password-of-the-client",
  client: "client-secret-of-entra",
  key: "key-of-the-resource",
  bearer: "bearer-of-bedrock",
};
const json = JSON.stringify({
  type: "authorized_user",
  client_id: "c",
  client_secret: SECRETS.account,
  refresh_token: SECRETS.refresh,
});
const usual = { base_url: origin, discover: false, retry: { attempts: 1 }, breaker: { failures: 1000 } };
const entra = { tenant: "t", client_id: "c", client_secret: SECRETS.client };
const PROVIDERS = {
  bedrock: { region, credentials: AWS_KEYS, ...usual },
  bearer: { preset: "bedrock", region, api_key: SECRETS.bearer, ...usual },
  "bedrock-mantle": { region, credentials: AWS_KEYS, ...usual },
  vertex: { project: "p", region: "us-east5", credentials: { json, token_url: `${origin}/token` }, ...usual },
  foundry: { api_key: SECRETS.key, ...usual },
  entra: { preset: "foundry", credentials: { ...entra, token_url: `${origin}/token` }, ...usual },
  refused: { preset: "foundry", credentials: { ...entra, token_url: `${origin}/refused` }, ...usual },
};
const MODELS: readonly [provider: keyof typeof PROVIDERS, model: string][] = [
  ["bedrock", "us.anthropic.claude-opus-4-5-20251101-v1:0"],
  ["bearer", "global.anthropic.claude-opus-4-5-20251101-v1:0"],
  ["bedrock", "openai.gpt-5.4"],
  ["bedrock", "qwen.qwen3-vl-235b-a22b-v1:0"],
  ["bedrock-mantle", "anthropic.claude-opus-4-5"],
  ["bedrock-mantle", "openai.gpt-oss-120b"],
  ["vertex", "claude-opus-4-5@20251101"],
  ["vertex", "gemini-2.5-pro"],
  ["vertex", "meta/llama-4-maverick-17b-128e-instruct-maas"],
  ["vertex", "gpt-5.4"],
  ["foundry", "claude-opus-4-5"],
  ["foundry", "my-deployment"],
  ["entra", "my-deployment"],
];
const idOf = (provider: string, model: string) => `${provider}:${model}`;
const CONFIG = {
  providers: { ...PROVIDERS, demo: { enabled: false } },
  models: [...MODELS, ["refused", "my-deployment"] as const].map(([provider, model]) => ({
    id: idOf(provider, model),
    routes: [{ provider, model }],
  })),
};

const collector = startTraceCollector();
const app = await collector.sending(() => startTestApp({ key: { rpm: 10_000 }, config: CONFIG }));
afterAll(async () => {
  await app.stop();
  await Promise.all([collector.stop(), cloud.stop()]);
});
beforeEach(() => {
  seen.length = 0;
  cloud.answer(answered);
});

const ARGS = { city: "Oslo" };
const sse = (events: readonly { readonly type?: string; readonly [name: string]: unknown }[], end = "") =>
  new Response(
    events
      .map((one) => `${one.type === undefined ? "" : `event: ${one.type}\n`}data: ${JSON.stringify(one)}\n\n`)
      .join("") + end,
    { headers: { "content-type": "text/event-stream" } },
  );

const CLAUDE = [
  { type: "thinking", thinking: "I look.", signature: "c2ln" },
  { type: "tool_use", id: "toolu_1", name: "weather", input: ARGS },
];
const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 4 },
};
const deltasOf = [
  [
    { type: "thinking_delta", thinking: "I look." },
    { type: "signature_delta", signature: "c2ln" },
  ],
  [{ type: "input_json_delta", partial_json: JSON.stringify(ARGS) }],
];
const CLAUDE_EVENTS = [
  { type: "message_start", message: { ...message, content: [], stop_reason: null } },
  ...CLAUDE.flatMap((block, index) => [
    {
      type: "content_block_start",
      index,
      content_block: block.type === "thinking" ? { ...block, thinking: "", signature: "" } : { ...block, input: {} },
    },
    ...(deltasOf[index] ?? []).map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ]),
  { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: message.usage },
  { type: "message_stop" },
];

const call = { id: "call_1", type: "function", function: { name: "weather", arguments: JSON.stringify(ARGS) } };
const chat = { id: "c1", created: 1, model: "m" };
const chatUsage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
const GEMINI = {
  candidates: [
    {
      content: {
        role: "model",
        parts: [{ text: "I look.", thought: true }, { functionCall: { name: "weather", args: ARGS } }],
      },
      finishReason: "STOP",
      index: 0,
    },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
};
const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "m",
  output: [
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "I look." }] },
    {
      type: "function_call",
      id: "fc_1",
      call_id: "call_1",
      name: "weather",
      arguments: JSON.stringify(ARGS),
      status: "completed",
    },
  ],
  usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
};

/** The answer of the right kind for a path: thinking and a call. */
function answered({ path, body }: Seen): Response {
  if (path.endsWith("/invoke-with-response-stream")) return eventStream(CLAUDE_EVENTS.map(chunk));
  if (/:streamRawPredict/.test(path) || (path.includes("/messages") && body["stream"] === true))
    return sse(CLAUDE_EVENTS);
  if (/\/invoke$|:rawPredict|\/messages/.test(path))
    return Response.json({ ...message, content: CLAUDE, stop_reason: "tool_use" });
  if (path.includes(":streamGenerateContent")) return sse([GEMINI]);
  if (path.includes(":generateContent")) return Response.json(GEMINI);
  if (path.endsWith("/responses")) {
    return body["stream"] === true
      ? sse([{ type: "response.completed", response: RESPONSE } as { type: string }])
      : Response.json(RESPONSE);
  }
  const said = { role: "assistant", content: null, reasoning_content: "I look." };
  if (body["stream"] !== true) {
    const choices = [{ index: 0, message: { ...said, tool_calls: [call] }, finish_reason: "tool_calls" }];
    return Response.json({ ...chat, object: "chat.completion", choices, usage: chatUsage });
  }
  const of = (delta: object, end: string | null) => ({
    ...chat,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: end }],
  });
  const last = { ...chat, object: "chat.completion.chunk", choices: [], usage: chatUsage };
  return sse(
    [of(said, null), of({ tool_calls: [{ index: 0, ...call }] }, null), of({}, "tool_calls"), last],
    "data: [DONE]\n\n",
  );
}

const PICTURE = "iVBORw0KGgo=";
const ASK = {
  max_completion_tokens: 4096,
  reasoning_effort: "high",
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Where?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE}` } },
      ],
    },
  ],
  tools: [
    {
      type: "function",
      function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
    },
  ],
};
const format = CLIENT_FORMATS.find(({ name }) => name === "openai-chat")!;

describe.each(MODELS)("%s %s", (provider, model) => {
  test.each([false, true])(
    "a tool, a picture and an effort; a call, thinking and usage, streamed: %p",
    async (stream) => {
      const more = stream ? { stream, stream_options: { include_usage: true } } : {};
      const response = await app.post(format.path, { model: idOf(provider, model), ...ASK, ...more });
      const text = await response.text();
      expect([response.status, response.status === 200 ? "" : text]).toEqual([200, ""]);
      const heard = stream ? format.streamed(text) : format.whole(JSON.parse(text));
      expect(heard.calls).toEqual([{ name: "weather", args: ARGS }]);
      expect(heard.reasoning).toBe("I look.");
      expect(heard.usage).toMatchObject({ input: 3, output: 4 });
      const [{ text: sent }] = seen as [Seen];
      expect(sent).toContain(PICTURE);
      expect(sent).toContain('"weather"');
      const dropped = (response.headers.get("x-sallyport-dropped") ?? "").includes("reasoning_effort");
      expect(dropped || /"(?:reasoning_effort|reasoning|thinking|effort|thinkingConfig)"/.test(sent)).toBe(true);
    },
  );
});

describe("secrets", () => {
  const ALL = [...Object.values(SECRETS), AWS_KEYS.secret_access_key, AWS_KEYS.session_token, TOKEN];

  test("are in no answer, log or trace, although the cloud repeats them", async () => {
    cloud.answer(({ headers, path }) => {
      const said = [
        headers.get("authorization"),
        headers.get("x-api-key"),
        headers.get("x-amz-security-token"),
        ...ALL,
      ];
      return Response.json(
        { message: said.join(" "), error: { message: `${path} ${said.join(" ")}`, type: "x" } },
        { status: path.includes("claude") ? 400 : 403 },
      );
    });
    for (const [provider, model] of [...MODELS, ["refused", "my-deployment"] as const]) {
      for (const stream of [false, true]) {
        const response = await app.post(format.path, { model: idOf(provider, model), ...ASK, stream });
        const text = await response.text();
        expect(response.status).toBeGreaterThanOrEqual(400);
        for (const secret of ALL) expect(text).not.toContain(secret);
      }
    }
    await app.flushLogs();
    const logs = JSON.stringify(app.logs);
    expect(logs).toContain("my-deployment");
    for (const secret of ALL) expect(logs).not.toContain(secret);
    await app.stop();
    expect(collector.spans().length).toBeGreaterThan(10);
    for (const secret of ALL) expect(collector.bodies.join("\n")).not.toContain(secret);
  });

  test.each([[[]], [["--json"]]])("are not in the shown configuration: config %p", async (flags) => {
    const cwd = tempDir();
    writeFileSync(join(cwd, "sallyport.yaml"), JSON.stringify(CONFIG));
    const io = new FakeTerminal();
    const env = {
      AWS_BEARER_TOKEN_BEDROCK: "bearer-of-the-environment",
      AZURE_CLIENT_SECRET: "secret-of-the-environment",
    };
    expect(await runCommandLine(["config", ...flags], { version: "1", io, surroundings: { env, cwd } })).toBe(0);
    expect(io.stdout).toContain("client_secret");
    for (const secret of [...ALL, ...Object.values(env)]) expect(io.stdout + io.stderr).not.toContain(secret);
  });
});
