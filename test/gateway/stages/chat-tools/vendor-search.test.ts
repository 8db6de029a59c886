// A search that a provider runs itself, for clients of every format over every protocol: it gets the tool in its own form, and the
// client reads the answer in its own.

import { afterAll, describe, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { KINDS } from "../../../support/fake-model.ts";
import { CLIENT_FORMATS } from "../../../support/heard.ts";
import { type Received, sse, startUpstream } from "../../../support/upstream.ts";

type Json = Record<string, unknown>;
const PAGE = { url: "https://rye.example/", title: "Rye" };
const SAID = "Füße: rye survives winters.";
const CLAIM = "rye survives winters";
const AT = SAID.indexOf(CLAIM);
const bytes = (text: string) => Buffer.byteLength(text);

/** What each protocol's provider answers: its own search, and a text that rests on it. */
const VENDORS = {
  "anthropic-messages": {
    isTool: (tool: Json) => String(tool["type"]).startsWith("web_search_"),
    whole: () => ({
      ...{ id: "msg_1", type: "message", role: "assistant", model: "up", stop_reason: "end_turn" },
      content: anthropicBlocks(),
      usage: { input_tokens: 5, output_tokens: 3, server_tool_use: { web_search_requests: 1 } },
    }),
    stream: () => {
      const event = (value: Json) => `event: ${String(value["type"])}\ndata: ${JSON.stringify(value)}\n\n`;
      const message = { id: "msg_1", type: "message", role: "assistant", model: "up", content: [] };
      const delta = (index: number, value: Json) => event({ type: "content_block_delta", index, delta: value });
      return [
        event({ type: "message_start", message: { ...message, usage: { input_tokens: 5, output_tokens: 1 } } }),
        ...anthropicBlocks().flatMap((block, index) => {
          const { input, citations, ...first } = block;
          const begun =
            block["type"] === "text" ? { type: "text", text: "" } : { ...first, ...(input ? { input: {} } : {}) };
          const deltas =
            block["type"] === "text"
              ? [
                  ...(citations as Json[]).map((citation) => delta(index, { type: "citations_delta", citation })),
                  ...[...SAID].map((text) => delta(index, { type: "text_delta", text })),
                ]
              : input === undefined
                ? []
                : [delta(index, { type: "input_json_delta", partial_json: JSON.stringify(input) })];
          const start = event({ type: "content_block_start", index, content_block: begun });
          return [start, ...deltas, event({ type: "content_block_stop", index })];
        }),
        event({
          type: "message_delta",
          delta: { stop_reason: "end_turn" },
          usage: { output_tokens: 3, server_tool_use: { web_search_requests: 1 } },
        }),
        event({ type: "message_stop" }),
      ];
    },
  },
  "openai-responses": {
    isTool: (tool: Json) => tool["type"] === "web_search",
    whole: () => ({
      ...{ id: "resp_1", object: "response", model: "up", status: "completed", output: responsesItems() },
      usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8 },
    }),
    stream: () => {
      let sequence_number = 0;
      const event = (type: string, value: Json) =>
        `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...value })}\n\n`;
      const [search, message] = responsesItems() as [Json, Json];
      const [part] = message["content"] as [Json];
      const at = { output_index: 1, item_id: "msg_1", content_index: 0 };
      const response = { id: "resp_1", object: "response", model: "up", status: "in_progress", output: [] };
      return [
        event("response.created", { response }),
        event("response.in_progress", { response }),
        event("response.output_item.added", { output_index: 0, item: { ...search, status: "in_progress" } }),
        event("response.output_item.done", { output_index: 0, item: search }),
        event("response.output_item.added", {
          output_index: 1,
          item: { ...message, status: "in_progress", content: [] },
        }),
        event("response.content_part.added", { ...at, part: { type: "output_text", text: "", annotations: [] } }),
        ...[...SAID].map((delta) => event("response.output_text.delta", { ...at, delta })),
        event("response.output_text.annotation.added", {
          ...at,
          annotation_index: 0,
          annotation: (part["annotations"] as Json[])[0],
        }),
        event("response.output_text.done", { ...at, text: SAID }),
        event("response.content_part.done", { ...at, part }),
        event("response.output_item.done", { output_index: 1, item: message }),
        event("response.completed", { response: VENDORS["openai-responses"].whole() }),
      ];
    },
  },
  gemini: {
    isTool: (tool: Json) => tool["googleSearch"] !== undefined,
    whole: () => geminiChunk([{ text: SAID }], true),
    stream: () =>
      [...SAID].map((text, at) => `data: ${JSON.stringify(geminiChunk([{ text }], at === SAID.length - 1))}\n\n`),
  },
};

