// Every vendor with a key and a chat protocol: where its models are listed, where a chat goes and with which credential, whole and
// streamed, with tools, a picture and an effort; and which parameters it is spared. The vendors' addresses are on loopback.

import { afterAll, describe, expect, test } from "bun:test";
import { filled } from "../../src/vendors/cloud.ts";
import { CALLABLE, type CallableVendor } from "../../src/vendors/look-up.ts";
import { kindFacts, PROTOCOLS } from "../../src/vendors/protocols.ts";
import { startTestApp } from "../support/app.ts";

interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly sent: Readonly<Record<string, unknown>>;
}

/** Resolved when a list was asked for at that path. */
const lists = new Map<string, PromiseWithResolvers<void>>();
const listAt = (path: string) => {
  const known = lists.get(path) ?? Promise.withResolvers<void>();
  lists.set(path, known);
  return known;
};
let answer: () => Response = () => Response.json({});
let received: Received | undefined;
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    if (request.method === "GET") {
      listAt(pathname + search).resolve();
      return Response.json([]);
    }
    received = { path: pathname, headers: request.headers, sent: (await request.json()) as Received["sent"] };
    return answer();
  },
});
const { origin } = upstream.url;
const PLACES = { resource: "my-place", region: "here", project: "mine" };

/** Vendors that take a key and chat completions by default. */
const VENDORS = CALLABLE.filter(
  ({ api }) => api.embedded === undefined && kindFacts(api.kind).dialect === "openai-chat" && !isSigned(api.cloud),
);

function isSigned(cloud: CallableVendor["api"]["cloud"]): boolean {
  return cloud !== undefined && cloud.credential !== "key";
}

/** The path below the host where the vendor's chats are. */
function basePath({ api: { baseUrl, cloud, pathBelowHost = "/v1" } }: CallableVendor): string {
  if (cloud !== undefined) return filled(cloud.offers.at(-1)!.path, PLACES);
  return baseUrl === "" ? pathBelowHost : new URL(baseUrl).pathname.replace(/\/$/, "");
}

function entryOf(vendor: CallableVendor): object {
  const { cloud } = vendor.api;
  return {
    preset: vendor.name,
    base_url: cloud === undefined ? origin + basePath(vendor) : origin,
    ...(cloud === undefined ? {} : PLACES),
    api_key: `key-of-${vendor.name}`,
    retry: { attempts: 1 },
    breaker: { failures: 1000 },
  };
}

const app = await startTestApp({
  key: { rpm: 10_000 },
  config: {
    providers: Object.fromEntries(VENDORS.map((vendor) => [vendor.name, entryOf(vendor)])),
    models: VENDORS.map(({ name }) => ({ id: `of-${name}`, routes: [{ provider: name, model: "vendor/some-model" }] })),
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop(true);
});

const WHOLE = {
  id: "c-1",
  object: "chat.completion",
  created: 1,
  model: "vendor/some-model",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
};
const chunkOf = (delta: object, end: string | null) => ({ choices: [{ index: 0, delta, finish_reason: end }] });
const HEAD = { id: "c-1", object: "chat.completion.chunk", created: 1, model: "vendor/some-model" };
const inEvents = (chunks: readonly object[]) =>
  new Response(
    [...chunks.map((chunk) => `data: ${JSON.stringify({ ...HEAD, ...chunk })}\n\n`), "data: [DONE]\n\n"].join(""),
    { headers: { "content-type": "text/event-stream" } },
  );
const stream = () =>
  inEvents([
    chunkOf({ role: "assistant", content: "Hel" }, null),
    chunkOf({ content: "lo." }, null),
    chunkOf({}, "stop"),
    { choices: [], usage: WHOLE.usage },
  ]);

const THOUGHT = {
  ...WHOLE,
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "Hello.", reasoning_content: "I greet." },
      finish_reason: "stop",
    },
  ],
  usage: { ...WHOLE.usage, completion_tokens_details: { reasoning_tokens: 1 } },
};
const thoughtStream = () =>
  inEvents([
    chunkOf({ role: "assistant", reasoning_content: "I greet." }, null),
    chunkOf({ content: "Hello." }, null),
    chunkOf({}, "stop"),
    { choices: [], usage: THOUGHT.usage },
  ]);

const tool = { type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } };
const picture = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
const SCHEMA = { type: "json_schema", json_schema: { name: "s", schema: { type: "object", properties: {} } } };

