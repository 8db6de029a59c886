// Prompt-cache markers between vendors: Anthropic's `cache_control` and OpenAI's `prompt_cache_breakpoint` mean the same, and each
// reaches the other's models in the form that they have. Where there is none, it is named.

import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream((received) => say(received, { text: "ok" }));
const MODELS: Readonly<Record<string, { provider: Json; model: string }>> = {
  "gpt-responses": { provider: { preset: "openai", kind: "openai-responses" }, model: "gpt-5.6" },
  "gpt-chat": { provider: { preset: "openai" }, model: "gpt-5.6" },
  "gpt-old": { provider: { preset: "openai", kind: "openai-responses" }, model: "gpt-5.5" },
  "gpt-old-chat": { provider: { preset: "openai" }, model: "gpt-5.5" },
  compatible: { provider: { kind: "openai" }, model: "gpt-5.6" },
  "router-gpt": { provider: { preset: "openrouter" }, model: "openai/gpt-5.6" },
  "router-claude": { provider: { preset: "openrouter" }, model: "anthropic/claude-opus-5-5" },
  claude: { provider: { preset: "anthropic" }, model: "claude-opus-5-5" },
  "claude-elsewhere": { provider: { kind: "anthropic" }, model: "claude-opus-5-5" },
  gemini: { provider: { kind: "gemini" }, model: "gemini-3-flash" },
};
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      Object.entries(MODELS).map(([name, { provider }]) => [
        name,
        { ...provider, base_url: upstream.baseUrl, api_key: "k", discover: false, end_users: "off" },
      ]),
    ),
    models: Object.entries(MODELS).map(([id, { model }]) => ({ id, routes: [{ provider: id, model }] })),
    tiers: { premium: { rpm: 100_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

/** Sends a request, and returns the provider's body and what the client is told was dropped. */
async function sent(path: string, body: Json): Promise<{ body: Json; dropped: string[] }> {
  upstream.received.length = 0;
  const answer = await app.post(path, body);
  expect([path, body["model"], answer.status]).toEqual([path, body["model"], 200]);
  await answer.text();
  const dropped = (answer.headers.get("x-sallyport-dropped") ?? "").split(", ").filter((name) => name !== "");
  return { body: upstream.received[0]?.json ?? {}, dropped };
}

/** Every marker in a body with the text before it, in order. */
function marksOf(value: unknown, said: { text: string } = { text: "" }): [string, string, unknown][] {
  if (Array.isArray(value)) return value.flatMap((one) => marksOf(one, said));
  if (typeof value !== "object" || value === null) return [];
  const out: [string, string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === "string" && ["text", "content", "name", "image_url"].includes(name)) said.text = inner;
    if (name === "cache_control" || name === "prompt_cache_breakpoint") continue;
    out.push(...marksOf(inner, said));
  }
  for (const name of ["cache_control", "prompt_cache_breakpoint"]) {
    const mark = (value as Json)[name];
    if (mark !== undefined) out.push([said.text, name, mark]);
  }
  return out;
}

const short = { type: "ephemeral" };
const long = { type: "ephemeral", ttl: "1h" };
const usual = { mode: "explicit" };
const lasting = { mode: "explicit", ttl: "12h" };

const PICTURE = "data:image/png;base64,aGk=";
/** What an agent of Anthropic sends: markers on the system text, on a picture and on the latest result. */
const MESSAGES: Json = {
  max_tokens: 100,
  system: [
    { type: "text", text: "one" },
    { type: "text", text: "rules", cache_control: long },
  ],
  tools: [{ name: "look", input_schema: { type: "object" } }],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "see" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" }, cache_control: short },
      ],
    },
    { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look", input: {} }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t1", content: "42", cache_control: { ...short, ttl: "5m" } }],
    },
  ],
};

test.each<[string, [string, string, unknown][], string[]]>([
  [
    "gpt-responses",
    [
      ["rules", "prompt_cache_breakpoint", lasting],
      [PICTURE, "prompt_cache_breakpoint", usual],
      ["42", "prompt_cache_breakpoint", usual],
    ],
    [],
  ],
  [
    // With tools, this model is asked over the Responses API.
    "gpt-chat",
    [
      ["rules", "prompt_cache_breakpoint", lasting],
      [PICTURE, "prompt_cache_breakpoint", usual],
      ["42", "prompt_cache_breakpoint", usual],
    ],
    [],
  ],
  [
    "router-gpt",
    [
      ["rules", "prompt_cache_breakpoint", lasting],
      ["see", "prompt_cache_breakpoint", usual],
      ["42", "prompt_cache_breakpoint", usual],
    ],
    [],
  ],
  [
    "router-claude",
    [
      ["rules", "cache_control", long],
      ["42", "cache_control", { ...short, ttl: "5m" }],
    ],
    [],
  ],
  ["gpt-old", [], ["cache_control"]],
  ["gpt-old-chat", [], ["cache_control"]],
  ["compatible", [], ["cache_control"]],
  ["gemini", [], ["cache_control"]],
])("Anthropic's markers over %s", async (model, marks, dropped) => {
  const got = await sent("/v1/messages", { ...MESSAGES, model });
  expect(marksOf(got.body)).toEqual(marks);
  expect(got.dropped.filter((name) => name.includes("cache"))).toEqual(dropped);
});

