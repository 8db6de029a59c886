// Parts of a conversation that exist only in the client's own protocol, with every other protocol: what a user or a tool said
// arrives as text or is refused with its path, and traces of a provider's own tools always have the same name.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { DIALECTS, KINDS, say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream((received) => say(received, { text: "ok" }));
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      DIALECTS.map((name) => [
        name,
        { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      ]),
    ),
    models: DIALECTS.map((id) => ({ id, routes: [{ provider: id, model: "up-model" }] })),
    tiers: { premium: { rpm: 100_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const messages = (content: Json[], more: Json[] = []) => ({
  path: "/v1/messages",
  own: "anthropic-messages",
  body: { max_tokens: 50, messages: [...more, { role: "user", content }] } as Json,
});
const responses = (...items: Json[]) => ({
  path: "/v1/responses",
  own: "openai-responses",
  body: { input: [...items, { role: "user", content: "go on" }] } as Json,
});
const chat = (content: Json[]) => ({
  path: "/v1/chat/completions",
  own: "openai-chat",
  body: { messages: [{ role: "user", content }] } as Json,
});
type Case = ReturnType<typeof messages>;

const others = (one: Case) => DIALECTS.filter((name) => name !== one.own);
const ask = (one: Case, model: string) => app.post(one.path, { ...one.body, model });
const hi = { type: "text", text: "hi" };
const SEARCH_RESULT = {
  type: "search_result",
  title: "Alps",
  source: "https://alps.test",
  content: [{ type: "text", text: "Snow falls." }],
};
const DOCUMENT = {
  type: "document",
  title: "Notes",
  context: "from Ada",
  source: { type: "content", content: [{ type: "text", text: "Page one." }] },
};
const USED = { role: "assistant", content: [{ type: "tool_use", id: "t_1", name: "look", input: {} }] };
const inResult = (piece: Json) =>
  messages([{ type: "tool_result", tool_use_id: "t_1", content: [piece] }], [{ role: "user", content: "hi" }, USED]);

describe("what was said arrives as text", () => {
  const CASES: [string, Case, string[]][] = [
    ["a search result", messages([hi, SEARCH_RESULT]), ["Alps", "https://alps.test", "Snow falls."]],
    ["a search result in a tool result", inResult(SEARCH_RESULT), ["Alps", "Snow falls."]],
    ["a document of content", messages([hi, DOCUMENT]), ["Notes", "from Ada", "Page one."]],
    ["a document of content in a tool result", inResult(DOCUMENT), ["Notes", "Page one."]],
    [
      "a text document with a title and a context",
      messages([
        {
          type: "document",
          title: "T1",
          context: "C1",
          source: { type: "text", media_type: "text/plain", data: "D1" },
        },
      ]),
      ["T1", "C1", "D1"],
    ],
    ["a tool reference", inResult({ type: "tool_reference", tool_name: "find_me" }), ["find_me"]],
    [
      "a summary that stands for the history",
      messages([hi], [{ role: "assistant", content: [{ type: "compaction", content: "Earlier they met." }] }]),
      ["Earlier they met."],
    ],
    [
      "a shell's output",
      responses({
        type: "shell_call_output",
        call_id: "sh_1",
        output: [{ stdout: "done 7", stderr: "warned", outcome: { type: "exit", exit_code: 3 } }],
      }),
      ["sh_1", "done 7", "warned", "Exit code: 3"],
    ],
    ["a local shell's output", responses({ type: "local_shell_call_output", id: "ls_1", output: "out 8" }), ["out 8"]],
    [
      "what a patch came to",
      responses({ type: "apply_patch_call_output", call_id: "p_1", status: "failed", output: "no such file" }),
      ["no such file"],
    ],
    [
      "that a patch was applied",
      responses({ type: "apply_patch_call_output", call_id: "p_1", status: "completed" }),
      ["p_1", "completed"],
    ],
  ];
  describe.each(CASES)("%s", (_name, one, texts) => {
    test.each(others(one))("over %s", async (model) => {
      expect((await ask(one, model)).status).toBe(200);
      for (const text of texts) expect(upstream.received[0]?.text).toContain(text);
    });
  });

  test.each(["openai-chat", "anthropic-messages", "gemini"])("a screenshot is shown over %s", async (model) => {
    const output = { type: "computer_screenshot", image_url: "data:image/png;base64,iVBORw0KGgo=" };
    const one = responses({ type: "computer_call_output", call_id: "c_1", output });
    expect((await ask(one, model)).status).toBe(200);
    expect(upstream.received[0]?.text).toContain("iVBORw0KGgo=");
  });
});

describe("content without text is refused with its path", () => {
  const upload = { type: "container_upload", file_id: "file_1" };
  const CASES: [string, Case, string][] = [
    ["an upload to a container", messages([hi, upload]), "messages[0].content[1]"],
    ["an upload in a tool result", inResult(upload), "messages[2].content[0].content[0]"],
    ["a video", chat([hi, { type: "video_url", video_url: { url: "https://v.test" } }]), "messages[0].content[1]"],
    ["an approval", responses({ type: "mcp_approval_response", approve: true, approval_request_id: "a" }), "input[0]"],
  ];
  describe.each(CASES)("%s", (_name, one, param) => {
    test.each(others(one))("over %s", async (model) => {
      const response = await ask(one, model);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: "unsupported_parameter", param } });
      expect(upstream.received).toHaveLength(0);
    });

    test("its own protocol gets it unchanged", async () => {
      expect((await ask(one, one.own)).status).toBe(200);
      expect(upstream.received[0]?.json).toMatchObject(one.body);
    });
  });
});

