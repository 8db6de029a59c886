// The clouds: what the vendors' own clients send and what the gateway sends for the same request meet one recording server, and
// must be equal but for what is explained here. Signatures are checked by the vendor's own implementation.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { AnthropicBedrock, AnthropicBedrockMantle } from "@anthropic-ai/bedrock-sdk";
import { AnthropicFoundry } from "@anthropic-ai/foundry-sdk";
import { AnthropicVertex } from "@anthropic-ai/vertex-sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { keyStore } from "../../src/store/access/keys.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { eventStreamTransport } from "../../src/upstream/clouds/event-stream.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import {
  AWS_KEYS,
  chunk,
  EVENTS,
  eventStream,
  frame,
  isSigned,
  type Seen,
  startCloudServer,
  withoutChance,
} from "../support/cloud-server.ts";

const cloud = startCloudServer();
const { origin, seen } = cloud;

const PROVIDERS = {
  bedrock: { region: "us-west-2", base_url: origin, credentials: AWS_KEYS },
  "bedrock-mantle": { region: "us-west-2", base_url: origin, credentials: AWS_KEYS },
  bearer: { preset: "bedrock", region: "us-west-2", base_url: origin, api_key: "bearer-of-bedrock" },
  vertex: {
    project: "p",
    region: "us-east5",
    base_url: origin,
    credentials: {
      json: JSON.stringify({
        type: "authorized_user",
        client_id: "c",
        client_secret: "s",
        refresh_token: "refresh-secret",
      }),
      token_url: `${origin}/token`,
    },
  },
  // The gateway names users to Azure by default, which no client does.
  foundry: { base_url: origin, api_key: "key-of-foundry", end_users: "off" },
  entra: {
    preset: "foundry",
    base_url: origin,
    credentials: { tenant: "t", client_id: "c", client_secret: "client-secret-1", token_url: `${origin}/token` },
  },
};

/** Nothing is found for it. */
const WITHOUT = {
  preset: "bedrock",
  region: "us-west-2",
  base_url: origin,
  credentials: { profile: "none-of-that-name" },
};

/** Each model with its route: `provider`, the model's name there and, where the name does not tell it, the protocol. */
const MODELS: readonly [id: string, provider: string, model: string, protocol?: string][] = [
  ["bedrock-claude", "bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
  ["bedrock-arn", "bedrock", "arn:aws:bedrock:us-west-2:1:application-inference-profile/abc", "anthropic"],
  ["bedrock-bearer", "bearer", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
  ["bedrock-gpt", "bedrock", "openai.gpt-5.4"],
  ["bedrock-qwen", "bedrock", "qwen.qwen3-32b-v1:0"],
  ["mantle-claude", "bedrock-mantle", "anthropic.claude-opus-4-8"],
  ["mantle-gpt", "bedrock-mantle", "openai.gpt-oss-120b"],
  ["mantle-gemma", "bedrock-mantle", "google.gemma-4-31b"],
  ["vertex-claude", "vertex", "claude-sonnet-4-5@20250929"],
  ["vertex-gemini", "vertex", "gemini-2.5-flash"],
  ["vertex-llama", "vertex", "meta/llama-4-maverick-17b-128e-instruct-maas"],
  ["vertex-gpt", "vertex", "gpt-5.4"],
  ["foundry-claude", "foundry", "claude-sonnet-4-5"],
  ["foundry-gpt", "foundry", "my-deployment"],
  ["entra-claude", "entra", "deployment-1", "anthropic"],
  ["keyless", "without", "openai.gpt-5.4"],
];

const config = {
  providers: { ...PROVIDERS, without: WITHOUT, demo: { enabled: false } },
  models: MODELS.map(([id, provider, model, protocol]) => ({
    id,
    routes: [{ provider, model, ...(protocol === undefined ? {} : { protocol }) }],
  })),
};

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ config });
});
afterAll(async () => {
  await app.stop();
  await cloud.stop();
});
beforeEach(() => {
  seen.length = 0;
  cloud.answer();
});

const aws = {
  awsAccessKey: AWS_KEYS.access_key_id,
  awsSecretKey: AWS_KEYS.secret_access_key,
  awsSessionToken: AWS_KEYS.session_token,
  awsRegion: "us-west-2",
};
const token = {
  authClient: { getRequestHeaders: async () => new Headers({ authorization: "Bearer cloud-token" }), projectId: "p" },
};
const ASK = { max_tokens: 16, messages: [{ role: "user" as const, content: "Hi" }] };

