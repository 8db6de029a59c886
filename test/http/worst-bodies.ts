// The worst body for every endpoint that reads one: what takes the longest to look through. An endpoint that is added gets a row,
// or a reason why it needs none.

const MIB = 1024 * 1024;
const many = <T>(count: number, one: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => one(at));
const long = (text: string, bytes: number) => text.repeat(Math.floor(bytes / Buffer.byteLength(text)));
const nested = (depth: number): unknown => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
const model = "worst-chat";

/** Nothing is fetched: an address of this machine is refused. */
const ADDRESS = "http://127.0.0.1:1/";

/** Texts that are slow to look through: prose, one word, scripts without words, mixed. */
const TEXTS = ["the ", "a", "的", "的a ", "a-1", "a.", '{"a":['].map((text) => long(text, 3 * MIB));
const MESSAGES = [
  [{ role: "user", content: long("的a ", 12 * MIB) }],
  many(2000, (at) => ({ role: at % 2 === 0 ? "user" : "assistant", content: long("word ", 1024) })),
  TEXTS.map((content) => ({ role: "user", content })),
  [{ role: "user", content: many(3000, (at) => ({ type: "text", text: `part ${at}` })) }],
];
const TOOLS = many(1000, (at) => ({
  type: "function",
  function: { name: `tool_${at}`, description: long("word ", 1024), parameters: { type: "object", properties: {} } },
}));
/** Parameters whose alternatives have another schema each for one property, and require the same properties. */
const ALTERNATIVES = [
  { anyOf: many(15_000, (at) => ({ properties: { kind: { const: at } } })) },
  { anyOf: [0, 1].map(() => ({ required: many(20_000, (at) => `p${at}`) })) },
];
/** Parts that only another protocol has, beside one that all have. */
const UNKNOWN_PARTS = [...many(20_000, () => ({ type: "unknown" })), { type: "text", text: "x" }];
/** Calls that share an id, and calls of as many tools. */
const CALLS = [
  (at: number) => ["c", `f${at}`],
  (at: number) => [`c${at}`, `f${at}`],
  (at: number) => [`c${at}`, "f"],
].map((named) => many(5000, (at) => named(at) as [string, string]));
const CALLS_OF_CHAT = CALLS.map((calls) => [
  { role: "user", content: "x" },
  {
    role: "assistant",
    tool_calls: calls.map(([id, name]) => ({ id, type: "function", function: { name, arguments: "{}" } })),
  },
  ...calls.map(([id]) => ({ role: "tool", tool_call_id: id, content: "x" })),
]);
const CALLS_OF_MESSAGES = CALLS.map((calls) => [
  { role: "user", content: "x" },
  { role: "assistant", content: calls.map(([id, name]) => ({ type: "tool_use", id, name, input: {} })) },
  { role: "user", content: calls.map(([id]) => ({ type: "tool_result", tool_use_id: id, content: "x" })) },
]);
const ITEMS = [
  long("的a ", 12 * MIB),
  many(2000, (at) => ({ role: at % 2 === 0 ? "user" : "assistant", content: long("word ", 1024) })),
  many(2000, (at) =>
    at % 2 === 0
      ? { type: "function_call", call_id: `c${at}`, name: "f", arguments: long('{"a":1} ', 1024) }
      : { type: "function_call_output", call_id: `c${at - 1}`, output: long("wwww", 1024) },
  ),
  ...CALLS.map((calls) => [
    ...calls.map(([id, name]) => ({ type: "function_call", call_id: id, name, arguments: "{}" })),
    ...calls.map(([id]) => ({ type: "function_call_output", call_id: id, output: "x" })),
  ]),
];
const CONTENTS = [
  [{ role: "user", parts: [{ text: long("的a ", 12 * MIB) }] }],
  many(2000, (at) => ({ role: at % 2 === 0 ? "user" : "model", parts: [{ text: long("word ", 1024) }] })),
  [
    { role: "model", parts: many(12_000, () => ({ functionCall: { name: "f" } })) },
    { role: "user", parts: many(12_000, () => ({ functionResponse: { name: "f", response: { output: "x" } } })) },
  ],
  many(12_000, () => ({ role: "model", parts: [{ text: "x", thought: true }, { text: "y" }] })),
];
const DECLARED = [
  {
    functionDeclarations: many(1000, (at) => ({ name: `tool_${at}`, parameters: { type: "OBJECT", properties: {} } })),
  },
];
const ADDRESSES = many(2000, (at) => ({ $id: `b${at}` }));
const SCHEMAS: readonly object[] = [
  {
    $id: `${"é".repeat(16_000)}/`,
    $ref: "#/$defs/x",
    $defs: { x: { type: "object", properties: { a: { anyOf: ADDRESSES } } } },
  },
  {
    $id: `${"é".repeat(900)}/`,
    $ref: "#/$defs/x",
    $defs: { x: { type: "object", properties: { a: { anyOf: ADDRESSES } } } },
  },
  {
    $ref: "#/$defs/a0",
    $defs: Object.fromEntries(many(1800, (at) => [`a${at}`, at < 1799 ? { $ref: `#/$defs/a${at + 1}` } : {}])),
  },
  {
    type: "object",
    properties: Object.fromEntries(many(1200, (at) => [`p${at}`, { type: "string", pattern: "^(a|a)*$" }])),
  },
  { enum: many(11_000, (at) => at) },
];
const QUESTIONS = many(200, (at) => ({ type: "predicate", name: `q${at}`, instructions: long("word ", 1024) }));
const PATTERNS = many(100, (at) => `/${"*a".repeat(100)}${at}`);
const URLS = many(1000, (at) => `${ADDRESS}${long("a/", 1000)}${at}`);

