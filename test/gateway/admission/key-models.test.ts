// A key that may use only some models: every endpoint that takes a model refuses the others, and every list leaves them out.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { keyStore } from "../../../src/store/access/keys.ts";
import { projectStore } from "../../../src/store/access/projects.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { chatAnswer, type FakeUpstream, startUpstream } from "../../support/upstream.ts";

type Json = Record<string, unknown>;

let upstream: FakeUpstream;
let app: TestApp;
const keys: Record<string, string> = {};

const model = (id: string, more: object = {}) => ({ id, routes: [{ provider: "up", model: id }], ...more });
const judge = (id: string) => ({ id, backend: { kind: "verbalized", routes: [{ provider: "up", model: "m" }] } });

beforeAll(async () => {
  upstream = startUpstream(() => chatAnswer({ content: "hi" }));
  app = await startTestApp({
    config: {
      providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "sk-up", discover: false } },
      models: [
        model("gpt-small", { owned_by: "acme", prices: { input: 9, output: 9 } }),
        model("claude-large", { aliases: ["Best"], prices: { input: 1, output: 1 } }),
        model("gpt-vectors", { kind: "embedding" }),
        model("other-vectors", { kind: "embedding" }),
        model("other-order", { kind: "rerank" }),
      ],
      decisions: { models: [judge("gpt-judge-1.0.0"), { ...judge("other-judge-1.0.0"), aliases: ["other-latest"] }] },
      tiers: { premium: { rpm: 1_000_000 } },
    },
  });
  const store = await app.openStore();
  const make = async (name: string, models: readonly string[] | null, projectId: string | null = null) => {
    keys[name] = (await keyStore(store).createKey({ accountId: app.accountId, name, models, projectId })).key;
  };
  await make("gpt", ["GPT-*"]);
  await make("acme", ["acme/*"]);
  await make("best", ["best"]);
  await make("none", ["nothing-like-it"]);
  await make("all", null);
  const project = await projectStore(store).createProject(app.accountId, { name: "p", models: ["gpt-*", "best"] });
  const projectId = typeof project === "string" ? project : project.id;
  await make("project gpt", ["gpt-*", "other-*"], projectId);
  await make("project best", ["best"], projectId);
  await make("project", null, projectId);
  await store.close();
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const auth = (name: string) => ({ authorization: `Bearer ${keys[name]}` });
const get = async (path: string, name: string) => {
  const answer = await app.call(path, { headers: auth(name) });
  return { status: answer.status, json: (await answer.json()) as Json };
};
const post = async (path: string, body: unknown, name: string) => {
  const answer = await app.post(path, body, auth(name));
  return { status: answer.status, text: await answer.text() };
};

const messages = [{ role: "user", content: "hi" }];
const question = { state: "s", questions: { q: { type: "choice", criteria: { a: "a", b: "b" } } } };
/** Every endpoint that takes a model, with a model that the key "gpt" may not use. */
const REFUSED: readonly [path: string, body: Json][] = [
  ["/v1/chat/completions", { model: "claude-large", messages }],
  ["/v1/chat/completions", { model: "Best", messages }],
  ["/v1/chat/completions", { model: "up/claude-large", messages }],
  ["/v1/chat/completions", { model: "claude-large", messages, stream: true }],
  ["/v1/chat/completions", { models: ["Best", "claude-large"], messages }],
  ["/v1/messages", { model: "claude-large", messages, max_tokens: 9 }],
  ["/v1/messages/count_tokens", { model: "claude-large", messages }],
  ["/v1/responses", { model: "claude-large", input: "hi" }],
  ["/v1/responses/input_tokens", { model: "claude-large", input: "hi" }],
  ["/v1/responses/compact", { model: "claude-large", input: "hi" }],
  ["/v1/completions", { model: "claude-large", prompt: "hi" }],
  ["/v1/embeddings", { model: "other-vectors", input: "hi" }],
  ["/v1/rerank", { model: "other-order", query: "q", documents: ["d"] }],
  ["/v1/systemone", { model: "other-judge-1.0.0", ...question }],
  ["/v1/systemone", { model: "other-latest", ...question }],
  ["/typesafe/v1/systemone", { model: "other-judge-1.0.0", ...question }],
];

describe.each(REFUSED)("%s", (path, body) => {
  test.each([
    ["gpt", "this key"],
    ["project gpt", String(body["model"]).startsWith("other") ? "the project of this key" : "this key"],
  ])(
    `refuses the key %s ${JSON.stringify(body["model"] ?? body["models"])}, and nothing is asked`,
    async (name, who) => {
      const { status, text } = await post(path, body, name);
      expect({ status, said: text.includes(`is not among those that ${who} may use`) }).toEqual({
        status: 404,
        said: true,
      });
      expect(upstream.received).toEqual([]);
    },
  );
});

test.each([
  ["gpt", "gpt-small", 200],
  ["gpt", "up/GPT-small", 200],
  ["acme", "gpt-small", 200],
  ["acme", "claude-large", 404],
  ["best", "claude-large", 200],
  ["best", "gpt-small", 404],
  ["none", "gpt-small", 404],
  ["all", "claude-large", 200],
  ["project gpt", "gpt-small", 200],
  ["project gpt", "claude-large", 404],
  ["project best", "claude-large", 200],
  ["project best", "gpt-small", 404],
  ["project", "claude-large", 200],
  ["project", "gpt-small", 200],
])("the key %s asks for %s: %i", async (name, id, status) => {
  expect((await post("/v1/chat/completions", { model: id, messages }, name)).status).toBe(status);
  expect((await get(`/v1/models/${id}`, name)).status).toBe(status);
});

test.each([
  ["gpt", ["gpt-small", "gpt-vectors"], ["gpt-judge-1.0.0"]],
  ["best", ["claude-large"], []],
  ["project gpt", ["gpt-small", "gpt-vectors"], ["gpt-judge-1.0.0"]],
  ["project best", ["claude-large"], []],
  ["project", ["gpt-small", "claude-large", "gpt-vectors"], ["gpt-judge-1.0.0"]],
  ["none", [], []],
] as const)("what the key %s sees in lists", async (name, models, judges) => {
  const ids = async (path: string, field: string) => {
    const { json } = await get(path, name);
    return (json["data"] as Json[]).map((entry) => String(entry[field])).filter((id) => !id.startsWith("demo"));
  };
  expect(await ids("/v1/models", "id")).toEqual([...models]);
  expect(await ids("/v1/model/info", "model_name")).toEqual([...models]);
  expect(await ids("/v1/systemone/models", "id")).toEqual([...judges]);
  const tiers = JSON.stringify((await get("/v1/tiers", name)).json);
  expect(tiers.includes("claude-large")).toBe((models as readonly string[]).includes("claude-large"));
});

test.each([
  ["gpt", ["GPT-*"]],
  ["all", ["*"]],
])("GET /v1/key of the key %s names its patterns", async (name, models) => {
  expect((await get("/v1/key", name)).json["models"]).toEqual(models);
});