describe("a part of an unknown kind", () => {
  const unknown = { type: "brand_new_thing", state: 1 };
  const inputText = { type: "input_text", text: "hi" };
  const user = (...content: Json[]) => ({
    path: "/v1/responses",
    own: "openai-responses",
    body: { input: [{ role: "user", content }] },
  });
  const items = (...input: Json[]) => ({ path: "/v1/responses", own: "openai-responses", body: { input } });
  const BESIDE: [string, Case, string][] = [
    ["chat completions", chat([hi, unknown]), "messages.brand_new_thing"],
    ["messages", messages([hi, unknown]), "messages.brand_new_thing"],
    [
      "a tool result with text in messages",
      messages(
        [{ type: "tool_result", tool_use_id: "t_1", content: [hi, unknown] }],
        [{ role: "user", content: "hi" }, USED],
      ),
      "messages.brand_new_thing",
    ],
    [
      "an assistant's turn",
      messages(
        [hi],
        [
          { role: "user", content: "a" },
          { role: "assistant", content: [unknown] },
        ],
      ),
      "messages.brand_new_thing",
    ],
    ["responses", user(inputText, unknown) as Case, "input.brand_new_thing"],
    ["an item of responses", responses(unknown), "input.brand_new_thing"],
  ];
  describe.each(BESIDE)("beside another in %s", (_name, one, named) => {
    test.each(others(one))("is dropped and named over %s", async (model) => {
      const response = await ask(one, model);
      expect(response.status).toBe(200);
      expect(response.headers.get("x-sallyport-dropped")?.split(", ")).toContain(named);
      expect(upstream.received[0]?.text).toMatch(/hi|go on/);
      expect(upstream.received[0]?.text).not.toContain("brand_new_thing");
    });

    test("is sent unchanged over its own protocol", async () => {
      const response = await ask(one, one.own);
      expect(response.headers.get("x-sallyport-dropped")).toBeNull();
      expect(upstream.received[0]?.json).toMatchObject(one.body);
    });
  });

  const ALONE: [string, Case, string][] = [
    ["chat completions", chat([unknown]), "messages[0].content[0]"],
    ["messages", messages([unknown]), "messages[0].content[0]"],
    ["a tool result in messages", inResult(unknown), "messages[2].content[0].content[0]"],
    ["responses", user(unknown) as Case, "input[0].content[0]"],
    ["an item of responses", items(unknown) as Case, "input[0]"],
    [
      "items with instructions",
      { ...items(unknown, unknown), body: { input: [unknown, unknown], instructions: "Be brief." } } as unknown as Case,
      "input[0]",
    ],
  ];
  describe.each(ALONE)("alone in %s", (_name, one, param) => {
    test.each(others(one))("is refused over %s", async (model) => {
      const response = await ask(one, model);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: "unsupported_parameter", param } });
      expect(upstream.received).toHaveLength(0);
    });
  });
});