interface MessagesClient {
  readonly messages: { create(body: never, options: never): Promise<unknown> };
}

/** For each client: the vendor's own for this cloud, and how the gateway's request may differ. */
const CLAUDE: readonly [
  id: string,
  client: () => unknown,
  service: string | undefined,
  explained: (body: Record<string, unknown>, path: string) => readonly [Record<string, unknown>, string],
][] = [
  [
    "bedrock-claude",
    () => new AnthropicBedrock({ ...aws, baseURL: origin }),
    "bedrock",
    // The documented version rather than the package's, and colons encoded as by AWS's own client; both are accepted.
    (body, path) => [{ ...body, anthropic_version: "bedrock-2023-05-31" }, path.replaceAll(":", "%3A")],
  ],
  [
    "mantle-claude",
    () =>
      new AnthropicBedrockMantle({
        ...aws,
        awsSecretAccessKey: AWS_KEYS.secret_access_key,
        baseURL: `${origin}/anthropic`,
      } as never),
    "bedrock-mantle",
    (body, path) => [body, path],
  ],
  [
    "vertex-claude",
    () => new AnthropicVertex({ ...token, region: "us-east5", projectId: "p", baseURL: `${origin}/v1` } as never),
    undefined,
    (body, path) => [{ ...body, anthropic_version: "vertex-2023-10-16" }, path],
  ],
  [
    "foundry-claude",
    () => new AnthropicFoundry({ apiKey: "key-of-foundry", baseURL: `${origin}/anthropic` }),
    undefined,
    (body, path) => [body, path],
  ],
];

describe("Claude in a cloud is asked as the vendor's own client asks", () => {
  test.each(CLAUDE.flatMap((row) => [false, true].map((stream) => [row[0], stream, row] as const)))(
    "%s, stream: %s",
    async (id, stream, row) => {
      const [, client, service, explained] = row;
      const model = MODELS.find(([name]) => name === id)?.[2];
      const own = client() as MessagesClient;
      const options = { headers: { "anthropic-beta": "beta-1,beta-2" } };
      const direct = (await own.messages.create(
        { ...ASK, model, stream } as never,
        options as never,
      )) as AsyncIterable<unknown>;
      if (stream) for await (const _event of direct);
      const answered = await app.post(
        "/v1/messages",
        { model: id, ...ASK, stream },
        { ...options.headers, "anthropic-version": "2023-06-01" },
      );
      const text = await answered.text();
      expect([answered.status, text]).toEqual([200, expect.stringContaining("Hello.")]);
      if (stream) expect(text).toContain("event: message_stop");
      expect(seen).toHaveLength(2);
      const [theirs, ours] = seen as [Seen, Seen];
      const [body, path] = explained(theirs.body, theirs.path);
      expect(ours.method).toBe(theirs.method);
      expect(decodeURI(ours.path)).toBe(decodeURI(path));
      const { stream: streams, ...rest } = ours.body;
      const { stream: theirStreams, ...theirRest } = body;
      expect(rest).toEqual(theirRest);
      // A client may say that it wants no stream.
      expect(streams ?? false).toBe(theirStreams ?? false);
      expect(withoutChance(ours.headers)).toEqual(withoutChance(theirs.headers));
      expect(ours.headers.has("anthropic-version")).toBe(theirs.headers.has("anthropic-version"));
      if (service === undefined) expect(ours.headers.get("authorization")).toBe(theirs.headers.get("authorization"));
      else expect([await isSigned(theirs, service), await isSigned(ours, service)]).toEqual([true, true]);
    },
  );
});

const openai = (path: string, apiKey = "cloud-token") => new OpenAI({ apiKey, baseURL: origin + path });

