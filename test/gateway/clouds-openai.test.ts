// The classes and providers of OpenAI's own package for the clouds, and the gateway, against one recording server: what they send for
// the same request must be equal but for what is explained here.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI, { AzureOpenAI, BedrockOpenAI } from "openai";
import { bedrock } from "openai/providers/bedrock";
import { bedrock as signedBedrock } from "openai/providers/bedrock/aws";
import { vertex } from "openai/providers/vertex";
import { startTestApp, type TestApp } from "../support/app.ts";
import { AWS_KEYS, isSigned, type Seen, startCloudServer, withoutChance } from "../support/cloud-server.ts";

const cloud = startCloudServer();
const { origin, seen } = cloud;
const [KEY, VERSION] = ["key-of-the-cloud", "2024-10-21"];
const region = "us-west-2";

/** The gateway names users to Azure by default, which no client does. */
const entry = { api_key: KEY, end_users: "off", discover: false };
const PROVIDERS = {
  runtime: { preset: "bedrock", region, base_url: origin, ...entry },
  mantle: { preset: "bedrock-mantle", region, base_url: origin, ...entry },
  "runtime-signed": { preset: "bedrock", region, base_url: origin, credentials: AWS_KEYS, discover: false },
  "mantle-signed": { preset: "bedrock-mantle", region, base_url: origin, credentials: AWS_KEYS, discover: false },
  vertex: { preset: "vertex", project: "p", region: "us-east5", base_url: origin, ...entry },
  azure: { preset: "azure", base_url: `${origin}/openai/v1`, ...entry },
  "azure-responses": { preset: "azure", kind: "openai-responses", base_url: `${origin}/openai/v1`, ...entry },
  foundry: { preset: "foundry", base_url: origin, ...entry },
};

const SIGNING = {
  accessKeyId: AWS_KEYS.access_key_id,
  secretAccessKey: AWS_KEYS.secret_access_key,
  sessionToken: AWS_KEYS.session_token,
  region,
  baseURL: `${origin}/openai/v1`,
};

interface Row {
  readonly model: string;
  readonly provider: keyof typeof PROVIDERS;
  readonly client: () => OpenAI;
  readonly endpoints: readonly ("chat" | "responses")[];
  /** Both sign their calls for this service, so that their `authorization` differs. */
  readonly signedFor?: string;
  /** The path of the client, where the gateway has another one. */
  readonly explained?: string;
}