describe("media that a protocol cannot take are refused with the client's own path", () => {
  const audio = { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } };
  const chatAudio: Case = {
    path: "/v1/chat/completions",
    own: "openai-chat",
    body: {
      messages: [
        { role: "system", content: "s" },
        { role: "user", content: [hi, audio] },
      ],
    },
  };
  const csv = "data:application/zip;base64,UEsDBA==";
  const INPUT: Json = {
    instructions: "Be brief.",
    input: [
      { role: "user", content: "a" },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "1" },
      {
        role: "user",
        content: [
          { type: "input_text", text: "hi" },
          { type: "input_file", file_url: "https://a.test/b.pdf" },
        ],
      },
    ],
  };
  const fileId = { type: "document", source: { type: "file", file_id: "file_up" } };
  const CASES: [string, Case, string, string][] = [
    ["audio", chatAudio, "anthropic-messages", "messages[1].content[1]"],
    ["audio", chatAudio, "openai-responses", "messages[1].content[1]"],
    [
      "an archive",
      chat([hi, { type: "file", file: { file_data: csv } }]),
      "anthropic-messages",
      "messages[0].content[1]",
    ],
    [
      "a document by URL",
      { path: "/v1/responses", own: "openai-responses", body: INPUT } as Case,
      "openai-chat",
      "input[3].content[1]",
    ],
    [
      "a stored file",
      {
        path: "/v1/messages",
        own: "anthropic-messages",
        body: {
          max_tokens: 9,
          system: "s",
          messages: [
            { role: "user", content: "a" },
            USED,
            { role: "user", content: [{ type: "tool_result", tool_use_id: "t_1", content: [hi, fileId] }] },
          ],
        },
      } as Case,
      "gemini",
      "messages[2].content[0].content[1]",
    ],
  ];
  test.each(CASES)("%s, %j over %s", async (_name, one, model, param) => {
    const response = await ask(one, model);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "unsupported_parameter", param } });
    expect(upstream.received).toHaveLength(0);
  });

  test.each([
    [
      "/v1/responses",
      { input: [{ role: "user", content: [{ type: "input_image", file_id: `file-${"0".repeat(32)}` }] }] },
      "input[0].content[0]",
    ],
    [
      "/v1/messages",
      messages([{ type: "image", source: { type: "file", file_id: `file-${"0".repeat(32)}` } }]).body,
      "messages[0].content[0]",
    ],
  ])("an unknown file at %s", async (path, body, param) => {
    const response = await app.post(path, { ...body, model: "gemini" });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: "file_not_found", param } });
  });
});

describe("traces of a provider's own tools are named", () => {
  const searched = [
    { type: "server_tool_use", id: "s_1", name: "web_search", input: {} },
    { type: "web_search_tool_result", tool_use_id: "s_1", content: [] },
  ];
  const CASES: [string, Case, string[]][] = [
    [
      "blocks of the messages format",
      messages(
        [hi],
        [
          { role: "user", content: "hi" },
          { role: "assistant", content: [...searched, hi] },
        ],
      ),
      ["messages.server_tool_use", "messages.web_search_tool_result"],
    ],
    [
      "an item of the responses format",
      responses({ type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } }),
      ["input.web_search_call"],
    ],
  ];
  describe.each(CASES)("%s", (_name, one, names) => {
    test.each(others(one))("over %s", async (model) => {
      const response = await ask(one, model);
      expect(response.status).toBe(200);
      expect(response.headers.get("x-sallyport-dropped")?.split(", ").sort()).toEqual(names);
      const text = upstream.received[0]?.text ?? "";
      expect(text).not.toContain("web_search");
      // No empty turn remains.
      expect(text).not.toMatch(/"role":"assistant","content":(?:""|null|\[\])/);
    });
  });
});

test.each(["openai-chat", "anthropic-messages", "gemini"])(
  "tools that a search found can be called over %s",
  async (model) => {
    const tool = { type: "function", name: "found", parameters: { type: "object", properties: {} } };
    const search = { type: "tool_search_call", call_id: "ts_1", execution: "client", arguments: { q: "x" } };
    const output = { type: "tool_search_output", call_id: "ts_1", execution: "client", tools: [tool] };
    const one = responses(search, output);
    one.body["tools"] = [{ ...tool, defer_loading: true }];
    const response = await ask(one, model);
    expect(response.status).toBe(200);
    expect(upstream.received[0]?.text.match(/"name":"found"/g)).toHaveLength(1);
    const names = ["input.tool_search_call", "input.tool_search_output"];
    expect(response.headers.get("x-sallyport-dropped")?.split(", ").sort()).toEqual(names);
  },
);

test("a message without text is still sent over the responses protocol", async () => {
  const body = { model: "openai-responses", messages: [{ role: "user", content: "" }] };
  expect((await app.post("/v1/chat/completions", body)).status).toBe(200);
  expect(upstream.received[0]?.json).toMatchObject({
    input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "" }] }],
  });
});

test.each(DIALECTS.filter((name) => name !== "anthropic-messages"))(
  "an unknown thread is refused over %s in the words that Anthropic's SDKs go on from",
  async (model) => {
    const thread = { type: "continue", previous_message_id: "msg_1" };
    const response = await app.post("/v1/messages", { ...messages([hi]).body, model, thread });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      type: "error",
      error: { type: "not_found_error", details: { error_code: "thread_not_found" } },
    });
    expect(upstream.received).toHaveLength(0);
  },
);
