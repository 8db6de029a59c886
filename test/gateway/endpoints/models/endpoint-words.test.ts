// Endpoints for models that are not chat models, with providers whose API for them differs, and with the built-in provider.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { OpenAI } from "openai";
import { encodeFloats, floatsOf } from "../../../../src/catalog/endpoints/floats.ts";
import { startTestApp } from "../../../support/app.ts";
import { startUpstream } from "../../../support/upstream.ts";

const upstream = startUpstream();
const provider = (kind: string, quirks: object = {}) => ({
  kind,
  base_url: upstream.baseUrl,
  api_key: "sk-up",
  discover: false,
  quirks,
  retry: { attempts: 1 },
  breaker: { failures: 1000 },
});
const routes = (name: string) => [{ provider: name, model: "theirs" }];
const app = await startTestApp({
  key: { rpm: 10_000 },
  config: {
    providers: {
      plain: provider("openai"),
      cohere: provider("openai", { rerank: "cohere", rerank_path: "/../v2/rerank" }),
      tei: provider("openai", { rerank: "tei" }),
      google: provider("gemini"),
    },
    models: [
      { id: "rank-plain", kind: "rerank", routes: routes("plain") },
      { id: "rank-cohere", kind: "rerank", routes: routes("cohere") },
      { id: "rank-tei", kind: "rerank", routes: routes("tei") },
      { id: "embed-plain", kind: "embedding", routes: routes("plain") },
      { id: "embed-google", kind: "embedding", routes: routes("google") },
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

const DOCUMENTS = ["first", { text: "second", url: "kept" }, "third"];
const rank = async (model: string, more: object = {}) => {
  const response = await app.post("/v1/rerank", { model, query: "which?", documents: DOCUMENTS, ...more });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
};
const sent = () => upstream.received[0]?.json as Record<string, unknown>;

describe("rerank", () => {
  const results = [
    { index: 2, relevance_score: 0.9 },
    { index: 1, relevance_score: 0.2 },
    { index: 0, relevance_score: 0 },
  ];
  const COHERE = { id: "c-1", results, meta: { billed_units: { search_units: 1 } } };
  const TEI = results.map(({ index, relevance_score }) => ({ index, score: relevance_score }));

  test.each([
    ["rank-plain", { model: "theirs", results }, { query: "which?", documents: DOCUMENTS, model: "theirs" }],
    ["rank-cohere", COHERE, { query: "which?", documents: ["first", "second", "third"], model: "theirs" }],
    ["rank-tei", TEI, { query: "which?", texts: ["first", "second", "third"], truncate: true }],
  ])("%s", async (model, answer, expected) => {
    upstream.answer(() => Response.json(answer));
    const { status, json } = await rank(model);
    expect(upstream.received[0]?.path).toBe(model === "rank-cohere" ? "/v2/rerank" : "/v1/rerank");
    expect(sent()).toEqual(expected);
    expect(status).toBe(200);
    expect(json).toMatchObject({ model, results, usage: { total_tokens: expect.any(Number) } });
    expect(json["id"]).toBeString();
  });

  test.each(["rank-plain", "rank-cohere", "rank-tei"])("%s: top_n and documents", async (model) => {
    upstream.answer(() => Response.json(model === "rank-tei" ? TEI : { results }));
    const { json } = await rank(model, { top_n: 2, return_documents: true });
    expect(json["results"]).toEqual([
      { index: 2, relevance_score: 0.9, document: { text: "third" } },
      { index: 1, relevance_score: 0.2, document: { text: "second" } },
    ]);
  });

  test.each([
    ["no results", { results: null }],
    ["a place that is none", { results: [{ index: 3, relevance_score: 1 }] }],
    ["no score", { results: [{ index: 0 }] }],
    ["a failure", { error: "overloaded" }],
  ])("an answer with %s is the provider's failure", async (_name, answer) => {
    upstream.answer(() => Response.json(answer));
    expect((await rank("rank-plain")).status).toBe(502);
    upstream.answer(() => Response.json(answer));
    expect((await rank("rank-tei")).status).toBe(502);
  });
});

describe("embeddings", () => {
  const VECTORS = [
    [0.25, -1],
    [0.5, 2],
  ];
  const listOf = (embeddings: readonly unknown[]) => ({
    object: "list",
    data: embeddings.map((embedding, index) => ({ object: "embedding", index, embedding })),
    model: "theirs",
    usage: { prompt_tokens: 3, total_tokens: 3 },
  });
  const embed = async (model: string, more: object = {}) => {
    const response = await app.post("/v1/embeddings", { model, input: ["a", "b"], ...more });
    return { status: response.status, json: (await response.json()) as ReturnType<typeof listOf> };
  };
  const vectors = ({ json }: Awaited<ReturnType<typeof embed>>) => json.data.map(({ embedding }) => embedding);

  test.each([
    ["floats for base64", VECTORS, "base64", VECTORS.map(encodeFloats)],
    ["base64 for floats", VECTORS.map(encodeFloats), "float", VECTORS],
    ["base64 for nothing said", VECTORS.map(encodeFloats), undefined, VECTORS],
    ["base64 for base64", VECTORS.map(encodeFloats), "base64", VECTORS.map(encodeFloats)],
  ])("%s", async (_name, given, format, expected) => {
    upstream.answer(() => Response.json(listOf(given)));
    expect(vectors(await embed("embed-plain", { encoding_format: format }))).toEqual(expected);
  });

  describe("long vectors, which are passed on unread", () => {
    // Spaces and zeros, which a parser would lose.
    const LONG = Array.from({ length: 64 }, (_, at) => `${at % 2 === 0 ? "-" : ""}0.${at + 10}0`).join(", ");
    const answer = (list: string, model = '"model": "theirs"') =>
      `{"object": "list", "data": [{"index": 0, "embedding": [${LONG}]}, {"index": 1, "embedding": [${list}]}], ${model}, "usage": {"prompt_tokens": 3, "total_tokens": 3}}\n`;
    const ask = async (text: string, more: object = {}) => {
      upstream.answer(() => new Response(text, { headers: { "content-type": "application/json" } }));
      const response = await app.post("/v1/embeddings", { model: "embed-plain", input: ["a", "b"], ...more });
      return { status: response.status, text: await response.text() };
    };

    test("keep their bytes; the model is the client's", async () => {
      const { status, text } = await ask(answer(LONG));
      expect([status, text]).toEqual([200, answer(LONG, '"model": "embed-plain"')]);
    });

    test("the answer's other members may hold any text", async () => {
      const { text } = await ask(answer(LONG, '"note": "é [1", "model": "thé"'));
      expect(text).toBe(answer(LONG, '"note": "é [1", "model": "embed-plain"'));
    });

    test("of a model that is named twice one name is left", async () => {
      const { status, text } = await ask(answer(LONG, '"model": "theirs", "model": "theirs"'));
      expect(status).toBe(200);
      expect(text.match(/"model"/g)).toHaveLength(1);
      expect(JSON.parse(text)).toMatchObject({ model: "embed-plain", data: [{ index: 0 }, { index: 1 }] });
    });

    test("an answer that names no model keeps all its bytes", async () => {
      const { text } = await ask(answer(LONG, '"other": 1.0'));
      expect(text).toBe(answer(LONG, '"other": 1.0'));
    });

    test("an answer whose model has the client's name for it keeps all its bytes", async () => {
      const { text } = await ask(answer(LONG, '"model": "embed-plain"'));
      expect(text).toBe(answer(LONG, '"model": "embed-plain"'));
    });

    test("become base64 where the client asks for it", async () => {
      const { text } = await ask(answer(LONG), { encoding_format: "base64" });
      const numbers = JSON.parse(`[${LONG}]`) as number[];
      expect(JSON.parse(text).data[1].embedding).toBe(encodeFloats(numbers));
    });

    test.each([
      ["the model is the client's", '"model": "theirs"', '"model": "embed-plain"'],
      ["other members may hold any text", '"note": "é [1", "model": "thé"', '"note": "é [1", "model": "embed-plain"'],
      ["no model is added", '"other": 1.0', '"other": 1.0'],
      ["an escape stays one", '"note": "\\u00e9", "model": "x"', '"note": "\\u00e9", "model": "embed-plain"'],
    ])("in base64 they keep their bytes: %s", async (_name, sent, given) => {
      const inBase64 = (model: string) =>
        `{"object": "list",  "data": [{"index": 0, "embedding": "${encodeFloats(Array.from({ length: 9000 }, (_, at) => at))}"}], ${model}, "usage": {"prompt_tokens": 3, "total_tokens": 3}}\n`;
      const { status, text } = await ask(inBase64(sent), { encoding_format: "base64" });
      expect(status).toBe(200);
      expect(text).toBe(inBase64(given));
    });

    test.each([
      ["a number that is none", answer(`${LONG}, NaN, ${LONG}`)],
      ["a number that begins with zero", answer(`${LONG}, 01`)],
      ["two commas", answer(`${LONG},,1`)],
      ["no end", answer(LONG).slice(0, -40)],
      ["more after its end", `${answer(LONG)}}`],
      ["a failure", answer(LONG, '"error": {"message": "overloaded"}')],
      ["no list of vectors", `{"vectors": [${LONG}]}`],
    ])("an answer with %s is the provider's failure", async (_name, text) => {
      expect((await ask(text)).status).toBe(502);
    });
  });

  test("Gemini's protocol", async () => {
    upstream.answer(() => Response.json({ embeddings: VECTORS.map((values) => ({ values })) }));
    const answer = await embed("embed-google", { dimensions: 2 });
    expect(upstream.received[0]?.path).toEndWith("/models/theirs:batchEmbedContents");
    const request = (text: string) => ({
      model: "models/theirs",
      content: { parts: [{ text }] },
      outputDimensionality: 2,
    });
    expect(sent()).toEqual({ requests: [request("a"), request("b")] });
    expect(vectors(answer)).toEqual(VECTORS);
    expect(answer.json).toMatchObject({ object: "list", model: "embed-google", usage: { prompt_tokens: 2 } });
  });

  test("Gemini takes no tokens", async () => {
    const { status, json } = await embed("embed-google", { input: [1, 2] });
    expect([status, (json as unknown as { error: { code: string; param: string } }).error]).toMatchObject([
      400,
      { code: "unsupported_parameter", param: "input" },
    ]);
    expect(upstream.received).toEqual([]);
  });
});

describe("the built-in provider", () => {
  const cosine = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, one, at) => sum + one * (b[at] ?? 0), 0);

  test("OpenAI's client has vectors of demo-embed: more shared words, nearer", async () => {
    const client = new OpenAI({ apiKey: app.key, baseURL: `${app.url}/v1`, maxRetries: 0 });
    const input = ["the cat sat on the mat", "the cat sat on a chair", "stocks fell sharply today"];
    const { data, usage, model } = await client.embeddings.create({ model: "demo-embed", input });
    const [cat, chair, stocks] = data.map(({ embedding }) => embedding);
    expect(model).toBe("demo-embed");
    expect(usage.prompt_tokens).toBeGreaterThan(10);
    expect(cosine(cat!, cat!)).toBeCloseTo(1, 5);
    expect(cosine(cat!, chair!)).toBeGreaterThan(cosine(cat!, stocks!) + 0.3);
    const small = await client.embeddings.create({ model: "demo-embed", input: [1, 2, 3], dimensions: 8 });
    expect(small.data[0]?.embedding.length).toBe(8);
  });

  test("demo-rerank ranks by shared words", async () => {
    const documents = ["dogs bark at night", "how to boil an egg", "an egg"];
    const { json } = await rank("demo-rerank", { query: "boil an egg", documents });
    expect((json["results"] as { index: number }[]).map(({ index }) => index)).toEqual([1, 2, 0]);
  });

  test("both are listed with their kind and endpoint", async () => {
    for (const [id, type, ...endpoints] of [
      ["demo-embed", "embedding", "/v1/embeddings", "/api/embed", "/v1beta/embedContent", "/v1beta/batchEmbedContents"],
      ["demo-rerank", "rerank", "/v1/rerank"],
    ]) {
      const model = await (await app.call(`/v1/models/${id}`)).json();
      expect(model).toMatchObject({ id, type, endpoints });
    }
  });
});

test.each(["", "AAA=", "zz"])("%j is no vector", (text) => {
  expect(() => floatsOf(text)).toThrow(TypeError);
});
