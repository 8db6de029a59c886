// The check of a cloud's credential and its list of models: the list is where the cloud has it, the same credential as for
// requests is used, and the result says which one that was.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { configureProvider } from "../../src/upstream/configure.ts";
import { listModels } from "../../src/upstream/list-models.ts";
import { probeModelList } from "../../src/upstream/probe.ts";
import { configFolder } from "../config/support.ts";
import { startTokenServer } from "../support/token-server.ts";

const { good } = configFolder();
const server = startTokenServer();
const { asked, origin } = server;
const KEYS = "access_key_id: AKIDEXAMPLE, secret_access_key: secret-of-the-account";
const ACCOUNT = JSON.stringify({ type: "authorized_user", client_id: "c", client_secret: "s", refresh_token: "r" });

afterAll(() => server.stop());
beforeEach(() => {
  asked.length = 0;
});

const providerOf = (name: string, entry: string) =>
  good(`providers: {${name}: {base_url: '${origin}', ${entry}}}`).providers[0]!;

const CLOUDS: readonly [name: string, entry: string, path: string, list: unknown, id: string, used: string][] = [
  [
    "bedrock",
    `region: us-east-1, credentials: {${KEYS}}`,
    "/foundation-models?byInferenceType=ON_DEMAND",
    { modelSummaries: [{ modelId: "openai.gpt-oss-120b-1:0" }] },
    "openai.gpt-oss-120b-1:0",
    "access keys of the configuration",
  ],
  [
    "bedrock-mantle",
    `region: us-east-1, credentials: {${KEYS}}`,
    "/v1/models",
    { data: [{ id: "openai.gpt-oss-120b" }] },
    "openai.gpt-oss-120b",
    "access keys of the configuration",
  ],
  [
    "vertex",
    `project: p, credentials: {json: '${ACCOUNT}', token_url: '${origin}/token'}`,
    "/v1beta1/publishers/google/models",
    { publisherModels: [{ name: "publishers/google/models/gemini-2.5-flash" }] },
    "gemini-2.5-flash",
    "the account in credentials.json",
  ],
];

describe("profiles of Bedrock are listed beside the models that are called by their own names", () => {
  const entry = `region: us-east-1, credentials: {${KEYS}}`;
  const PROFILES = {
    inferenceProfileSummaries: [
      {
        inferenceProfileId: "us.anthropic.claude-opus-5-5",
        inferenceProfileName: "US Claude Opus 5.5",
        status: "ACTIVE",
      },
      {
        inferenceProfileId: "global.anthropic.claude-opus-5-5",
        inferenceProfileName: "Global Claude Opus 5.5",
        status: "ACTIVE",
      },
      { inferenceProfileId: "us.gone", inferenceProfileName: "Gone", status: "DELETED" },
    ],
  };
  const listed = async (entered: string) => {
    const provider = configureProvider(providerOf("bedrock", entered))!;
    return (await listModels(provider, { signal: AbortSignal.timeout(10_000), nowMs: Date.now() })).map(
      ({ id, name }) => [id, name],
    );
  };
  const answering = (profiles: () => Response) =>
    server.answer(({ path }) =>
      path.startsWith("/inference-profiles")
        ? profiles()
        : Response.json({ modelSummaries: [{ modelId: "openai.gpt-oss-120b-1:0", modelName: "gpt-oss" }] }),
    );

  test("with their names", async () => {
    answering(() => Response.json(PROFILES));
    expect(await listed(entry)).toEqual([
      ["openai.gpt-oss-120b-1:0", "gpt-oss"],
      ["us.anthropic.claude-opus-5-5", "US Claude Opus 5.5"],
      ["global.anthropic.claude-opus-5-5", "Global Claude Opus 5.5"],
    ]);
    expect(asked.map(({ path }) => path).sort()).toEqual([
      "/foundation-models?byInferenceType=ON_DEMAND",
      "/inference-profiles?maxResults=1000&type=SYSTEM_DEFINED",
    ]);
  });

  test.each([
    ["refuses", () => Response.json({ message: "not authorized" }, { status: 403 })],
    ["fails", () => new Response(null, { status: 500 })],
    ["answers with something else", () => new Response("<html>")],
  ])("a server that %s it leaves the others", async (_name, answer) => {
    answering(answer);
    expect(await listed(entry)).toEqual([["openai.gpt-oss-120b-1:0", "gpt-oss"]]);
  });
});

test.each([
  ["us-east-1", "https://bedrock.us-east-1.amazonaws.com"],
  ["cn-north-1", "https://bedrock.cn-north-1.amazonaws.com.cn"],
  ["eusc-de-east-1", "https://bedrock.eusc-de-east-1.amazonaws.eu"],
])("the lists of Bedrock in %s are at %s", (region, host) => {
  const [config] = good(`providers: {bedrock: {region: ${region}, api_key: k}}`).providers;
  const { card } = configureProvider(config!)!;
  expect([card.modelsPath, card.further?.path]).toEqual([
    `${host}/foundation-models?byInferenceType=ON_DEMAND`,
    `${host}/inference-profiles?maxResults=1000&type=SYSTEM_DEFINED`,
  ]);
});

describe.each(CLOUDS)("%s", (name, entry, path, list, id, used) => {
  const answering = (status: number) =>
    server.answer((one) =>
      one.path === "/token"
        ? Response.json({ access_token: "cloud-token", expires_in: 3600 })
        : Response.json(list, { status }),
    );

  test("lists its models", async () => {
    answering(200);
    const provider = configureProvider(providerOf(name, entry))!;
    const models = await listModels(provider, { signal: AbortSignal.timeout(10_000), nowMs: Date.now() });
    expect(models.map((model) => model.id)).toEqual([id]);
    const question = asked.find((one) => one.path === path);
    expect(question?.headers.get("authorization")).toMatch(
      /^(?:AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE|Bearer cloud-token)/,
    );
  });

  test.each([
    [200, "ok", `lists 1 model; it accepts ${used}`],
    [403, "failed", `refused ${used} (403)`],
  ] as const)("answers %s: %s", async (status, verdict, message) => {
    answering(status);
    const probe = await probeModelList(providerOf(name, entry));
    expect(probe.status).toBe(verdict);
    expect(probe.message).toContain(message);
    expect(probe.message).not.toContain("secret-of-the-account");
  });
});

test.each([
  [
    "bedrock",
    "region: us-east-1, api_key: k",
    "/foundation-models",
    "refused the key: check providers.bedrock.api_key or AWS_BEARER_TOKEN_BEDROCK",
  ],
  ["foundry", "api_key: k", "/openai/v1/models", "refused the key: check providers.foundry.api_key or AZURE_API_KEY"],
])("%s with a key that is refused", async (name, entry, path, message) => {
  server.answer(() => new Response(null, { status: 401 }));
  const probe = await probeModelList(providerOf(name, entry));
  expect(probe.message).toContain(message);
  expect(asked[0]!.path).toStartWith(path);
});

test("a credential that cannot be had is named with its place, and nothing is asked", async () => {
  server.answer(() => Response.json({ error: "invalid_client", error_description: "secret" }, { status: 401 }));
  const entry = `credentials: {tenant: t, client_id: c, client_secret: client-secret-1, token_url: '${origin}/token'}`;
  expect(await probeModelList(providerOf("foundry", entry))).toEqual({
    status: "failed",
    message:
      "no credential of kind entra: The token server answered with status 401 (invalid_client). See providers.foundry.credentials",
  });
  expect(asked).toHaveLength(1);
});