function anthropicBlocks(): Json[] {
  const found = { type: "web_search_result", ...PAGE, encrypted_content: "Eq8", page_age: null };
  const cited = { type: "web_search_result_location", ...PAGE, encrypted_index: "Eo8", cited_text: "It survives." };
  return [
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "rye" } },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [found] },
    { type: "text", text: SAID, citations: [cited] },
  ];
}

function responsesItems(): Json[] {
  const action = { type: "search", query: "rye", sources: [{ type: "url", url: PAGE.url }] };
  const annotation = { type: "url_citation", ...PAGE, start_index: AT, end_index: AT + CLAIM.length };
  return [
    { type: "web_search_call", id: "ws_1", status: "completed", action },
    {
      ...{ type: "message", id: "msg_1", role: "assistant", status: "completed" },
      content: [{ type: "output_text", text: SAID, annotations: [annotation] }],
    },
  ];
}

function geminiChunk(parts: Json[], isLast: boolean): Json {
  const segment = {
    startIndex: bytes(SAID.slice(0, AT)),
    endIndex: bytes(SAID.slice(0, AT + CLAIM.length)),
    text: CLAIM,
  };
  const groundingMetadata = {
    webSearchQueries: ["rye"],
    groundingChunks: [{ web: { uri: PAGE.url, title: PAGE.title } }],
    groundingSupports: [{ segment, groundingChunkIndices: [0] }],
  };
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };
  const candidate = { index: 0, content: { role: "model", parts } };
  return {
    candidates: [isLast ? { ...candidate, finishReason: "STOP", groundingMetadata } : candidate],
    ...(isLast ? { usageMetadata } : {}),
  };
}

