// An image for a model that cannot read images is refused before any upstream is called, wherever the image is in the body, in
// which form and format, and whatever protocol the upstream speaks. What only looks like an image is not refused.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
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
    models: DIALECTS.map((id) => ({ id, supports_vision: false, routes: [{ provider: id, model: "up-model" }] })),
    tiers: { premium: { rpm: 100_000 } },
  },
});
let uploaded = "";
beforeAll(async () => {
  const form = new FormData();
  form.set("purpose", "vision");
  form.set("file", new File([Buffer.from(PNG, "base64")], "dot.png", { type: "image/png" }));
  const response = await app.call("/v1/files", { method: "POST", body: form });
  uploaded = ((await response.json()) as { id: string }).id;
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const DATA = `data:image/png;base64,${PNG}`;
const HTTP = "https://images.example/a.png";
/** Stands for the id of an uploaded image. */
const ID = "UPLOADED";
const hi = { type: "text", text: "hi" };
const inputText = { type: "input_text", text: "hi" };
const base64 = { type: "base64", media_type: "image/png", data: PNG };

/** Images as parts of each format. */
const CHAT_PARTS: Record<string, Json> = {
  "image_url, data": { type: "image_url", image_url: { url: DATA } },
  "image_url, http": { type: "image_url", image_url: { url: HTTP } },
  "image_url, a bare text": { type: "image_url", image_url: HTTP },
  "image_url, an id": { type: "image_url", image_url: { url: ID } },
  input_image: { type: "input_image", image_url: DATA },
  image: { type: "image", source: base64 },
  "image, Gemini": { inline_data: { mime_type: "image/png", data: PNG }, type: "part" },
  "image, Gemini URI": { type: "part", fileData: { mimeType: "image/png", fileUri: "https://files.example/1" } },
  "file, data": { type: "file", file: { filename: "a.png", file_data: DATA } },
  "file, bytes": { type: "file", file: { filename: "a.pdf", file_data: PNG } },
  "file, an id": { type: "file", file: { file_id: ID } },
  unknown: { type: "picture", src: DATA },
};
const RESPONSES_PARTS: Record<string, Json> = {
  "input_image, data": { type: "input_image", image_url: DATA },
  "input_image, http": { type: "input_image", image_url: HTTP },
  "input_image, an id": { type: "input_image", file_id: ID },
  "input_image, the upstream's id": { type: "input_image", file_id: "file-abc" },
  image_url: { type: "image_url", image_url: { url: DATA } },
  image: { type: "image", source: base64 },
  "input_file, data": { type: "input_file", filename: "a.png", file_data: DATA },
  "input_file, bytes": { type: "input_file", filename: "a.png", file_data: PNG },
  "input_file, URL": { type: "input_file", file_url: `${HTTP}?v=1` },
  "input_file, an id": { type: "input_file", file_id: ID },
  screenshot: { type: "computer_screenshot", file_id: "file-abc" },
};
const MESSAGES_PARTS: Record<string, Json> = {
  "image, base64": { type: "image", source: base64 },
  "image, URL": { type: "image", source: { type: "url", url: "https://images.example/1" } },
  "image, an id": { type: "image", source: { type: "file", file_id: ID } },
  "document, base64": { type: "document", source: base64 },
  "document, other bytes": {
    type: "document",
    source: { type: "base64", media_type: "application/pdf", data: PNG },
  },
  "document, URL": { type: "document", source: { type: "url", url: HTTP } },
  "document, an id": { type: "document", source: { type: "file", file_id: ID } },
  "document, content": {
    type: "document",
    source: { type: "content", content: [hi, { type: "image", source: base64 }] },
  },
  search_result: {
    type: "search_result",
    title: "t",
    source: "https://a.test",
    content: [hi, { type: "image", source: base64 }],
  },
  image_url: { type: "image_url", image_url: { url: DATA } },
};

/** Places of a part in each format: the list of turns, and the path of the part. */
const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
const CHAT_PLACES: Record<string, [(part: Json) => unknown[], string]> = {
  user: [(part) => [{ role: "user", content: [hi, part] }], "messages[0].content[1]"],
  "an earlier turn": [
    (part) => [
      { role: "user", content: [part] },
      { role: "assistant", content: "a" },
      { role: "user", content: "b" },
    ],
    "messages[0].content[0]",
  ],
  "a tool's result": [
    (part) => [
      { role: "user", content: "a" },
      { role: "assistant", content: null, tool_calls: [call, { ...call, id: "c2" }] },
      { role: "tool", tool_call_id: "c1", content: "1" },
      { role: "tool", tool_call_id: "c2", content: [hi, part] },
    ],
    "messages[3].content[1]",
  ],
};
const item = (name: string, output: unknown) => ({ type: name, call_id: "c1", output });
const RESPONSES_PLACES: Record<string, [(part: Json) => unknown[], string]> = {
  user: [(part) => [{ role: "user", content: [inputText, part] }], "input[0].content[1]"],
  "an earlier turn": [
    (part) => [
      { role: "user", content: [part] },
      { role: "assistant", content: "a" },
      { role: "user", content: "b" },
    ],
    "input[0].content[0]",
  ],
  "a tool's result": [
    (part) => [
      { role: "user", content: "a" },
      { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
      item("function_call_output", [inputText, part]),
    ],
    "input[2].output[1]",
  ],
  "an unknown result": [
    (part) => [{ role: "user", content: "a" }, item("brand_new_call_output", { found: { deep: [part] } })],
    "input[1].output.found.deep[0]",
  ],
};
const MESSAGES_PLACES: Record<string, [(part: Json) => unknown[], string]> = {
  user: [(part) => [{ role: "user", content: [hi, part] }], "messages[0].content[1]"],
  "an earlier turn": [
    (part) => [
      { role: "user", content: [part] },
      { role: "assistant", content: "a" },
      { role: "user", content: "b" },
    ],
    "messages[0].content[0]",
  ],
  "a tool's result": [
    (part) => [
      { role: "user", content: "a" },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [hi, part] }] },
    ],
    "messages[2].content[0].content[1]",
  ],
};

