// Guardrails of all that is no chat, and the walk over every endpoint: each that sends text to a provider or back is looked through,
// or listed here with the reason why not.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { NOT_OFFERED_PATHS } from "../../../../src/gateway/endpoints/not-offered.ts";
import { startTestApp } from "../../../support/app.ts";
import { startUpstream } from "../../../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream();
const model = (id: string, kind: string) => ({ id, kind, routes: [{ provider: "up", model: id }] });
const counting = (kind: string) => ({ kind, base_url: upstream.baseUrl, api_key: "k", discover: false });
const app = await startTestApp({
  config: {
    providers: {
      messages: counting("anthropic"),
      responses: counting("openai-responses"),
      up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
    },
    models: [
      ...[model("embed", "embedding"), model("rank", "rerank"), model("voice", "speech"), model("paint", "image")],
      ...["messages", "responses"].map((id) => ({ id, routes: [{ provider: id, model: "up-model" }] })),
    ],
    decisions: { models: [{ id: "judge", backend: { kind: "systemone", routes: [{ provider: "up", model: "j" }] } }] },
    guardrails: [
      { name: "no-stones", check: { kind: "words", words: ["kryptonite"] }, action: "deny" },
      { name: "pii", on: ["input"], check: { kind: "pii", find: ["email"] }, action: "mask" },
    ],
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const ROWS: readonly (readonly [path: string, body: (text: string) => Json, answer: (text: string) => Response])[] = [
  [
    "/v1/embeddings",
    (text) => ({ model: "embed", input: [text, "b"] }),
    () =>
      Response.json({
        object: "list",
        data: [{ object: "embedding", index: 0, embedding: [1] }],
        model: "m",
        usage: { prompt_tokens: 1, total_tokens: 1 },
      }),
  ],
  [
    "/v1/rerank",
    (text) => ({ model: "rank", query: text, documents: ["a", text] }),
    (text) => Response.json({ results: [{ index: 1, relevance_score: 1, document: { text } }] }),
  ],
  [
    "/v1/audio/speech",
    (text) => ({ model: "voice", input: text, voice: "v" }),
    () => new Response("sound", { headers: { "content-type": "audio/mpeg" } }),
  ],
  [
    "/v1/images/generations",
    (text) => ({ model: "paint", prompt: text }),
    (text) => Response.json({ created: 1, data: [{ b64_json: "AAAA", revised_prompt: text }] }),
  ],
];

test.each(ROWS)("%s: values are masked, and restored where the answer repeats them", async (path, body, answer) => {
  upstream.answer(() => answer("for [EMAIL_1]"));
  const response = await app.post(path, body("for ada@example.com"));
  const text = await response.text();
  expect(response.status, text).toBe(200);
  expect(upstream.received[0]?.text).toContain("for [EMAIL_1]");
  expect(upstream.received[0]?.text).not.toContain("ada@");
  expect(text).not.toContain("EMAIL_1");
  expect(response.headers.get("x-sallyport-guardrails")).toMatch(/^pii=masked:/);
});

test.each(ROWS)("%s: a denied request is not sent", async (path, body, answer) => {
  upstream.answer(() => answer("x"));
  const response = await app.post(path, body("Kryptonite"));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { code: "guardrail_denied", details: { guardrail: "no-stones" } },
  });
  expect(upstream.received).toHaveLength(0);
});

test.each(ROWS.filter(([path]) => path.includes("images")))(
  "%s: a denied answer does not leave",
  async (path, body, answer) => {
    upstream.answer(() => answer("KRYPTONITE"));
    const response = await app.post(path, body("x"));
    expect(response.status).toBe(400);
    expect((await response.text()).toLowerCase()).not.toContain("kryptonite");
  },
);

const COUNTS: readonly (readonly [path: string, body: (text: string) => Json])[] = [
  ["/v1/messages/count_tokens", (text) => ({ model: "messages", messages: [{ role: "user", content: text }] })],
  ["/v1/responses/input_tokens", (text) => ({ model: "responses", input: text })],
];

test.each(COUNTS)("%s: a provider counts what may be sent", async (path, body) => {
  upstream.answer(() => Response.json({ object: "response.input_tokens", input_tokens: 7 }));
  expect((await app.post(path, body("for ada@example.com"))).status).toBe(200);
  expect(upstream.received[0]?.text).toContain("for [EMAIL_1]");
  expect((await app.post(path, body("kryptonite"))).status).toBe(400);
  expect(upstream.received).toHaveLength(1);
});

const yes = { kind: "yes", type: "noul", noul: 1 };
const DECISIONS: readonly (readonly [path: string, body: (text: string) => Json])[] = [
  ...["/v1/systemone", "/typesafe/v1/systemone"].map((path) => {
    const questions = { q: { type: "noul", instructions: "Is it?" } };
    return [path, (text: string) => ({ model: "judge", state: { said: text, n: 1 }, questions })] as const;
  }),
];

test.each(DECISIONS)("%s: a decision model gets what may be sent", async (path, body) => {
  upstream.answer(() => Response.json({ model: "j", answers: { q: yes } }));
  const response = await app.post(path, body("for ada@example.com"));
  expect(response.status).toBe(200);
  expect(response.headers.get("x-sallyport-guardrails")).toBe("pii=masked:1");
  expect(upstream.received[0]?.text).toContain("for [EMAIL_1]");
  expect((await app.post(path, body("kryptonite"))).status).toBe(400);
  expect(upstream.received).toHaveLength(1);
});

test("/v1/decisions: the client gets its options back in its own words", async () => {
  const answers = { "0": { type: "choice", probabilities: { "[EMAIL_1]": 0.75, nobody: 0.25 } } };
  upstream.answer(() => Response.json({ model: "j", answers }));
  const choices = [{ value: "ada@example.com" }, { value: "nobody" }];
  const questions = [{ type: "choice", instructions: "Who?", choices }];
  const response = await app.post("/v1/decisions", { model: "judge", input: "hello", questions });
  expect(upstream.received[0]?.text).not.toContain("ada@");
  expect((await response.json()).answers[0]).toMatchObject({ choice: "ada@example.com" });
});

/** Endpoints whose texts are looked through, by the beginnings of their paths. */
const COVERED: Readonly<Record<string, string>> = {
  "/v1/chat/completions": "the stage",
  "/v1/responses": "the stage; its socket too",
  "/v1/messages": "the stage",
  "/v1/completions": "the stage",
  "/api/chat": "the stage",
  "/api/generate": "the stage",
  "/v1beta/generateContent": "the stage",
  "/v1beta/streamGenerateContent": "the stage",
  "/v1beta/countTokens": "the stages of counts",
  "/dashboard/api/playground": "as the endpoint that it calls",
  "/v1/embeddings": "one function for models that do not chat",
  "/api/embed": "one function for models that do not chat",
  "/v1beta/embedContent": "one function for models that do not chat",
  "/v1beta/batchEmbedContents": "one function for models that do not chat",
  "/v1/rerank": "one function for models that do not chat",
  "/v1/audio": "one function for models that do not chat",
  "/v1/images": "one function for models that do not chat",
  "/v1/moderations": "one function for models that do not chat",
  "/v1/systemone": "the decisions' one function",
  "/typesafe/v1/systemone": "the decisions' one function",
  "/v1/decisions": "the decisions' one function",
  "/v1/extract": "the stage, by the gateway's own requests to models",
  "/v2/extract": "the stage, by the gateway's own requests to models",
  "/v1/llmstxt": "the stage, by the gateway's own requests to models",
  "/v1/scrape": "the stage, where a model reads the page",
  "/v2/scrape": "the stage, where a model reads the page",
  "/v2/parse": "the stage, where a model reads the file",
  "/v2/crawl": "the stage, where a model reads the pages",
  "/v2/batch/scrape": "the stage, where a model reads the pages",
  "/v1/batch/scrape": "the stage, where a model reads the pages",
  "/v2/search": "the stage, where a model reads the pages",
  "/mcp": "as the endpoint that its tool calls; the tools of other servers by one function",
};
/** Those that are not, with the reason. */
const LISTED: Readonly<Record<string, string>> = {
  "/v1/upstream": "Forwarded as it is; the guide says so.",
  "/v1/auth": "Signs in; no model gets it.",
  "/dashboard/api/": "Accounts and keys; no model gets them.",
  "/v1/keys": "Changes keys; no model gets them.",
  "/api/v1/keys": "Changes keys; no model gets them.",
  "/v1/projects": "Changes projects; no model gets them.",
  "/v1/runs": "Lets a run go on; no model gets it.",
  "/v1/conversations": "Stored; looked through when it is sent.",
  "/v1/files": "Stored; looked through when it is sent.",
  "/api/show": "Names a model.",
  "/v1/map": "Lists addresses; no model gets them.",
  "/v2/map": "Lists addresses; no model gets them.",
  "/v1/crawl": "Pages go to the client; no model reads them.",
  "/v1/fetch": "A page goes to the client; no model reads it.",
  "/fetch": "A page goes to the client; no model reads it.",
  "/v1/search": "Asks search engines; the guide says so.",
  "/v1/crowd/search": "Asks search engines; the guide says so.",
  "/v1/compat/openwebui": "Asks search engines and pages; the guide says so.",
  "/v2/": "Not offered here.",
};

test("every endpoint that takes something is covered or listed", () => {
  const isKnown = (path: string) =>
    [...Object.keys(COVERED), ...Object.keys(LISTED)].some((start) => path.startsWith(start)) ||
    NOT_OFFERED_PATHS.some((start) => path === start || path.startsWith(`${start}/`));
  const routes = app.routes().filter(({ method }) => ["POST", "PUT", "PATCH", "ALL"].includes(method));
  expect(routes.length).toBeGreaterThan(100);
  expect(routes.map(({ path }) => path).filter((path) => !isKnown(path))).toEqual([]);
});

test("nothing is listed that there is not", () => {
  const paths = app.routes().map(({ path }) => path);
  const starts = [...Object.keys(COVERED), ...Object.keys(LISTED)];
  expect(starts.filter((start) => !paths.some((path) => path.startsWith(start)))).toEqual([]);
});