test("markers where OpenAI has no place for one are named", async () => {
  const tools = [{ name: "look", input_schema: { type: "object" }, cache_control: short }];
  const assistant = { role: "assistant", content: [{ type: "text", text: "a", cache_control: short }] };
  const user = { role: "user", content: "hi" };
  for (const model of ["gpt-responses", "gpt-chat"]) {
    for (const body of [{ tools, messages: [user] }, { messages: [user, assistant, user] }]) {
      const got = await sent("/v1/messages", { model, max_tokens: 100, ...body });
      expect(marksOf(got.body)).toEqual([]);
      expect(got.dropped).toEqual(["cache_control"]);
    }
  }
});

/** The same conversation with OpenAI's markers on three texts, in both of its formats. */
const OPENAI: Readonly<Record<string, (marks: readonly [Json?, Json?, Json?]) => Json>> = {
  "/v1/chat/completions": ([first, second, third]) => {
    const text = (said: string, mark: Json | undefined) => [
      { type: "text", text: said, ...(mark === undefined ? {} : { prompt_cache_breakpoint: mark }) },
    ];
    return {
      messages: [
        { role: "system", content: text("rules", first) },
        { role: "user", content: text("see", second) },
        { role: "assistant", content: "ok" },
        { role: "user", content: text("go", third) },
      ],
    };
  },
  "/v1/responses": ([first, second, third]) => {
    const text = (said: string, mark: Json | undefined) => [
      { type: "input_text", text: said, ...(mark === undefined ? {} : { prompt_cache_breakpoint: mark }) },
    ];
    return {
      input: [
        { role: "developer", content: text("rules", first) },
        { role: "user", content: text("see", second) },
        { role: "assistant", content: [{ type: "output_text", text: "ok" }] },
        { role: "user", content: text("go", third) },
      ],
    };
  },
};

const all = [usual, { ...usual, ttl: "30m" }, usual] as const;

test.each(Object.keys(OPENAI))("OpenAI's markers of %s", async (path) => {
  const body = (OPENAI[path] as (marks: readonly [Json?, Json?, Json?]) => Json)(all);
  const texts = ["rules", "see", "go"];
  const isChat = path.endsWith("/completions");
  const ask = async (model: string, further: Json = {}) => {
    const { body: got, dropped } = await sent(path, { model, ...body, ...further });
    return { got, dropped, top: got["cache_control"], marks: marksOf({ ...got, cache_control: undefined }) };
  };
  // The other protocol of the same vendor gets them as they are.
  const other = await ask(isChat ? "gpt-responses" : "gpt-chat");
  expect(other.marks).toEqual(texts.map((text, at) => [text, "prompt_cache_breakpoint", all[at]]));

  // Anthropic gets its own, beside the one that OpenAI places by itself at the end.
  const claude = await ask("claude");
  expect(claude.marks).toEqual(texts.map((text) => [text, "cache_control", short]));
  expect([claude.top, claude.dropped]).toEqual([short, []]);

  // With `explicit`, there is none at the end.
  const explicit = await ask("claude", { prompt_cache_options: { mode: "explicit" } });
  expect([explicit.top, explicit.marks.length, explicit.dropped]).toEqual([undefined, 3, []]);

  // The request's lifetime is that of all markers without one, and of what comes before a long one.
  const lasting12 = await ask("claude", { prompt_cache_options: { ttl: "12h" } });
  expect(lasting12.marks).toEqual(texts.map((text) => [text, "cache_control", long]));
  expect([lasting12.top, lasting12.dropped]).toEqual([long, []]);

  // Elsewhere, nothing caches the end by itself.
  const elsewhere = await ask("claude-elsewhere", { prompt_cache_options: { mode: "implicit" } });
  expect(elsewhere.marks).toHaveLength(3);
  expect([elsewhere.top, elsewhere.dropped]).toEqual([undefined, ["prompt_cache_options"]]);

  // What is not of the documented form cannot be followed, and an empty object states nothing.
  for (const [options, dropped] of [
    ["12h", ["prompt_cache_options"]],
    [{}, []],
  ] as const) {
    expect((await ask("claude", { prompt_cache_options: options })).dropped).toEqual([...dropped]);
  }

  for (const model of ["gemini", isChat ? "gpt-old" : "compatible"]) {
    const lost = await ask(model);
    expect([model, lost.marks, lost.dropped]).toEqual([model, [], ["prompt_cache_breakpoint"]]);
  }
});

test.each(Object.keys(OPENAI))("%s: a lifetime is never longer than the one before it", async (path) => {
  const body = (OPENAI[path] as (marks: readonly [Json?, Json?, Json?]) => Json)([usual, lasting, usual]);
  const { body: got } = await sent(path, { model: "claude", ...body });
  expect(marksOf({ ...got, cache_control: undefined })).toEqual([
    ["rules", "cache_control", long],
    ["see", "cache_control", long],
    ["go", "cache_control", short],
  ]);
});

test("only as many markers go to Anthropic as it accepts, the latest ones", async () => {
  const content = Array.from({ length: 9 }, (_, at) => ({
    type: "input_text",
    text: `t${at}`,
    prompt_cache_breakpoint: usual,
  }));
  const input = [{ role: "user", content }];
  const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
  const { body } = await sent("/v1/responses", { model: "claude", input, tools });
  expect(marksOf({ ...body, cache_control: undefined }).map(([text]) => text)).toEqual(["t6", "t7", "t8"]);
  expect(body["cache_control"]).toEqual(short);
  const options = { prompt_cache_options: { mode: "explicit" } };
  const explicit = await sent("/v1/responses", { model: "claude", input, tools, ...options });
  expect(marksOf(explicit.body).map(([text]) => text)).toEqual(["t5", "t6", "t7", "t8"]);
});