interface Case {
  name: string;
  path: string;
  body: Json;
  /** The path of the part. */
  param: string;
}

function cases(
  path: string,
  parts: Record<string, Json>,
  places: Record<string, [(part: Json) => unknown[], string]>,
): Case[] {
  const turns = path === "/v1/responses" ? "input" : "messages";
  return Object.entries(places).flatMap(([place, [list, param]]) =>
    Object.entries(parts).map(([kind, part]) => ({
      name: `${path}: ${kind} in ${place}`,
      path,
      body: { [turns]: list(part), ...(path === "/v1/messages" ? { max_tokens: 50 } : {}) },
      param,
    })),
  );
}

const items = (...input: Json[]): Json => ({ input: [{ role: "user", content: "a" }, ...input] });
const messagesOf = (...messages: Json[]): Json => ({ max_tokens: 50, messages });
const SINGLE: Case[] = [
  {
    name: "a screenshot",
    path: "/v1/responses",
    body: items(item("computer_call_output", { type: "computer_screenshot", image_url: DATA })),
    param: "input[1].output",
  },
  {
    name: "a generated image",
    path: "/v1/responses",
    body: items({ type: "image_generation_call", id: "ig_1", status: "completed", result: PNG }),
    param: "input[1]",
  },
  {
    name: "a generated image by its id",
    path: "/v1/responses",
    body: items({ type: "image_generation_call", id: "ig_1" }),
    param: "input[1]",
  },
  {
    name: "an image of a program's run",
    path: "/v1/responses",
    body: items({
      type: "code_interpreter_call",
      id: "ci_1",
      code: "plot()",
      container_id: "c",
      status: "completed",
      outputs: [{ type: "image", url: HTTP }],
    }),
    param: "input[1].outputs[0]",
  },
  {
    name: "a variable of a stored prompt",
    path: "/v1/responses",
    body: { input: "a", prompt: { id: "pmpt_1", variables: { photo: { type: "input_image", image_url: DATA } } } },
    param: "prompt.variables.photo",
  },
  {
    name: "an image that the assistant made",
    path: "/v1/chat/completions",
    body: {
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: "b", images: [{ type: "image_url", image_url: { url: DATA } }] },
        { role: "user", content: "c" },
      ],
    },
    param: "messages[1]",
  },
  {
    name: "a file that a tool viewed",
    path: "/v1/messages",
    body: messagesOf(
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: [
          { type: "server_tool_use", id: "s1", name: "text_editor_code_execution", input: { command: "view" } },
          {
            type: "text_editor_code_execution_tool_result",
            tool_use_id: "s1",
            content: { type: "text_editor_code_execution_view_result", file_type: "image", content: PNG },
          },
        ],
      },
      { role: "user", content: "b" },
    ),
    param: "messages[1].content[1].content",
  },
];