const ROWS: Readonly<Record<string, Row>> = {
  BedrockOpenAI: {
    model: "openai.gpt-oss-120b",
    provider: "mantle",
    client: () => new BedrockOpenAI({ apiKey: KEY, baseURL: `${origin}/openai/v1` }),
    endpoints: ["chat", "responses"],
  },
  "the provider for the runtime": {
    model: "openai.gpt-5.4",
    provider: "runtime",
    client: () =>
      new OpenAI({ provider: bedrock({ apiKey: KEY, region, endpoint: "runtime", baseURL: `${origin}/openai/v1` }) }),
    endpoints: ["chat", "responses"],
  },
  "the provider for mantle": {
    model: "openai.gpt-5.4",
    provider: "mantle",
    client: () => new OpenAI({ provider: bedrock({ apiKey: KEY, region, baseURL: `${origin}/openai/v1` }) }),
    endpoints: ["chat", "responses"],
  },
  "the provider that signs for the runtime": {
    model: "openai.gpt-5.4",
    provider: "runtime-signed",
    client: () => new OpenAI({ provider: signedBedrock({ ...SIGNING, endpoint: "runtime" }) }),
    endpoints: ["chat", "responses"],
    signedFor: "bedrock",
  },
  "the provider that signs for mantle": {
    model: "openai.gpt-5.4",
    provider: "mantle-signed",
    client: () => new OpenAI({ provider: signedBedrock({ ...SIGNING, endpoint: "mantle" }) }),
    endpoints: ["chat", "responses"],
    signedFor: "bedrock-mantle",
  },
  "the provider for Vertex": {
    model: "gpt-5.4",
    provider: "vertex",
    client: () =>
      new OpenAI({
        provider: vertex({
          baseURL: `${origin}/v1/projects/p/locations/us-east5/publishers/openai/v1`,
          tokenProvider: () => KEY,
        }),
      }),
    endpoints: ["responses"],
  },
  "AzureOpenAI, chats": {
    model: "my-deployment",
    provider: "azure",
    client: () => new AzureOpenAI({ apiKey: KEY, endpoint: origin, apiVersion: VERSION }),
    endpoints: ["chat"],
    // Its dated versions have the deployment in the path of chats; version 1 has it in the body alone, and no date.
    explained: `/openai/deployments/my-deployment/chat/completions?api-version=${VERSION}`,
  },
  "AzureOpenAI, responses": {
    model: "my-deployment",
    provider: "azure-responses",
    client: () => new AzureOpenAI({ apiKey: KEY, endpoint: origin, apiVersion: VERSION }),
    endpoints: ["responses"],
    explained: `/openai/responses?api-version=${VERSION}`,
  },
  "OpenAI for Microsoft's version 1": {
    model: "my-deployment",
    provider: "foundry",
    client: () => new OpenAI({ apiKey: KEY, baseURL: `${origin}/openai/v1` }),
    endpoints: ["chat", "responses"],
  },
};

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({
    config: {
      providers: { ...PROVIDERS, demo: { enabled: false } },
      models: Object.entries(ROWS).map(([id, { provider, model }]) => ({ id, routes: [{ provider, model }] })),
    },
  });
});
afterAll(async () => {
  await app.stop();
  await cloud.stop();
});
beforeEach(() => {
  seen.length = 0;
});

const TOOL = { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } };

describe.each(Object.entries(ROWS))("%s", (id, { model, client, endpoints, explained, signedFor }) => {
  const chat = {
    messages: [{ role: "user" as const, content: "Hi" }],
    temperature: 0.5,
    tools: [{ type: "function" as const, function: TOOL }],
  };
  const responses = {
    input: "Hi",
    store: false,
    temperature: 0.5,
    tools: [{ type: "function" as const, strict: false, ...TOOL }],
  };
  const ASK = {
    chat: {
      path: "/v1/chat/completions",
      body: chat,
      own: (stream: boolean) => client().chat.completions.create({ model, ...chat, stream }),
    },
    responses: {
      path: "/v1/responses",
      body: responses,
      own: (stream: boolean) => client().responses.create({ model, ...responses, stream }),
    },
  };
  test.each(endpoints.flatMap((endpoint) => [false, true].map((stream) => [endpoint, stream] as const)))(
    "%s, streamed: %p",
    async (endpoint, stream) => {
      const { path, body, own } = ASK[endpoint];
      await own(stream);
      const answered = await app.post(path, { model: id, ...body, stream });
      expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining("Hello.")]);
      const [theirs, ours] = seen as [Seen, Seen];
      expect(seen).toHaveLength(2);
      expect(ours.method).toBe(theirs.method);
      expect(theirs.path).toBe(explained ?? ours.path);
      expect(ours.path).toEndWith(path.slice("/v1".length));
      expect(withoutChance(ours.headers)).toEqual(withoutChance(theirs.headers));
      const proof = (one: Seen) =>
        signedFor === undefined ? one.headers.get("authorization") : isSigned(one, signedFor);
      expect(await proof(ours)).toEqual(await proof(theirs));
      if (signedFor !== undefined) expect(await proof(ours)).toBe(true);
      // A client may say that it wants no stream, and the gateway asks each stream for its usage.
      const { stream: wanted, ...rest } = ours.body;
      const { stream: theirWish, ...theirRest } = theirs.body;
      expect(rest).toEqual({
        ...theirRest,
        ...(stream && endpoint === "chat" ? { stream_options: { include_usage: true } } : {}),
      });
      expect([wanted ?? false, theirWish ?? false]).toEqual([stream, stream]);
    },
  );
});
