// Parameters that a model is known to refuse are never sent, whichever client sends them. No defaults are sent along with
// reasoning, and the protocol is the one that supports the model's tools.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { dialectOf, type Said, say } from "../support/fake-model.ts";
import { CLIENT_FORMATS } from "../support/heard.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const SAID: Said = {
  text: "Let me look.",
  calls: [{ id: "call_1", name: "weather", args: { city: "Oslo" } }],
  usage: { input: 12, output: 7, cached: 3, reasoning: 2 },
};
const upstream = startUpstream((received) => say(received, SAID));
const provider = (more: Json) => ({ base_url: upstream.baseUrl, api_key: "k", discover: false, ...more });
const MODELS = {
  openai: [
    "gpt-4.1",
    "gpt-5-mini",
    "gpt-5.1",
    "gpt-5.4",
    "gpt-5.5",
    "gpt-5.6-terra",
    "gpt-5-codex",
    "gpt-6",
    "o4-mini",
  ],
  azure: ["gpt-5.6-sol", "prod-chat"],
  proxy: [
    "anthropic/claude-opus-5.5",
    "claude-6",
    "gemini-4",
    "plain-model",
    "gpt-5.6",
    "anthropic/claude-opus-4.8",
    "glm-5",
  ],
  claude: ["claude-opus-4-8", "claude-opus-5", "claude-opus-5-5", "claude-sonnet-5-5", "claude-sonnet-4-5"],
};
const app = await startTestApp({
  config: {
    providers: {
      openai: provider({ preset: "openai" }),
      azure: provider({ preset: "azure" }),
      proxy: provider({ kind: "openai" }),
      claude: provider({ preset: "anthropic" }),
      single: provider({ preset: "openai", quirks: { responses: false } }),
    },
    models: [
      ...Object.entries(MODELS).flatMap(([name, ids]) =>
        ids.map((model) => ({ id: `${name}:${model}`, routes: [{ provider: name, model }] })),
      ),
      { id: "single:gpt-5.6", routes: [{ provider: "single", model: "gpt-5.6" }] },
      { id: "said:gpt-9", supports_reasoning: false, routes: [{ provider: "proxy", model: "gpt-9" }] },
    ],
    tiers: { premium: { rpm: 100_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const CHAT = { path: "/v1/chat/completions", body: { messages: [{ role: "user", content: "hi" }] } as Json };
const RESPONSES = { path: "/v1/responses", body: { input: "hi" } as Json };
const COMPLETIONS = { path: "/v1/completions", body: { prompt: "hi" } as Json };
const MESSAGES = {
  path: "/v1/messages",
  body: { max_tokens: 9, messages: [{ role: "user", content: "hi" }] } as Json,
};

const TALK = [{ role: "user", content: "hi" }];
const MESSAGES_FORCED = {
  tools: [{ name: "weather", input_schema: { type: "object" } }],
  tool_choice: { type: "any" },
};

async function up({ path, body }: typeof CHAT, model: string, more: Json = {}) {
  const answer = await app.post(path, { ...body, model, ...more });
  await answer.text();
  expect(answer.status).toBe(200);
  const received = upstream.received.at(-1);
  return {
    by: dialectOf(received?.path ?? ""),
    json: received?.json ?? {},
    dropped: answer.headers.get("x-sallyport-dropped") ?? "",
  };
}

describe("the default temperature", () => {
  const NEVER = ["temperature", "max_tokens", "max_completion_tokens"];

  test.each([
    ["plain-model", CHAT, {}, true],
    ["plain-model", RESPONSES, {}, true],
    ["plain-model", CHAT, { reasoning_effort: "low" }, false],
    ["plain-model", CHAT, { reasoning_effort: "none" }, false],
    ["plain-model", CHAT, { reasoning: { enabled: true } }, false],
    ["plain-model", CHAT, { thinking: { type: "enabled" } }, false],
    ["plain-model", CHAT, { chat_template_kwargs: { enable_thinking: true } }, false],
    ["plain-model", RESPONSES, { reasoning: { effort: "low" } }, false],
    ["plain-model", COMPLETIONS, {}, true],
    ["plain-model", COMPLETIONS, { reasoning_effort: "low" }, false],
    ["claude-6", CHAT, {}, false],
    ["claude-6", RESPONSES, {}, false],
    ["gemini-4", CHAT, {}, false],
    ["gpt-5.6", COMPLETIONS, {}, false],
    ["anthropic/claude-opus-4.8", CHAT, {}, false],
    ["glm-5", RESPONSES, {}, false],
  ] as const)("proxy %s, %j with %j: %j", async (model, client, more, sent) => {
    const { json } = await up(client, `proxy:${model}`, more);
    expect(json["temperature"]).toBe(sent ? 0.7 : undefined);
    if (!sent) for (const name of NEVER) expect(json).not.toHaveProperty(name);
  });

  test.each([
    ["openai:gpt-6", false],
    ["openai:gpt-5.4", false],
    ["openai:gpt-4.1", true],
    ["azure:prod-chat", false],
    ["said:gpt-9", false],
  ])("%s: %j", async (model, sent) => {
    for (const client of [CHAT, RESPONSES]) {
      const { json, dropped } = await up(client, model);
      expect(json["temperature"]).toBe(sent ? 0.7 : undefined);
      expect(dropped).toBe("");
    }
  });
});

describe("parameters that reasoning excludes", () => {
  test.each([
    ["openai:gpt-5-mini", { temperature: 0.2, stop: ["x"] }, ["temperature", "stop"]],
    ["openai:o4-mini", { stop: ["x"] }, ["stop"]],
    ["openai:gpt-5.1", { temperature: 0.2 }, []],
    ["openai:gpt-5.1", { temperature: 0.2, reasoning_effort: "low" }, ["temperature"]],
    ["openai:gpt-5.6-terra", { temperature: 0.2 }, ["temperature"]],
    ["openai:gpt-5.6-terra", { temperature: 0.2, reasoning_effort: "none" }, []],
    ["openai:gpt-4.1", { temperature: 0.2, stop: ["x"] }, []],
  ])("%s with %j: %j are left out and named", async (model, more, refused) => {
    // The legacy format has no parameter for the effort.
    for (const client of "reasoning_effort" in more ? [CHAT] : [CHAT, COMPLETIONS]) {
      const { json, dropped } = await up(client, model, more);
      expect(Object.keys(more).filter((name) => json[name] === undefined)).toEqual(refused);
      // The gateway itself ends a translated answer at the stop sequences. The parameter therefore does not count as dropped.
      const lost = client === CHAT ? refused : refused.filter((name) => name !== "stop");
      expect(dropped.split(", ").sort().join()).toBe([...lost].sort().join());
    }
  });

  test("on the lossless path of messages too", async () => {
    const { json, dropped } = await up(MESSAGES, "claude:claude-opus-4-8", { temperature: 0.2, top_k: 4 });
    expect(json).not.toHaveProperty("temperature");
    expect(json).not.toHaveProperty("top_k");
    expect(dropped).toBe("temperature, top_k");
  });
});

describe("Claude, by every client format", () => {
  const FN = { name: "weather", parameters: { type: "object", properties: {} } };
  const CLIENTS = {
    chat: {
      client: CHAT,
      forced: { tools: [{ type: "function", function: FN }], tool_choice: "required" },
      late: { messages: [...TALK, { role: "developer", content: "late" }] },
      off: { reasoning_effort: "none" },
    },
    responses: {
      client: RESPONSES,
      forced: { tools: [{ type: "function", ...FN }], tool_choice: "required" },
      late: { input: [...TALK, { role: "developer", content: "late" }] },
      off: { reasoning: { effort: "none" } },
    },
  };

  test.each(["chat", "responses"] as const)("%s", async (name) => {
    const { client, forced, late, off } = CLIENTS[name];
    for (const [model, type] of [
      ["claude-opus-5-5", "auto"],
      ["claude-sonnet-5-5", "auto"],
      ["claude-opus-5", "any"],
      ["claude-sonnet-4-5", "any"],
    ]) {
      const { json, dropped } = await up(client, `claude:${model}`, forced);
      expect(json).toMatchObject({ tool_choice: { type }, cache_control: { type: "ephemeral" } });
      expect(dropped).toBe(type === "auto" ? "tool_choice" : "");
    }
    const inPlace = (await up(client, "claude:claude-opus-5", late)).json;
    expect((inPlace["messages"] as Json[]).at(-1)).toMatchObject({ role: "system", content: [{ text: "late" }] });
    expect(inPlace["system"]).toBeUndefined();
    const onTop = (await up(client, "claude:claude-sonnet-4-5", late)).json;
    expect(onTop["system"]).toMatchObject([{ text: "late" }]);
    const thinking = async (model: string) => (await up(client, `claude:${model}`, off)).json["thinking"];
    expect(await thinking("claude-opus-5")).toEqual({ type: "disabled" });
    expect(await thinking("claude-sonnet-5-5")).toEqual({ type: "between_tools" });
    expect(await thinking("claude-opus-4-8")).toBeUndefined();
    expect((await up(client, "claude:claude-opus-5")).json).not.toHaveProperty("cache_control");
  });

  test("requests of messages clients are sent unchanged", async () => {
    const tools = [{ name: "weather", input_schema: { type: "object" } }];
    const messages = [...TALK, { role: "assistant", content: "Once upon" }];
    const more = { tools, messages, tool_choice: { type: "any" }, thinking: { type: "disabled" } };
    const { json, dropped } = await up(MESSAGES, "claude:claude-opus-5-5", more);
    expect(json).toEqual({ ...MESSAGES.body, ...more, model: "claude-opus-5-5" });
    expect(dropped).toBe("");
  });

  test("with chat completions of other servers a forced tool is also named in the text", async () => {
    const { forced } = CLIENTS.chat;
    for (const [client, more] of [
      [CHAT, forced],
      [MESSAGES, MESSAGES_FORCED],
    ] as const) {
      const { json, dropped } = await up(client, "proxy:anthropic/claude-opus-5.5", more);
      expect(json["tool_choice"]).toBe("auto");
      expect((json["messages"] as Json[]).at(-1)).toEqual({
        role: "system",
        content: "Answer by calling at least one of the tools.",
      });
      expect(dropped).toBe("tool_choice");
      const older = await up(client, "proxy:anthropic/claude-opus-4.8", more);
      expect(older.json["tool_choice"]).toBe("required");
    }
  });
});

describe("a messages client's schema", () => {
  const schema = (required: string[]) => ({
    type: "object",
    properties: { a: { type: "string" }, b: { type: "string" } },
    required,
    additionalProperties: false,
  });

  test.each([
    ["openai:gpt-5-mini", ["a", "b"], true, ""],
    ["openai:gpt-5-mini", ["a"], false, "strict"],
  ])("to %s with %j required: strict %p", async (model, required, strict, named) => {
    const format = { type: "json_schema", schema: schema(required) };
    const { json, dropped } = await up(MESSAGES, model, { output_config: { format } });
    expect(json["response_format"]).toMatchObject({ json_schema: { strict, schema: schema(required) } });
    expect(dropped).toBe(named);
  });
});

describe("tools that chat completions refuse", () => {
  const TOOLS = { tools: [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }] };
  const MESSAGES_TOOLS = { tools: [{ name: "weather", input_schema: { type: "object" } }] };

  test.each([
    ["openai:gpt-5.6-terra", TOOLS, "openai-responses"],
    ["openai:gpt-5.6-terra", { ...TOOLS, reasoning_effort: "high" }, "openai-responses"],
    ["openai:gpt-5.6-terra", { ...TOOLS, reasoning_effort: "none" }, "openai-chat"],
    ["openai:gpt-5.6-terra", {}, "openai-chat"],
    ["openai:gpt-6", TOOLS, "openai-responses"],
    ["openai:gpt-5.5", TOOLS, "openai-responses"],
    ["openai:gpt-5.4", TOOLS, "openai-chat"],
    ["openai:gpt-5.4", { ...TOOLS, reasoning_effort: "low" }, "openai-responses"],
    ["openai:gpt-5.1", { ...TOOLS, reasoning_effort: "low" }, "openai-chat"],
    ["openai:gpt-4.1", TOOLS, "openai-chat"],
    ["openai:gpt-5-codex", {}, "openai-responses"],
    ["azure:gpt-5.6-sol", TOOLS, "openai-responses"],
    ["azure:prod-chat", TOOLS, "openai-chat"],
    ["proxy:gpt-5.6", TOOLS, "openai-chat"],
    ["single:gpt-5.6", TOOLS, "openai-chat"],
  ])("%s with %j go by %s", async (model, more, by) => {
    expect((await up(CHAT, model, more)).by).toBe(by as "openai-chat");
  });

  test("those of messages clients too, and the highest effort is sent unchanged", async () => {
    const more = { ...MESSAGES_TOOLS, output_config: { effort: "max" }, max_tokens: 4000 };
    const { by, json } = await up(MESSAGES, "openai:gpt-5.6-terra", more);
    expect(by).toBe("openai-responses");
    expect(json["reasoning"]).toMatchObject({ effort: "max" });
    const plain = await up(MESSAGES, "openai:gpt-5.6-terra", { output_config: { effort: "max" } });
    expect(plain).toMatchObject({ by: "openai-chat", json: { reasoning_effort: "xhigh" } });
  });

  test("the body of responses clients is sent unchanged", async () => {
    const tools = [{ type: "function", name: "weather", parameters: { type: "object" }, strict: false, odd: 1 }];
    const { by, json } = await up(RESPONSES, "openai:gpt-5.6-terra", { tools });
    expect(by).toBe("openai-responses");
    expect(json["tools"]).toEqual(tools);
  });

  test("a stored response is continued even if the provider uses two protocols", async () => {
    const more = {
      tools: [{ type: "function", name: "weather", parameters: { type: "object" } }],
      model: "openai:gpt-5.6-terra",
    };
    const first = (await (await app.post("/v1/responses", { input: "hi", ...more })).json()) as Json;
    const output = [{ type: "function_call_output", call_id: "call_1", output: "rain" }];
    const answer = await app.post("/v1/responses", { input: output, previous_response_id: first["id"], ...more });
    expect(answer.status).toBe(200);
    const { json = {}, path } = upstream.received.at(-1) ?? {};
    expect(path).toEndWith("/responses");
    expect(json).not.toHaveProperty("previous_response_id");
    const types = (json["input"] as Json[]).map((item) => item["type"] ?? item["role"]);
    expect([types.includes("function_call"), types.at(-1)]).toEqual([true, "function_call_output"]);
  });

  test("chat parameters keep their meaning", async () => {
    const { json, dropped } = await up(CHAT, "openai:gpt-5.6-terra", {
      ...TOOLS,
      max_completion_tokens: 300,
      reasoning_effort: "high",
      verbosity: "low",
      prompt_cache_key: "k",
      tool_choice: { type: "function", function: { name: "weather" } },
      parallel_tool_calls: false,
      response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } },
      stop: ["x"],
      logprobs: true,
    });
    expect(json).toMatchObject({
      max_output_tokens: 300,
      reasoning: { effort: "high" },
      text: { verbosity: "low", format: { type: "json_schema", name: "n" } },
      prompt_cache_key: "k",
      tool_choice: { type: "function", name: "weather" },
      parallel_tool_calls: false,
      tools: [{ type: "function", name: "weather", strict: false }],
    });
    expect(json["include"]).toEqual(["reasoning.encrypted_content"]);
    // The gateway itself ends the answer at the stop sequences.
    expect(dropped.split(", ").sort()).toEqual(["logprobs"]);
  });

  test.each(CLIENT_FORMATS.filter(({ noTools }) => noTools !== true))(
    "a client of $name hears everything, whole and streamed",
    async (format) => {
      const ask = async (stream: boolean) => {
        const body = { ...format.body({ stream, tools: true }), model: "openai:gpt-5.6-terra" };
        return (await app.post(format.path, body)).text();
      };
      const whole = format.whole(JSON.parse(await ask(false)) as Json);
      expect(whole).toMatchObject({ text: "Let me look.", calls: [{ name: "weather", args: { city: "Oslo" } }] });
      expect(whole.usage).toMatchObject({ input: 12, output: 7, cached: format.isTerse ? 0 : 3 });
      expect(format.streamed(await ask(true))).toEqual(whole);
      expect(upstream.received.map(({ path }) => dialectOf(path))).toEqual(["openai-responses", "openai-responses"]);
    },
  );
});