describe("OpenAI's protocols in a cloud are asked as OpenAI's own client asks, in the client's own one", () => {
  const PLACE = "projects/p/locations/us-east5";
  test.each<[string, string, string | undefined]>([
    ["bedrock-gpt", "/openai/v1", "bedrock"],
    ["bedrock-qwen", "/openai/v1", "bedrock"],
    ["mantle-gpt", "/openai/v1", "bedrock-mantle"],
    ["mantle-gemma", "/v1", "bedrock-mantle"],
    ["vertex-llama", `/v1/${PLACE}/endpoints/openapi`, undefined],
    ["vertex-gpt", `/v1/${PLACE}/publishers/openai/v1`, undefined],
    ["foundry-gpt", "/openai/v1", undefined],
  ])("%s", async (id, path, service) => {
    const [, provider, model = ""] = MODELS.find(([name]) => name === id) ?? [];
    const client = openai(path, provider === "foundry" ? "key-of-foundry" : undefined);
    const ways: [string, Record<string, unknown>, () => Promise<unknown>][] = [
      [
        "/v1/chat/completions",
        { messages: ASK.messages, temperature: 0.5 },
        () => client.chat.completions.create({ model, messages: ASK.messages, temperature: 0.5 }),
      ],
    ];
    if (!/qwen|llama/.test(id))
      ways.push([
        "/v1/responses",
        { input: "Hi", store: false, temperature: 0.5 },
        () => client.responses.create({ model, input: "Hi", store: false, temperature: 0.5 }),
      ]);
    for (const [endpoint, body, ask] of ways) {
      seen.length = 0;
      await ask();
      const answered = await app.post(endpoint, { model: id, ...body });
      expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining("Hello.")]);
      const [theirs, ours] = seen as [Seen, Seen];
      expect([ours.method, ours.path]).toEqual([theirs.method, theirs.path]);
      expect(ours.body).toEqual(theirs.body);
      expect(withoutChance(ours.headers)).toEqual(withoutChance(theirs.headers));
      if (service === undefined) expect(ours.headers.get("authorization")).toBe(theirs.headers.get("authorization"));
      else expect(await isSigned(ours, service)).toBe(true);
    }
  });
});

test("Gemini on Vertex is asked as Google's own client asks", async () => {
  const google = new GoogleGenAI({
    vertexai: true,
    project: "p",
    location: "us-east5",
    googleAuthOptions: {
      authClient: { getRequestHeaders: async () => new Headers({ authorization: "Bearer cloud-token" }) } as never,
    },
    httpOptions: { baseUrl: origin },
  });
  await google.models.generateContent({
    model: "gemini-2.5-flash",
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    config: { maxOutputTokens: 16 },
  });
  const answered = await app.post("/v1/chat/completions", { model: "vertex-gemini", ...ASK });
  expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining("Hello.")]);
  const [theirs, ours] = seen as [Seen, Seen];
  expect([ours.method, ours.path]).toEqual([theirs.method, theirs.path]);
  expect(ours.body).toEqual(theirs.body);
  expect(ours.headers.get("authorization")).toBe(theirs.headers.get("authorization"));
});

test.each([
  ["bedrock-bearer", "authorization", "Bearer bearer-of-bedrock"],
  ["entra-claude", "authorization", "Bearer cloud-token"],
  ["foundry-claude", "x-api-key", "key-of-foundry"],
])("%s is authenticated by %s", async (model, header, value) => {
  expect((await app.post("/v1/messages", { model, ...ASK })).status).toBe(200);
  const [one] = seen as [Seen];
  expect(one.headers.get(header)).toBe(value);
  expect(one.headers.has("x-amz-date")).toBe(false);
});

test.each([
  ["bedrock-claude", "bedrock-2023-05-31"],
  ["vertex-claude", "vertex-2023-10-16"],
])("%s is asked in the cloud's shape for a translated request of any length", async (model, version) => {
  const messages = [{ role: "user", content: "long ".repeat(120_000) }];
  expect((await app.post("/v1/chat/completions", { model, max_tokens: 16, messages })).status).toBe(200);
  const [one] = seen as [Seen];
  expect(one.body).toEqual({ max_tokens: 16, messages: [expect.anything()], anthropic_version: version });
});

test("an ARN is one segment of the path", async () => {
  expect((await app.post("/v1/chat/completions", { model: "bedrock-arn", ...ASK })).status).toBe(200);
  const [one] = seen as [Seen];
  expect(one.path).toBe("/model/arn%3Aaws%3Abedrock%3Aus-west-2%3A1%3Aapplication-inference-profile%2Fabc/invoke");
  expect(await isSigned(one, "bedrock")).toBe(true);
});

test("a provider whose credential cannot be found is named, and is not called", async () => {
  const answered = await app.post("/v1/chat/completions", { model: "keyless", ...ASK });
  const text = await answered.text();
  expect([answered.status, text]).toEqual([502, expect.stringContaining("provider_auth_failed")]);
  expect(seen).toHaveLength(0);
});

