import { describe, expect, test } from "bun:test";
import { responsesFormat } from "../../src/wire/responses/format.ts";
import { expectRejected, type Json } from "./support.ts";

const decode = (more: Json) => responsesFormat.decode({ model: "m", input: "hi", ...more }, {});
const items = (...input: unknown[]) => ({ input });
const user = (...content: unknown[]) => items({ role: "user", content });
const FN = { type: "function", name: "f", parameters: { type: "object" } };

describe("refuses", () => {
  const rows: [string, Json, string][] = [
    ["no model", { model: undefined }, "model"],
    ["model of another type", { model: 3 }, "model"],
    ["no input", { input: undefined }, "input"],
    ["input of another type", { input: 3 }, "input"],
    ["no item", { input: [] }, "input"],
    ["an item that is none", items("hi"), "input[0]"],
    ["an item without role", items({ content: "x" }), "input[0].role"],
    ["unknown role", items({ role: "tool", content: "x" }), "input[0].role"],
    ["type of another type", items({ type: 3 }), "input[0].type"],
    ["no content", items({ role: "user" }), "input[0].content"],
    ["content of another type", items({ role: "user", content: {} }), "input[0].content"],
    ["a part without type", user({ text: "x" }), "input[0].content[0].type"],
    ["text without text", user({ type: "input_text" }), "input[0].content[0].text"],
    ["image without url", user({ type: "input_image" }), "input[0].content[0].image_url"],
    ["image object without url", user({ type: "input_image", image_url: {} }), "input[0].content[0].image_url.url"],
    ["image url of another type", user({ type: "input_image", image_url: 1 }), "input[0].content[0].image_url"],
    ["file without data", user({ type: "input_file" }), "input[0].content[0].file_data"],
    ["call without id", items({ type: "function_call", name: "f", arguments: "{}" }), "input[0].call_id"],
    ["call without name", items({ type: "function_call", call_id: "c", arguments: "{}" }), "input[0].name"],
    [
      "call with object",
      items({ type: "function_call", call_id: "c", name: "f", arguments: {} }),
      "input[0].arguments",
    ],
    ["custom call without input", items({ type: "custom_tool_call", call_id: "c", name: "f" }), "input[0].input"],
    ["result without call", items({ type: "custom_tool_call_output", output: "x" }), "input[0].call_id"],
    ["result without output", items({ type: "function_call_output", call_id: "c" }), "input[0].output"],
    ["result of another type", items({ type: "function_call_output", call_id: "c", output: 3 }), "input[0].output"],
    ["reasoning summary", items({ type: "reasoning", summary: "x" }), "input[0].summary"],
    ["additional tools", items({ type: "additional_tools" }), "input[0].tools"],
    ["instructions of another type", { instructions: ["x"] }, "instructions"],
    ["max_output_tokens zero", { max_output_tokens: 0 }, "max_output_tokens"],
    ["max_output_tokens text", { max_output_tokens: "5" }, "max_output_tokens"],
    ["temperature below", { temperature: -1 }, "temperature"],
    ["temperature above", { temperature: 2.1 }, "temperature"],
    ["top_p above", { top_p: 2 }, "top_p"],
    ["top_logprobs above", { top_logprobs: 21 }, "top_logprobs"],
    ["stream text", { stream: "yes" }, "stream"],
    ["store text", { store: "yes" }, "store"],
    ["parallel text", { parallel_tool_calls: 1 }, "parallel_tool_calls"],
    ["tools of another type", { tools: {} }, "tools"],
    ["tool without type", { tools: [{ name: "f" }] }, "tools[0].type"],
    ["function without name", { tools: [{ type: "function" }] }, "tools[0].name"],
    ["nested function without name", { tools: [{ type: "function", function: {} }] }, "tools[0].function.name"],
    ["function schema", { tools: [{ ...FN, parameters: "x" }] }, "tools[0].parameters"],
    ["namespace without tools", { tools: [{ type: "namespace", name: "n" }] }, "tools[0].tools"],
    ["namespace member", { tools: [{ type: "namespace", name: "n", tools: [{}] }] }, "tools[0].tools[0].type"],
    ["tool_choice word", { tool_choice: "any" }, "tool_choice"],
    ["tool_choice without type", { tool_choice: {} }, "tool_choice.type"],
    ["tool_choice without name", { tool_choice: { type: "function" } }, "tool_choice.name"],
    ["allowed tools without mode", { tool_choice: { type: "allowed_tools", tools: [FN] } }, "tool_choice.mode"],
    ["allowed tools empty", { tool_choice: { type: "allowed_tools", mode: "auto", tools: [] } }, "tool_choice.tools"],
    ["reasoning text", { reasoning: "high" }, "reasoning"],
    ["effort of another type", { reasoning: { effort: 1 } }, "reasoning.effort"],
    ["text of another type", { text: "json" }, "text"],
    ["unknown format", { text: { format: { type: "xml" } } }, "text.format.type"],
    ["format without name", { text: { format: { type: "json_schema", schema: {} } } }, "text.format.name"],
    ["format without schema", { text: { format: { type: "json_schema", name: "n" } } }, "text.format.schema"],
    ["metadata text", { metadata: "x" }, "metadata"],
    ["include element", { include: [1] }, "include[0]"],
    ["previous response of another type", { previous_response_id: 1 }, "previous_response_id"],
    ["thread of another type", { thread_id: 1 }, "thread_id"],
  ];
  test.each(rows)("%s", (_name, more, param) => expectRejected(() => decode(more), param));
});