describe.each(VENDORS.map((vendor) => [vendor.name, vendor] as const))("%s", (name, vendor) => {
  const { api } = vendor;
  const base = basePath(vendor);
  const quirks = api.dialects["openai-chat"] ?? {};
  const scheme = api.auth ?? PROTOCOLS["openai-chat"].auth;
  const word = scheme.bearer === true ? "Bearer" : scheme.word;
  const credential = word === undefined ? `key-of-${name}` : `${word} key-of-${name}`;
  const ask = async (body: object) => {
    const response = await app.post("/v1/chat/completions", { model: `of-${name}`, ...body });
    return { response, ...received! };
  };

  test("its models are listed where its file says", async () => {
    if (api.models === undefined) return;
    const below = api.cloud?.list === undefined ? base + api.models.path : filled(api.cloud.list, PLACES);
    const { pathname, search } = new URL(origin + below);
    await listAt(pathname + search).promise;
  });

  test("a chat goes to its address with its credential, and is answered with its usage", async () => {
    answer = () => Response.json(WHOLE);
    const { response, path, headers } = await ask({ messages: [{ role: "user", content: "Hi" }] });
    expect(path).toBe(`${base}/chat/completions`);
    expect(headers.get(scheme.header)).toBe(credential);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ choices: WHOLE.choices, usage: WHOLE.usage });
  });

  test("a stream has its text and its usage", async () => {
    answer = stream;
    const { response, sent } = await ask({
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(sent["stream_options"]).toEqual(quirks.stream_options === false ? undefined : { include_usage: true });
    const text = await response.text();
    expect(text).toContain('"Hel"');
    expect(text).toContain('"completion_tokens":2');
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
  });

  test("tools, a picture, a schema and a limit arrive, or are left out by name", async () => {
    answer = () => Response.json(WHOLE);
    const { response, sent } = await ask({
      messages: [
        { role: "developer", content: "Be short." },
        { role: "user", content: [{ type: "text", text: "What is it?" }, picture] },
      ],
      tools: [tool],
      max_completion_tokens: 64,
      response_format: SCHEMA,
    });
    expect(response.status).toBe(200);
    const dropped = (response.headers.get("x-sallyport-dropped") ?? "").split(/,\s*/);
    const refuses = quirks.refuses ?? [];
    expect([sent["tools"] !== undefined, dropped.includes("tools")]).toEqual(
      refuses.includes("tools") ? [false, true] : [true, false],
    );
    expect(JSON.stringify(sent["messages"])).toContain("iVBORw0KGgo=");
    const roles = (sent["messages"] as { role: string }[]).map(({ role }) => role);
    expect(roles[0]).toBe(quirks.developer_role === false ? "system" : "developer");
    expect((sent["response_format"] as { type: string }).type).toBe(
      quirks.json_schema === false ? "json_object" : "json_schema",
    );
    const words = JSON.stringify(sent["messages"]).includes("JSON Schema");
    expect(words).toBe(quirks.json_schema === false);
    const limit = sent["max_tokens"] ?? sent["max_completion_tokens"];
    expect([limit, quirks.max_tokens_field === undefined || quirks.max_tokens_field in sent]).toEqual([64, true]);
  });

  test("an effort arrives or is left out by name, and the thinking comes back, whole and streamed", async () => {
    const asked = { messages: [{ role: "user", content: "Hi" }], reasoning_effort: "high" };
    answer = () => Response.json(THOUGHT);
    const { response, sent } = await ask(asked);
    const dropped = (response.headers.get("x-sallyport-dropped") ?? "").split(/,\s*/);
    const takes = quirks.refuses?.includes("reasoning_effort") !== true;
    expect([sent["reasoning_effort"], dropped.includes("reasoning_effort")]).toEqual(
      takes ? ["high", false] : [undefined, true],
    );
    expect(await response.json()).toMatchObject({
      choices: [{ message: THOUGHT.choices[0]!.message }],
      usage: THOUGHT.usage,
    });
    answer = thoughtStream;
    const streamed = await ask({ ...asked, stream: true });
    expect(await streamed.response.text()).toContain('"reasoning_content":"I greet."');
  });

  test("calls of tools come back, whole and streamed, with their arguments", async () => {
    if (quirks.refuses?.includes("tools")) return;
    const asked = { messages: [{ role: "user", content: "Hi" }], tools: [tool] };
    const call = { id: "call00001", type: "function", function: { name: "look", arguments: '{"at":"x"}' } };
    const message = { role: "assistant", content: null, tool_calls: [call] };
    answer = () => Response.json({ ...WHOLE, choices: [{ index: 0, message, finish_reason: "tool_calls" }] });
    const { response } = await ask(asked);
    expect(await response.json()).toMatchObject({
      choices: [{ message: { tool_calls: [call] }, finish_reason: "tool_calls" }],
    });
    answer = () =>
      inEvents([
        chunkOf({ role: "assistant", tool_calls: [{ index: 0, ...call }] }, null),
        chunkOf({}, "tool_calls"),
        { choices: [], usage: WHOLE.usage },
      ]);
    const text = await (await ask({ ...asked, stream: true })).response.text();
    expect(text).toContain('"name":"look"');
    expect(text).toContain(JSON.stringify(call.function.arguments));
  });

  test("a choice of one tool arrives, or is a word with that tool alone", async () => {
    answer = () => Response.json(WHOLE);
    const { sent } = await ask({
      messages: [{ role: "user", content: "Hi" }],
      tools: [tool, { ...tool, function: { ...tool.function, name: "other" } }],
      tool_choice: { type: "function", function: { name: "look" } },
    });
    if (quirks.refuses?.includes("tool_choice")) return expect(sent["tool_choice"]).toBeUndefined();
    const isWord = quirks.tool_choice_words === true;
    expect(sent["tool_choice"]).toEqual(isWord ? "required" : { type: "function", function: { name: "look" } });
    expect(sent["tools"]).toHaveLength(isWord ? 1 : 2);
  });

  test("what it refuses is left out and named", async () => {
    const refuses = (quirks.refuses ?? []).filter((parameter) => parameter in VALUES);
    if (refuses.length === 0) return;
    answer = () => Response.json(WHOLE);
    const { response, sent } = await ask({
      messages: [{ role: "user", content: "Hi" }],
      ...Object.fromEntries(refuses.map((parameter) => [parameter, VALUES[parameter]])),
    });
    expect(response.status).toBe(200);
    for (const parameter of refuses) expect(sent).not.toHaveProperty(parameter);
    const dropped = (response.headers.get("x-sallyport-dropped") ?? "").split(/,\s*/);
    expect(dropped).toEqual(expect.arrayContaining(refuses));
  });
});

/** Values that the gateway takes, for parameters that some vendors refuse. */
const VALUES: Readonly<Record<string, unknown>> = {
  frequency_penalty: 0.5,
  presence_penalty: 0.5,
  logit_bias: { "5": 1 },
  seed: 7,
  metadata: { a: "b" },
  store: false,
};
