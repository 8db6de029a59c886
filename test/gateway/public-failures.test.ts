// Failures that users of other gateways reported publicly (tool calls, reasoning, requests), each tested once through the running
// program. The name of the test contains the number and the reports. More detailed tests are in the tests of the dialects.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { CLIENT_FORMATS, type ClientFormat } from "../support/heard.ts";
import { chatChunk, HANG } from "../support/upstream.ts";
import { chat, messages, responses, startFailures } from "./failures-fixture.ts";

type Json = Record<string, unknown>;

const { app, upstream, stream, scripted, raw, sent, forget, stop } = await startFailures();
afterAll(stop);
beforeEach(forget);

const tool = (of: ClientFormat) => of.body({ stream: false, tools: true })["tools"];
const weather = (city: string, id = "call_1") => ({ id, name: "weather", args: { city } });
const call = (index: number, more: Json) => chatChunk({ tool_calls: [{ index, ...more }] });
const DONE = "data: [DONE]\n\n";

describe("streaming tool calls", () => {
  test("1: arguments that come only when done still reach the client (litellm#25321, #25561, #29491)", async () => {
    const item = { type: "function_call", id: "fc_1", call_id: "call_1", name: "weather", arguments: "" };
    const args = '{"city":"Oslo"}';
    const frames = [
      ["response.created", { response: { id: "r", output: [] } }],
      ["response.output_item.added", { output_index: 0, item }],
      ["response.function_call_arguments.done", { output_index: 0, item_id: "fc_1", arguments: args }],
      ["response.output_item.done", { output_index: 0, item: { ...item, arguments: args } }],
      ["response.completed", { response: { id: "r", status: "completed", output: [{ ...item, arguments: args }] } }],
    ] as const;
    raw(frames.map(([type, more]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`).join(""));
    for (const of of [messages, chat]) {
      expect(of.streamed(await stream(of, "responses")).calls).toEqual([{ name: "weather", args: { city: "Oslo" } }]);
    }
  });

  test("2: an empty list of calls beside text is text (litellm#29286)", async () => {
    raw(chatChunk({ role: "assistant", content: "Hi", tool_calls: [] }), chatChunk({}, { finish: "stop" }), DONE);
    expect(messages.streamed(await stream(messages, "chat"))).toMatchObject({
      text: "Hi",
      calls: [],
      stop: "end_turn",
    });
  });

  test("3: interleaved fragments belong to their index (praxis-proxy/ai#266, goose#11637)", async () => {
    raw(
      call(0, { id: "a", type: "function", function: { name: "weather", arguments: '{"ci' } }),
      call(1, { id: "b", type: "function", function: { name: "weather", arguments: '{"city":' } }),
      call(0, { function: { arguments: 'ty":"Oslo"}' } }),
      call(1, { function: { arguments: '"Rome"}' } }),
      chatChunk({}, { finish: "tool_calls" }),
      DONE,
    );
    for (const of of [messages, responses, chat]) {
      const { calls } = of.streamed(await stream(of, "chat"));
      expect(calls.map(({ args }) => args)).toEqual([{ city: "Oslo" }, { city: "Rome" }]);
    }
  });

  test("4: every call has an index of its own (bifrost#1961, litellm#21337; upstream: ollama#15457)", async () => {
    scripted({ calls: [weather("Oslo", "a"), weather("Rome", "b")] });
    expect(chat.streamed(await stream(chat, "claude")).calls).toHaveLength(2);
    const whole = (id: string, city: string) =>
      call(0, { id, type: "function", function: { name: "weather", arguments: JSON.stringify({ city }) } });
    raw(whole("a", "Oslo"), whole("b", "Rome"), chatChunk({}, { finish: "tool_calls" }), DONE);
    for (const of of [chat, messages]) expect(of.streamed(await stream(of, "chat")).calls).toHaveLength(2);
  });

  test("5: text and a call end as a call, whatever the upstream says (bifrost#6123)", async () => {
    const fn = { name: "weather", arguments: "{}" };
    raw(
      chatChunk({ content: "Hm" }),
      call(0, { id: "a", type: "function", function: fn }),
      chatChunk({}, { finish: "stop" }),
      DONE,
    );
    expect(messages.streamed(await stream(messages, "chat")).stop).toBe("tool_use");
    expect(chat.streamed(await stream(chat, "chat")).stop).toBe("tool_calls");
  });

  test("6: one message_start, and a role in the first chunk (bifrost#4556, Portkey#1399)", async () => {
    raw(
      chatChunk({ content: "Hi" }),
      chatChunk({ role: "assistant", content: "!" }),
      chatChunk({}, { finish: "stop" }),
      DONE,
    );
    expect((await stream(messages, "chat")).match(/event: message_start/g)).toHaveLength(1);
    expect(chat.streamed(await stream(chat, "chat")).text).toBe("Hi!");
  });

  test("7: argument fragments are not held back (bifrost#2048)", async () => {
    raw(call(0, { id: "a", type: "function", function: { name: "weather", arguments: '{"city":"Os' } }), HANG);
    const leave = new AbortController();
    const body = JSON.stringify({ ...messages.body({ stream: true, tools: true }), model: "chat" });
    const headers = { "content-type": "application/json" };
    const response = await app.call(messages.path, { method: "POST", body, headers, signal: leave.signal });
    let seen = "";
    for await (const piece of response.body as ReadableStream<Uint8Array>) {
      seen += new TextDecoder().decode(piece);
      if (seen.includes("Os")) break;
    }
    expect(seen).toContain("input_json_delta");
    leave.abort();
  });

  test("8: one response id from first to last, usable afterwards; indices of their own (litellm#37956, #27671)", async () => {
    scripted({ text: "Hi", calls: [weather("Oslo")] });
    const text = await stream(responses, "chat", { store: true });
    // The reader checks ids, indices, sequence numbers and that the items equal the final output.
    expect(responses.streamed(text)).toMatchObject({ text: "Hi", calls: [{ name: "weather" }] });
    const id = /"id":"(resp_[^"]+)"/.exec(text)?.[1];
    const next = { model: "chat", previous_response_id: id, input: "And?" };
    expect((await app.post("/v1/responses", next)).status).toBe(200);
  });
});

describe("reasoning", () => {
  const sealed = [
    { type: "thinking", thinking: "Hm \u2028 é", signature: "c2ln+/==" },
    { type: "thinking", thinking: "", signature: "b25seQ==" },
    { type: "redacted_thinking", data: "cmVkYWN0ZWQ=" },
    { type: "text", text: "So." },
  ];

  test("9: sealed thinking goes back byte for byte, unsigned thinking does not (bifrost#6342, onyx#13691)", async () => {
    scripted({ text: "ok" });
    const turns = [
      { role: "user", content: "a" },
      { role: "assistant", content: sealed },
      { role: "user", content: "b" },
    ];
    await app.post("/v1/messages", { model: "claude", max_tokens: 9, messages: turns });
    expect(sent()["messages"]).toEqual(turns);
    forget();
    const unsigned = [
      { role: "user", content: "a" },
      { role: "assistant", content: "So.", reasoning_content: "Hm" },
    ];
    await app.post("/v1/chat/completions", {
      model: "claude",
      messages: [...unsigned, { role: "user", content: "b" }],
    });
    expect(upstream.received[0]?.text).not.toContain("thinking");
  });

  test("10: reasoning returns to the providers that want it, through any format (new-api#4577, litellm#12432)", async () => {
    scripted({ reasoning: { text: "Look it up." }, calls: [weather("Oslo")] });
    const input: Json[] = [{ role: "user", content: "Oslo?" }];
    const tools = tool(responses);
    const first = (await (await app.post("/v1/responses", { model: "deepseek", input, tools })).json()) as {
      output: Json[];
    };
    const result = { type: "function_call_output", call_id: "call_1", output: "4" };
    forget();
    await app.post("/v1/responses", { model: "deepseek", input: [...input, ...first.output, result], tools });
    const turn = (sent()["messages"] as Json[]).find(({ role }) => role === "assistant");
    expect(turn).toMatchObject({ reasoning_content: "Look it up.", tool_calls: [{ id: "call_1" }] });
  });
});

describe("requests", () => {
  test("11: system in blocks, empty texts, results right after their calls (new-api#4446, #1854, #4513)", async () => {
    scripted({ text: "ok" });
    const system = [
      { type: "text", text: "One." },
      { type: "text", text: "Two." },
    ];
    await app.post("/v1/messages", {
      model: "chat",
      max_tokens: 9,
      system,
      messages: [{ role: "user", content: "a" }],
    });
    expect(JSON.stringify((sent()["messages"] as Json[])[0])).toMatch(/One\..*Two\./);
    forget();
    const tool_calls = [{ id: "c", type: "function", function: { name: "weather", arguments: "{}" } }];
    const history = [
      { role: "user", content: "" },
      { role: "assistant", content: "", tool_calls },
      { role: "user", content: "Well?" },
      { role: "system", content: "Later rule." },
    ];
    await app.post("/v1/chat/completions", { model: "claude", messages: history });
    const turns = sent()["messages"] as { role: string; content: Json[] }[];
    expect(turns.flatMap(({ content }) => content).filter(({ type, text }) => type === "text" && text === "")).toEqual(
      [],
    );
    const at = turns.findIndex(({ content }) => content.some(({ type }) => type === "tool_use"));
    expect(turns[at + 1]?.content[0]).toMatchObject({ type: "tool_result", tool_use_id: "c" });
    expect(JSON.stringify(sent()["system"])).toContain("Later rule.");
  });

  test("12: images in tool results arrive, and URLs stay URLs (vercel/ai#18982, litellm#12899)", async () => {
    scripted({ text: "ok" });
    const image = { type: "image", source: { type: "url", url: "https://images.example/a.png" } };
    const turns = [
      { role: "user", content: "a" },
      { role: "assistant", content: [{ type: "tool_use", id: "c", name: "weather", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: [image] }] },
    ];
    for (const model of ["chat", "responses", "claude"]) {
      forget();
      await app.post("/v1/messages", { model, max_tokens: 9, messages: turns });
      expect(upstream.received[0]?.text).toContain("https://images.example/a.png");
    }
  });

  test("13: cache markers and cached tokens survive, tools keep their order (litellm#31069, bifrost#2347)", async () => {
    scripted({ text: "ok", usage: { input: 50, output: 2, cached: 40 } });
    const cache_control = { type: "ephemeral", ttl: "1h" };
    const system = [{ type: "text", text: "Long.", cache_control }];
    const tools = ["z", "a", "m"].map((name) => ({ name, input_schema: { type: "object" } }));
    const body = { model: "claude", max_tokens: 9, system, tools, messages: [{ role: "user", content: "a" }] };
    const answer = (await (await app.post("/v1/messages", body)).json()) as Json;
    expect(answer["usage"]).toMatchObject({ cache_read_input_tokens: 40, input_tokens: 10 });
    expect(sent()).toMatchObject({ system, tools });
    await app.post("/v1/messages", { ...body, model: "chat" });
    const names = ((upstream.received[1]?.json?.["tools"] ?? []) as { function: Json }[]).map(
      (one) => one.function["name"],
    );
    expect(names).toEqual(["z", "a", "m"]);
  });

  test("14: limits and tool rules reach every protocol (bifrost#6132, #6457, #7348)", async () => {
    scripted({ text: "ok" });
    const body = {
      ...chat.body({ stream: false, tools: true }),
      max_completion_tokens: 77,
      parallel_tool_calls: false,
    };
    const expected: Record<string, Json> = {
      chat: { max_completion_tokens: 77, parallel_tool_calls: false },
      responses: { max_output_tokens: 77, parallel_tool_calls: false },
      claude: { max_tokens: 77, tool_choice: { type: "auto", disable_parallel_tool_use: true } },
    };
    for (const [model, members] of Object.entries(expected)) {
      forget();
      await app.post(chat.path, { ...body, model });
      expect(sent()).toMatchObject(members);
    }
  });

  test("15: a compatible server is asked at the endpoint it has (litellm#26697, #13130)", async () => {
    scripted({ text: "ok" });
    for (const of of CLIENT_FORMATS)
      await app.post(of.path, { ...of.body({ stream: false, tools: false }), model: "chat" });
    expect(upstream.received.map(({ path }) => path)).toEqual(
      Array(CLIENT_FORMATS.length).fill("/v1/chat/completions"),
    );
  });
});