describe("reads", () => {
  test("the smallest valid request", () => {
    expect(decode({})).toEqual({
      model: "m",
      messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
      stream: false,
      includeUsage: true,
      tools: [],
      extra: {},
    });
  });

  test("every parameter", () => {
    const schema = { type: "object" };
    const chat = decode({
      instructions: "Be brief.",
      max_output_tokens: 5,
      temperature: 2,
      top_p: 0.1,
      top_logprobs: 3,
      stream: true,
      store: false,
      parallel_tool_calls: false,
      reasoning: { effort: "high", summary: "auto", context: "all_turns" },
      text: { verbosity: "low", format: { type: "json_schema", name: "n", schema, strict: true } },
      metadata: { a: "b" },
      user: "u",
      service_tier: "flex",
      thread_id: "t",
      conversation_id: "c",
      previous_response_id: "resp_1",
      include: ["reasoning.encrypted_content"],
      client_metadata: { x: 1 },
    });
    expect(chat).toMatchObject({
      maxTokens: 5,
      temperature: 2,
      topP: 0.1,
      logprobs: true,
      topLogprobs: 3,
      stream: true,
      store: false,
      parallelToolCalls: false,
      reasoning: { effort: "high", summary: "auto" },
      verbosity: "low",
      responseFormat: { type: "json_schema", name: "n", schema, strict: true },
      metadata: { a: "b" },
      user: "u",
      serviceTier: "flex",
      threadId: "t",
    });
    expect(chat.extra).toEqual({ include: ["reasoning.encrypted_content"], client_metadata: { x: 1 } });
    expect(chat.messages[0]).toEqual({ role: "system", content: [{ type: "text", text: "Be brief." }] });
  });

  test("every role, with text parts of every name", () => {
    const chat = decode(
      items(
        { role: "system", content: "A" },
        { type: "message", role: "developer", content: [{ type: "input_text", text: "B" }] },
        { type: "message", role: "user", id: "msg_1", content: [{ type: "input_text", text: "C" }] },
        {
          type: "message",
          role: "assistant",
          content: [
            { type: "output_text", text: "D", annotations: [{ type: "url_citation" }] },
            { type: "refusal", refusal: "E" },
          ],
        },
        { role: "assistant", content: "F" },
      ),
    );
    expect(chat.messages as unknown).toEqual([
      { role: "system", content: [{ type: "text", text: "A" }] },
      { role: "system", content: [{ type: "text", text: "B" }] },
      { role: "user", content: [{ type: "text", text: "C" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "D", annotations: [{ type: "url_citation" }] },
          { type: "refusal", text: "E" },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "F" }] },
    ]);
  });

  test("images and files of every source", () => {
    const chat = decode(
      user(
        { type: "input_image", image_url: "https://example.org/a.png", detail: "low" },
        { type: "input_image", image_url: { url: "https://example.org/b.png", detail: "high" } },
        { type: "input_image", image_url: "data:image/PNG;base64,AAAA" },
        { type: "input_image", file_id: "file-1" },
        { type: "input_image", image_url: "file-2" },
        { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" },
        { type: "input_file", file_url: "https://example.org/a.pdf" },
        { type: "input_file", file_id: "file-3" },
        { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
        { type: "input_hologram", data: "x" },
      ),
    );
    expect(chat.messages[0]?.content as unknown).toEqual([
      { type: "image", source: { kind: "url", url: "https://example.org/a.png" }, detail: "low" },
      { type: "image", source: { kind: "url", url: "https://example.org/b.png" }, detail: "high" },
      { type: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } },
      { type: "image", source: { kind: "file", fileId: "file-1" } },
      { type: "image", source: { kind: "file", fileId: "file-2" } },
      { type: "file", filename: "a.pdf", source: { kind: "base64", mediaType: "application/pdf", data: "AAAA" } },
      { type: "file", source: { kind: "url", url: "https://example.org/a.pdf" } },
      { type: "file", source: { kind: "file", fileId: "file-3" } },
      { type: "audio", data: "AAAA", format: "wav" },
      { type: "opaque", origin: "openai-responses", value: { type: "input_hologram", data: "x" } },
    ]);
  });

  test("a tool loop: the items of one answer are one turn, results are the next", () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed" };
    const chat = decode(
      items(
        { role: "user", content: "go" },
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "S" }], encrypted_content: "gA==" },
        search,
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Both." }] },
        { type: "function_call", id: "fc_1", call_id: "a", name: "f", arguments: '{"x": 1}', status: "completed" },
        { type: "custom_tool_call", id: "ctc_1", call_id: "b", name: "patch", input: "free", namespace: "n" },
        { type: "function_call_output", call_id: "a", output: "ok" },
        {
          type: "custom_tool_call_output",
          call_id: "b",
          output: [
            { type: "input_text", text: "see" },
            { type: "input_image", image_url: "data:image/png;base64,AAAA" },
          ],
        },
        { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "raw" }] },
        { type: "item_reference", id: "msg_9" },
        { id: "msg_8" },
        { type: "shell_call_output", call_id: "z", output: [] },
      ),
    );
    expect(chat.messages as unknown).toEqual(TOOL_LOOP_READ);
  });

  test("tools of every kind, flat and nested, at the top and in the input", () => {
    const grammar = { type: "grammar", syntax: "lark", definition: "start: x" };
    const search = { type: "web_search", external_web_access: false };
    const chat = decode({
      input: [
        {
          type: "additional_tools",
          role: "developer",
          tools: [{ type: "namespace", name: "n", tools: [{ type: "custom", name: "exec" }, FN] }],
        },
        { role: "user", content: "x" },
      ],
      tools: [
        { ...FN, description: "d", strict: false },
        { type: "function", function: { name: "g", parameters: null } },
        { type: "custom", name: "apply_patch", description: "p", format: grammar },
        { type: "custom", custom: { name: "h" } },
        search,
      ],
    });
    expect(chat.tools as unknown).toEqual([
      { type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: false },
      { type: "function", name: "g" },
      { type: "custom", name: "apply_patch", description: "p", format: grammar },
      { type: "custom", name: "h" },
      { type: "server", origin: "openai-responses", name: "web_search", value: search },
      { type: "custom", name: "exec", namespace: "n" },
      { type: "function", name: "f", parameters: { type: "object" }, namespace: "n" },
    ]);
    expect(chat.messages).toHaveLength(1);
  });

  test.each<[unknown, unknown]>([
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "required" }],
    [
      { type: "function", name: "f" },
      { type: "tool", name: "f", kind: "function" },
    ],
    [
      { type: "function", function: { name: "f" } },
      { type: "tool", name: "f", kind: "function" },
    ],
    [
      { type: "custom", name: "f" },
      { type: "tool", name: "f", kind: "custom" },
    ],
    [
      {
        type: "allowed_tools",
        mode: "required",
        tools: [
          { type: "function", name: "f" },
          { type: "function", function: { name: "g" } },
        ],
      },
      { type: "allowed", mode: "required", names: ["f", "g"] },
    ],
  ])("tool choice %j", (choice, read) => expect(decode({ tool_choice: choice }).toolChoice as unknown).toEqual(read));

  test("the choice of a server tool is kept in the protocol's own form", () => {
    const chat = decode({ tool_choice: { type: "web_search" } });
    expect(chat.toolChoice).toBeUndefined();
    expect(chat.extra).toEqual({ tool_choice: { type: "web_search" } });
  });

  test("no new input together with a previous response", () => {
    expect(decode({ input: [], previous_response_id: "resp_1" }).messages).toEqual([]);
  });
});