type Vendor = keyof typeof VENDORS;
const vendors = Object.keys(VENDORS) as Vendor[];
const upstream = startUpstream();
const config = {
  providers: Object.fromEntries(
    vendors.map((name) => [
      name,
      { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false, quirks: { web_search: true } },
    ]),
  ),
  models: [
    ...vendors.map((id) => ({ id, routes: [{ provider: id, model: "up" }] })),
    { id: "both", routes: vendors.map((provider) => ({ provider, model: "up" })) },
    ...vendors.map((first) => ({
      id: `first-${first}`,
      routes: vendors.map((provider) => ({ provider, model: "up", priority: provider === first ? 1 : 2 })),
    })),
  ],
};
const app = await startTestApp({ config });
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** How clients of each format ask, and where the answer names the page. */
const CLIENTS = {
  "openai-chat": {
    ask: (tool: Json = {}) => ({ web_search_options: tool, messages: [{ role: "user", content: "What is rye?" }] }),
    /** The settings of a search in the place of San Francisco, and of one of a single site. */
    near: { user_location: { type: "approximate", approximate: { city: "Ulm", country: "DE" } } },
    citation: (answer: string) => answer.includes(`"url_citation":{"url":"${PAGE.url}"`),
    search: () => true,
  },
  "openai-responses": {
    ask: (tool: Json = {}) => ({ tools: [{ type: "web_search", ...tool }], input: "What is rye?", store: false }),
    near: { user_location: { type: "approximate", city: "Ulm", country: "DE" } },
    citation: (answer: string) => /"type":"url_citation"[^}]*rye\.example/.test(answer),
    search: (answer: string) => answer.includes("web_search_call") && answer.includes('"query":"rye"'),
  },
  "anthropic-messages": {
    ask: (tool: Json = {}) => ({
      tools: [{ type: "web_search_20250305", name: "web_search", ...tool }],
      max_tokens: 99,
      messages: [{ role: "user", content: "What is rye?" }],
    }),
    near: { user_location: { type: "approximate", city: "Ulm", country: "DE" } },
    citation: (answer: string) =>
      /web_search_result_location[^}]*rye\.example|rye\.example[^}]*web_search_result_location/.test(answer),
    search: (answer: string) => answer.includes("server_tool_use") && answer.includes("web_search_tool_result"),
  },
  gemini: {
    ask: (tool: Json = {}) => ({
      tools: [{ googleSearch: tool }],
      contents: [{ role: "user", parts: [{ text: "What is rye?" }] }],
    }),
    near: {},
    citation: (answer: string) => /"groundingSupports":\[\{"segment"/.test(answer) && answer.includes(PAGE.url),
    search: (answer: string) => answer.includes('"webSearchQueries":["rye"]'),
  },
};
type Client = keyof typeof CLIENTS;
const clients = Object.keys(CLIENTS) as Client[];

function answer(received: Received): Response {
  const dialect = vendorOf(received);
  const streams = received.json?.["stream"] === true || received.path.includes("streamGenerateContent");
  return streams ? sse(VENDORS[dialect].stream()) : Response.json(VENDORS[dialect].whole());
}

function vendorOf({ path }: Received): Vendor {
  if (path.endsWith("/messages")) return "anthropic-messages";
  return path.endsWith("/responses") ? "openai-responses" : "gemini";
}

async function ask(client: Client, model: string, { stream, more = {} }: { stream: boolean; more?: Json }) {
  const format = CLIENT_FORMATS.find(({ name }) => name === client)!;
  upstream.received.length = 0;
  upstream.answer(answer);
  const isGemini = client === "gemini";
  const verb = stream ? "streamGenerateContent?alt=sse" : "generateContent";
  const path = isGemini ? `/v1beta/models/${model}:${verb}` : format.path;
  const body = { ...CLIENTS[client].ask(), ...more };
  const options = stream && client === "openai-chat" ? { stream_options: { include_usage: true } } : {};
  const response = await app.post(path, isGemini ? body : { ...body, model, stream, ...options });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const heard = stream ? format.streamed(text) : format.whole(JSON.parse(text) as Json);
  return { text, heard, dropped: response.headers.get("x-sallyport-dropped") };
}

const toolsSent = () => (upstream.received[0]!.json!["tools"] ?? []) as Json[];
const ROWS = clients.flatMap((client) => vendors.map((vendor) => [client, vendor] as const));

describe.each([false, true])("stream %p", (stream) => {
  test.each(ROWS)("%s over %s: the provider searches, and the client reads it", async (client, vendor) => {
    const { text, heard, dropped } = await ask(client, vendor, { stream });
    expect(upstream.received.length).toBe(1);
    expect(toolsSent().map(VENDORS[vendor].isTool)).toEqual([true]);
    expect([heard.text, dropped]).toEqual([SAID, null]);
    if (vendor === "openai-responses" && client !== vendor) {
      expect(upstream.received[0]!.json!["include"]).toEqual(["web_search_call.action.sources"]);
    }
    expect(CLIENTS[client].citation(text), text).toBe(true);
    expect(CLIENTS[client].search(text), text).toBe(true);
    // A provider of the client's own protocol says what it likes.
    if (client !== "gemini" && client !== vendor) expect(text).toMatch(/"web_search(?:es|_requests)":1\b/);
  });
});

test.each(ROWS)(
  "%s over %s: what the client wants of the search goes up, or the gateway searches",
  async (client, vendor) => {
    const { near, ask: asks } = CLIENTS[client];
    await ask(client, vendor, { stream: false, more: asks(near) });
    const [tool = {}] = toolsSent();
    const isOwnFormat = (client as string) === vendor;
    if (client !== "gemini" && vendor === "gemini") expect(tool["googleSearch"]).toBeUndefined();
    else if (client !== "gemini" && !isOwnFormat) {
      expect(tool["user_location"]).toEqual({ type: "approximate", city: "Ulm", country: "DE" });
    }
  },
);

test("limits that a provider's form cannot say are kept by the gateway", async () => {
  const { ask: asks } = CLIENTS["anthropic-messages"];
  for (const [vendor, tool, isTheirs] of [
    ["openai-responses", { max_uses: 2 }, false],
    ["openai-responses", { allowed_domains: ["rye.example"] }, true],
    ["openai-responses", { blocked_domains: ["oats.example"] }, false],
    ["gemini", { allowed_domains: ["rye.example"] }, false],
  ] as const) {
    await ask("anthropic-messages", vendor, { stream: false, more: asks(tool) });
    const [sent = {}] = toolsSent();
    expect([vendor, tool, VENDORS[vendor].isTool(sent)]).toEqual([vendor, tool, isTheirs]);
  }
  await ask("openai-responses", "anthropic-messages", {
    stream: false,
    more: CLIENTS["openai-responses"].ask({ filters: { allowed_domains: ["rye.example"] } }),
  });
  expect(toolsSent()[0]).toMatchObject({ allowed_domains: ["rye.example"], max_uses: 5 });
});

test("the blocks of a provider's search come back as what the model saw, over any protocol", async () => {
  const { text } = await ask("openai-responses", "anthropic-messages", { stream: false });
  const { output } = JSON.parse(text) as { output: Json[] };
  for (const vendor of vendors) {
    const input = [{ role: "user", content: "What is rye?" }, ...output, { role: "user", content: "Sure?" }];
    await ask("openai-responses", vendor, { stream: false, more: { input } });
    const sent = upstream.received[0]!.text;
    expect([vendor, sent.includes(PAGE.url), sent.includes("sealed_results")]).toEqual([vendor, true, false]);
  }
});

test("each route of a model gets the tool in its own form", async () => {
  upstream.received.length = 0;
  const seen = new Set<Vendor>();
  upstream.answer((received) => {
    seen.add(vendorOf(received));
    return seen.size === vendors.length ? answer(received) : new Response(null, { status: 500 });
  });
  const body = { ...CLIENTS["openai-chat"].ask(), model: "both" };
  const response = await app.post("/v1/chat/completions", body);
  expect(response.status).toBe(200);
  const asked = new Set(
    upstream.received.map((received) => {
      const [tool = {}] = (received.json!["tools"] ?? []) as Json[];
      return `${vendorOf(received)} ${VENDORS[vendorOf(received)].isTool(tool)}`;
    }),
  );
  expect([...asked].sort()).toEqual(vendors.map((vendor) => `${vendor} true`).sort());
});

const TOOLSET = { type: "mcp_toolset", mcp_server_name: "files" };

/** What only the provider itself can say. */
const OWN_WORDS = {
  "anthropic-messages": '"encrypted_index":"Eo8"',
  "openai-responses": '"id":"ws_1"',
  gemini: '"groundingSupports":[{"segment"',
};

test.each(vendors.flatMap((vendor) => [false, true].map((stream) => [vendor, stream] as const)))(
  "%s, stream %p: what a provider of the client's own protocol says is kept if other routes have other protocols",
  async (vendor, stream) => {
    const { text, heard } = await ask(vendor, `first-${vendor}`, { stream });
    expect(vendorOf(upstream.received[0]!)).toBe(vendor);
    expect(heard.text).toBe(SAID);
    expect(text).toContain(OWN_WORDS[vendor]);
    expect(CLIENTS[vendor].citation(text), text).toBe(true);
    expect(CLIENTS[vendor].search(text), text).toBe(true);
  },
);

describe("what a provider of the client's own protocol says of its search is kept if the answer is looked through", () => {
  const guardrails = [{ name: "w", on: ["output"], check: { kind: "words", words: ["kryptonite"] } }];
  test.each(vendors.flatMap((vendor) => [false, true].map((stream) => [vendor, stream] as const)))(
    "%s, stream %p",
    async (vendor, stream) => {
      await app.reconfigure({ ...config, guardrails });
      const { text, heard } = await ask(vendor, vendor, { stream });
      await app.reconfigure(config);
      expect(heard.text).toBe(SAID);
      expect(CLIENTS[vendor].citation(text), text).toBe(true);
      expect(CLIENTS[vendor].search(text), text).toBe(true);
    },
  );
});

test("Google's search, which stands alone, is not asked for beside the tools of MCP servers", async () => {
  const servers = { files: { url: "http://127.0.0.1:1/mcp" } };
  await app.reconfigure({ ...config, mcp: { servers } });
  for (const more of [{}, { tools: [...CLIENTS["anthropic-messages"].ask().tools, TOOLSET] }]) {
    const mcp_servers = [{ type: "url", name: "files", url: "http://127.0.0.1:1/mcp" }];
    await ask("anthropic-messages", "gemini", { stream: false, more: { ...more, mcp_servers } });
    expect(toolsSent().map(VENDORS.gemini.isTool)).toEqual([false]);
  }
  await app.reconfigure(config);
});