test("a forwarded call without a credential says so", async () => {
  const store = openStore({ dataDir: app.dataDir });
  const { key } = await keyStore(store).createKey({ accountId: app.accountId, name: "all", passthrough: true });
  store.close();
  const answered = await fetch(`${app.url}/v1/upstream/without/models`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect([answered.status, await answered.text()]).toEqual([502, expect.stringContaining("provider_auth_failed")]);
  expect(seen).toHaveLength(0);
});

describe("errors of a cloud", () => {
  const aws = (status: number, name: string, message = `text ${AWS_KEYS.secret_access_key}`) =>
    Response.json({ message }, { status, headers: { "x-amzn-errortype": `${name}:http://internal.example/` } });
  test.each<[string, () => Response, number, string]>([
    ["refused", () => aws(403, "AccessDeniedException"), 502, "provider_auth_failed"],
    ["an old token", () => aws(400, "ExpiredTokenException"), 502, "provider_auth_failed"],
    ["too many", () => aws(429, "ThrottlingException"), 429, "provider_rate_limited"],
    ["a quota", () => aws(400, "ServiceQuotaExceededException"), 429, "provider_rate_limited"],
    ["invalid", () => aws(400, "ValidationException", "max_tokens: too large"), 400, "ValidationException"],
    ["no such model", () => aws(404, "ResourceNotFoundException"), 502, "provider_model_missing"],
    ["the model failed", () => aws(424, "ModelErrorException"), 502, "provider_unavailable"],
  ])("%s", async (_name, response, status, code) => {
    cloud.answer(response);
    const answered = await app.post("/v1/chat/completions", { model: "bedrock-claude", ...ASK });
    const text = await answered.text();
    expect([answered.status, text]).toEqual([
      status,
      expect.stringContaining(code === "ValidationException" ? "max_tokens" : code),
    ]);
    expect(text).not.toContain(AWS_KEYS.secret_access_key);
  });
});

describe("an event stream that fails", () => {
  const failed = (type: string) =>
    frame(
      { ":message-type": "exception", ":exception-type": type, ":content-type": "application/json" },
      { message: "slow down" },
    );
  const damaged = () => {
    const bytes = chunk(EVENTS[2]);
    bytes[20]! ^= 1;
    return bytes;
  };
  test.each<[string, () => Response]>([
    ["by an exception", () => eventStream([...EVENTS.slice(0, 3).map(chunk), failed("throttlingException")])],
    ["by a wrong checksum", () => eventStream([...EVENTS.slice(0, 3).map(chunk), damaged()])],
    [
      "within a frame",
      () => eventStream(EVENTS.slice(0, 4).map(chunk), Buffer.concat(EVENTS.slice(0, 4).map(chunk)).byteLength - 9),
    ],
  ])("%s ends with an error event", async (_name, response) => {
    cloud.answer(response);
    const answered = await app.post("/v1/messages", { model: "bedrock-claude", ...ASK, stream: true });
    const text = await answered.text();
    expect(text).toContain("Hello.");
    expect(text).toContain("event: error");
    expect(text).not.toContain("message_stop");
  });

  test("by a wrong checksum ends its connection", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const body = new ReadableStream({ start: (controller) => controller.enqueue(damaged()), cancel: resolve });
    const headers = { "content-type": "application/vnd.amazon.eventstream" };
    const answer = await eventStreamTransport(async () => new Response(body, { headers }))("", {});
    expect(await answer.text().catch(() => "failed")).toBe("failed");
    expect(await promise).toBeInstanceOf(Error);
  });

  test("by an exception before any content is an HTTP error", async () => {
    cloud.answer(() => eventStream([failed("throttlingException")]));
    const answered = await app.post("/v1/messages", { model: "bedrock-claude", ...ASK, stream: true });
    expect(answered.status).toBe(429);
  });
});

test("no secret of a cloud is logged", async () => {
  await app.flushLogs();
  const text = JSON.stringify(app.logs);
  expect(text).toContain("bedrock-claude");
  for (const secret of [
    AWS_KEYS.secret_access_key,
    AWS_KEYS.session_token,
    "cloud-token",
    "refresh-secret",
    "client-secret-1",
  ]) {
    expect(text).not.toContain(secret);
  }
});