const ALL = [
  ...cases("/v1/chat/completions", CHAT_PARTS, CHAT_PLACES),
  ...cases("/v1/responses", RESPONSES_PARTS, RESPONSES_PLACES),
  ...cases("/v1/messages", MESSAGES_PARTS, MESSAGES_PLACES),
  ...SINGLE,
];

const withId = (body: Json) => JSON.parse(JSON.stringify(body).replaceAll(ID, uploaded)) as Json;

describe.each(DIALECTS)("over %s", (model) => {
  test.each(ALL)("$name", async ({ path, body, param }) => {
    const response = await app.post(path, { ...withId(body), model });
    expect(upstream.received).toHaveLength(0);
    const { error } = (await response.json()) as { error: { code: string; param: string } };
    expect([response.status, error.code]).toEqual([400, "image_input_not_supported"]);
    // Some parts contain the image in one of their members.
    expect(`${error.param}.`).toStartWith(`${param}.`);
  });
});

test("the path leads to the image within a part", async () => {
  const [list] = MESSAGES_PLACES["a tool's result"]!;
  const body = { max_tokens: 50, messages: list(MESSAGES_PARTS["document, content"]!), model: "gemini" };
  const { error } = (await (await app.post("/v1/messages", body)).json()) as { error: { param: string } };
  expect(error.param).toBe("messages[2].content[0].content[1].source.content[1]");
});

test.each([
  ["/v1/messages/count_tokens", messagesOf({ role: "user", content: [MESSAGES_PARTS["document, content"]] })],
  ["/v1/responses/input_tokens", items(item("computer_call_output", { type: "computer_screenshot", image_url: DATA }))],
])("%s asks no upstream", async (path, body) => {
  const response = await app.post(path, { ...body, model: "anthropic-messages" });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "image_input_not_supported" } });
  expect(upstream.received).toHaveLength(0);
});

const SCHEMA = {
  type: "object",
  properties: { image_url: { type: "string", default: DATA }, images: { enum: [{ type: "image" }] } },
};
const hello = { role: "user", content: "b" };
const NOT_IMAGES: [string, string, Json][] = [
  [
    "a page that a search found",
    "/v1/responses",
    items(
      { type: "web_search_call", id: "ws_1", action: { type: "search", sources: [{ type: "url", url: HTTP }] } },
      hello,
    ),
  ],
  [
    "code and its output",
    "/v1/responses",
    items({ type: "code_interpreter_call", id: "ci_1", code: DATA, outputs: [{ type: "logs", logs: DATA }] }, hello),
  ],
  ["a data URL in a text", "/v1/chat/completions", { messages: [{ role: "user", content: DATA }] }],
  [
    "a data URL in a part",
    "/v1/chat/completions",
    { messages: [{ role: "user", content: [{ type: "text", text: DATA }] }] },
  ],
  [
    "a tool with images",
    "/v1/chat/completions",
    {
      messages: [{ role: "user", content: "a" }],
      tools: [{ type: "function", function: { name: "image", parameters: SCHEMA } }],
    },
  ],
  [
    "arguments with an image",
    "/v1/messages",
    messagesOf(
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "c1", name: "f", input: { type: "image", source: base64, image_url: HTTP } }],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: DATA }] },
    ),
  ],
  [
    "a PDF",
    "/v1/messages",
    messagesOf({
      role: "user",
      content: [{ type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" } }, hi],
    }),
  ],
  [
    "the URL of a page that is an image",
    "/v1/messages",
    messagesOf(
      { role: "user", content: "a" },
      {
        role: "assistant",
        content: [
          { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "q" } },
          {
            type: "web_search_tool_result",
            tool_use_id: "s1",
            content: [{ type: "web_search_result", url: HTTP, title: "t", encrypted_content: "e" }],
          },
          { type: "text", text: "b" },
        ],
      },
      { role: "user", content: "c" },
    ),
  ],
  [
    "an image that was not made",
    "/v1/responses",
    items(
      { type: "image_generation_call", id: "ig_1", status: "failed", result: null },
      { role: "user", content: "b" },
    ),
  ],
];

test.each(NOT_IMAGES)("%s is no image", async (_name, path, body) => {
  for (const model of DIALECTS) {
    const response = await app.post(path, { ...body, model });
    expect([model, response.status]).toEqual([model, 200]);
  }
});