const MEMBERS = Object.fromEntries(many(90_000, (at) => [`m${at}`, 1]));

/** The bodies of each endpoint, or the reason why there are none. */
export const WORST_BODIES: Readonly<Record<string, readonly unknown[] | string>> = {
  "POST /v1/chat/completions": [
    ...MESSAGES.map((messages) => ({ model, messages })),
    // Kept in a thread, then read again.
    ...[1, 2].map(() => ({ model, messages: MESSAGES[0], thread_id: "worst" })),
    { model, messages: MESSAGES[3], tools: TOOLS },
    ...ALTERNATIVES.map((parameters) => ({
      ...{ model, messages: [{ role: "user", content: "x" }] },
      tools: [{ type: "function", function: { name: "f", parameters } }],
    })),
    { model, messages: [{ role: "user", content: UNKNOWN_PARTS }] },
    { model, messages: many(20_000, () => ({ role: "user", content: "Go on." })) },
    ...CALLS_OF_CHAT.map((messages) => ({ model, messages })),
    ...CALLS_OF_CHAT.map((messages, at) => ({ model, messages, thread_id: `worst-${at}` })),
    { model, messages: [{ role: "user", content: "x" }], unknown: nested(100) },
    { model, messages: [{ role: "user", content: "x" }], ...Object.fromEntries(many(20_000, (at) => [`u${at}`, at])) },
  ],
  "POST /v1/responses": [
    ...ITEMS.map((input) => ({ model, input, store: false })),
    ...ITEMS.map((input) => ({ model, input, store: true })),
  ],
  "POST /v1/responses/input_tokens": ITEMS.map((input) => ({ model, input })),
  "POST /v1/messages": [...MESSAGES, ...CALLS_OF_MESSAGES].map((messages) => ({ model, max_tokens: 10, messages })),
  "POST /v1/messages/count_tokens": [...MESSAGES, ...CALLS_OF_MESSAGES].map((messages) => ({ model, messages })),
  "POST /v1/completions": [{ model, prompt: long("的a ", 12 * MIB) }],
  "POST /api/chat": [
    ...MESSAGES.slice(0, 3).map((messages) => ({ model, stream: false, messages })),
    ...["g", undefined].map((name) => ({
      ...{ model, stream: false },
      messages: [
        { role: "assistant", tool_calls: many(20_000, () => ({ function: { name: "f" } })) },
        { role: "assistant", tool_calls: many(20_000, () => ({ function: { name: "g" } })) },
        ...many(20_000, () => ({ role: "tool", content: "x", ...(name === undefined ? {} : { tool_name: name }) })),
      ],
    })),
  ],
  "POST /v1beta/generateContent": [
    ...CONTENTS.map((contents) => ({ model, contents })),
    { model, contents: [{ parts: many(20_000, (at) => ({ [`snake_${at}`]: 1, text: "x" })) }] },
    { model, contents: [{ parts: [{ text: "x" }] }], tools: DECLARED },
  ],
  "POST /v1beta/countTokens": CONTENTS.map((contents) => ({ model, contents })),
  "POST /v1beta/embedContent": [{ model: "worst-embedding", content: { parts: [{ text: long("的a ", 4 * MIB) }] } }],
  "POST /v1beta/batchEmbedContents": [
    {
      model: "worst-embedding",
      requests: many(2000, () => ({ content: { parts: [{ text: long("word ", 1024) }] } })),
    },
  ],
  "POST /v1beta/streamGenerateContent": "the same handler as POST /v1beta/generateContent",
  "POST /api/generate": [{ model, stream: false, prompt: long("的a ", 12 * MIB) }],
  "POST /api/embed": [{ model: "worst-embedding", input: many(2000, () => long("word ", 1024)) }],
  "POST /api/show": [{ model: long("word ", MIB) }, { model: long(":latest", 8 * MIB) }],
  "POST /v1/embeddings": [
    { model: "worst-embedding", input: many(2000, () => long("word ", 1024)) },
    { model: "worst-embedding", input: long("的a ", 4 * MIB) },
  ],
  "POST /v1/rerank": [
    { model: "worst-rerank", query: long("word ", MIB), documents: many(1000, () => long("word ", 1024)) },
  ],
  "POST /v1/audio/speech": [{ model: "worst-speech", input: long("word ", MIB), voice: "alloy" }],
  "POST /v1/images/generations": [{ model: "worst-image", prompt: long("word ", MIB), size: "256x256" }],
  "POST /v1/systemone": [
    { model: "decide-latest", state: long("word ", 4 * MIB), questions: { a: { type: "noul", instructions: "x" } } },
    {
      ...{ model: "decide-latest", state: "x" },
      questions: { a: { type: "choice", criteria: { a: `a${"\t".repeat(2 * MIB)}b`, b: "c" } } },
    },
  ],
  "POST /v1/decisions": [
    { model: "decide-latest", input: long("word ", 4 * MIB), questions: QUESTIONS.slice(0, 1) },
    { model: "decide-latest", input: "x", questions: QUESTIONS },
  ],
  "POST /v1/scrape": [{ url: ADDRESS + long("a/", MIB) }, { url: ADDRESS, unknown: nested(100) }],
  "POST /v1/search": [{ text_query: long("word ", MIB), limit: 3 }],
  "POST /v1/map": [{ url: ADDRESS, search: long("word ", MIB) }],
  "POST /v1/crawl": [{ url: ADDRESS, include_paths: PATTERNS, exclude_paths: PATTERNS }],
  "POST /v1/extract": SCHEMAS.map((schema) => ({ urls: [ADDRESS], prompt: "x", schema })),
  "POST /v1/llmstxt": [{ url: ADDRESS + long("a/", MIB) }],
  "POST /v1/compat/openwebui/search": [{ query: long("word ", MIB), count: 3 }],
  "POST /v1/compat/openwebui/load": [{ urls: URLS }],
  "POST /v2/scrape": SCHEMAS.map((schema) => ({ url: ADDRESS, formats: [{ type: "json", prompt: "x", schema }] })),
  "POST /v2/crawl": [{ url: ADDRESS, includePaths: PATTERNS, excludePaths: PATTERNS }],
  "POST /v2/crawl/params-preview": [{ url: ADDRESS, prompt: long("word ", MIB) }],
  "POST /v1/batch/scrape": [{ urls: URLS }],
  "POST /v2/batch/scrape": [{ urls: URLS }],
  "POST /v2/map": [{ url: ADDRESS, search: long("word ", MIB) }],
  "POST /v2/search": [{ query: long("word ", MIB), limit: 3 }],
  "POST /v2/extract": SCHEMAS.map((schema) => ({ urls: [ADDRESS], prompt: "x", schema })),
  "POST /mcp": [
    ...SCHEMAS.map((schema) => ({ name: "extract", arguments: { urls: [ADDRESS], prompt: "x", schema } })),
    { name: "search", arguments: MEMBERS },
    { name: "search", arguments: { query: "x" }, _meta: MEMBERS },
  ]
    .map((params): object => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params }))
    .concat({
      ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
      params: { capabilities: { experimental: { a: { b: many(90_000, () => []) } } } },
    }),
  "POST /v1/projects": "reads 64 KiB at most",
  "PATCH /v1/projects/:id": "reads 64 KiB at most",
  "POST /v1/projects/:id/members": "reads 64 KiB at most",
  "POST /v1/conversations": [{ items: (ITEMS[1] as unknown[]).slice(0, 20) }, { metadata: { a: long("word ", MIB) } }],
  "POST /v1/responses/compact": "its own tests hold its steps (test/gateway/compaction)",
  "POST /v1/runs/:id/allow": "reads two numbers",
  "POST /v1/conversations/:id": "reads the same members as POST /v1/conversations",
  "POST /v1/conversations/:id/items": "reads the same items as POST /v1/conversations",
  "POST /typesafe/v1/systemone": "the same handler as POST /v1/systemone",
  "POST /v1/crowd/search": "the same handler as POST /v1/search",
  "POST /v1/fetch": "reads no members but the address",
  "POST /fetch": "reads no members but the address",
  "POST /v1/moderations": "answers without reading",
  "POST /v1/files": "a form (test/http/form.test.ts)",
  "POST /v2/parse": "a form (test/http/form.test.ts)",
  "POST /v1/audio/transcriptions": "a form that passes to the provider (test/http/upload.test.ts)",
  "POST /v1/audio/translations": "a form that passes to the provider (test/http/upload.test.ts)",
  "POST /v1/images/edits": "a form that passes to the provider (test/http/upload.test.ts)",
  "POST /v1/upstream/*": "passes unread",
  "PUT /v1/upstream/*": "passes unread",
  "PATCH /v1/upstream/*": "passes unread",
};

/** Endpoints of accounts and of keys take bodies of a few kilobytes. */
export const SMALL_BODIES = /^(?:POST|PUT|PATCH) (?:\/v1\/auth\/|(?:\/api)?\/v1\/keys(?:\/|$))/;