/** The messages of a tool loop. */
const TOOL_LOOP_READ = [
  { role: "user", content: [{ type: "text", text: "go" }] },
  {
    role: "assistant",
    content: [
      {
        type: "reasoning",
        text: "",
        itemId: "rs_1",
        encrypted: "gA==",
        summary: ["S"],
        origin: "openai-responses",
      },
      {
        type: "opaque",
        origin: "openai-responses",
        value: { type: "web_search_call", id: "ws_1", status: "completed" },
      },
      { type: "text", text: "Both." },
      { type: "tool-call", callId: "a", name: "f", kind: "function", arguments: '{"x": 1}', itemId: "fc_1" },
      {
        type: "tool-call",
        callId: "b",
        name: "patch",
        kind: "custom",
        arguments: "free",
        namespace: "n",
        itemId: "ctc_1",
      },
    ],
  },
  {
    role: "tool",
    content: [
      { type: "tool-result", kind: "function", callId: "a", content: [{ type: "text", text: "ok" }] },
      {
        type: "tool-result",
        kind: "custom",
        callId: "b",
        content: [
          { type: "text", text: "see" },
          { type: "image", source: { kind: "base64", mediaType: "image/png", data: "AAAA" } },
        ],
      },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "raw" },
      { type: "opaque", origin: "openai-responses", value: { type: "item_reference", id: "msg_9" } },
      { type: "opaque", origin: "openai-responses", value: { id: "msg_8" } },
    ],
  },
  {
    role: "user",
    content: [
      {
        type: "opaque",
        origin: "openai-responses",
        value: { type: "shell_call_output", call_id: "z", output: [] },
      },
    ],
  },
];
