// Random requests of every kind: what the rows hold is what the spendings of key, account and project, the sums by tag, model and
// class, and the providers' own counts add up to.

import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { keyStore } from "../../src/store/access/keys.ts";
import { projectStore } from "../../src/store/access/projects.ts";
import { dayOf } from "../../src/store/usage/record.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { DIALECTS, KINDS, say } from "../support/fake-model.ts";
import { CLIENT_FORMATS } from "../support/heard.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";

/** Dollars per million tokens, so that a token costs that many micro-dollars. */
const PRICES = { input: 3, output: 11 };
const EMBEDDING_PRICE = 2;
/** What is not billed by the tokens of a chat: what the provider answers, and what that costs in micro-dollars. */
const OTHERS = [
  {
    ...{ name: "speech", path: "/audio/speech", prices: { input: 0, output: 0, per_million_characters: 15 } },
    ...{ micros: 12 * 15, tokens: 0, body: { input: "We are here." } },
    answer: () => new Response("sound", { headers: { "content-type": "audio/mpeg" } }),
  },
  {
    ...{ name: "image", path: "/images/generations", prices: { input: 0, output: 0, per_image: 0.04 } },
    ...{ micros: 2 * 40_000, tokens: 0, body: { prompt: "A mole.", n: 2 } },
    answer: () => Response.json({ created: 1, data: [{ b64_json: "aGk=" }, { b64_json: "aGk=" }] }),
  },
  {
    ...{ name: "transcription", path: "/audio/transcriptions", prices: { input: 0, output: 0, per_minute: 0.006 } },
    ...{ micros: 9000, tokens: 0, body: undefined },
    answer: () => Response.json({ text: "We", usage: { type: "duration", seconds: 90 } }),
  },
  {
    ...{ name: "rerank", path: "/rerank", prices: { input: 5 } },
    ...{ micros: 5 * 40, tokens: 40, body: { query: "mole", documents: ["a", "b"] } },
    answer: () => Response.json({ results: [{ index: 0, relevance_score: 0.5 }], usage: { total_tokens: 40 } }),
  },
] as const;
const AUDIO = new File([new Uint8Array(64)], "a.mp3", { type: "audio/mpeg" });
const counted = { tokens: 0, micros: 0, answers: 0 };
let up: FakeUpstream;
let app: TestApp;
let key: string;
let projectId: string;

beforeAll(async () => {
  up = startUpstream((request) => {
    const [input, output] = [10 + (up.received.length % 7), 5 + (up.received.length % 3)];
    const made = OTHERS.find(({ path }) => request.path.endsWith(path));
    if (made !== undefined) {
      counted.micros += made.micros;
      counted.tokens += made.tokens;
      return made.answer();
    }
    const isEmbedding = request.path.endsWith("/embeddings");
    counted.tokens += input + (isEmbedding ? 0 : output);
    counted.micros += isEmbedding ? EMBEDDING_PRICE * input : PRICES.input * input + PRICES.output * output;
    counted.answers += 1;
    if (!isEmbedding) return say(request, { text: "Mild.", usage: { input, output } });
    const data = [{ object: "embedding", index: 0, embedding: [0.5] }];
    return Response.json({ object: "list", data, model: "e", usage: { prompt_tokens: input, total_tokens: input } });
  });
  const provider = (kind: string) => ({ kind, base_url: up.baseUrl, api_key: "k", discover: false });
  app = await startTestApp({
    config: {
      tiers: { premium: { rpm: 100_000 } },
      providers: Object.fromEntries(DIALECTS.map((dialect) => [dialect, provider(KINDS[dialect])])),
      models: [
        ...DIALECTS.map((dialect) => ({ id: dialect, routes: [{ provider: dialect, model: "m" }], prices: PRICES })),
        {
          id: "embed",
          kind: "embedding",
          routes: [{ provider: "openai-chat", model: "e" }],
          prices: { input: EMBEDDING_PRICE },
        },
        ...OTHERS.map(({ name, prices }) => ({
          ...{ id: name, kind: name, prices },
          routes: [{ provider: "openai-chat", model: name }],
        })),
      ],
    },
  });
  const store = await app.openStore();
  const { accountId } = app;
  projectId = ((await projectStore(store).createProject(accountId, { name: "p" })) as { id: string }).id;
  ({ key } = await keyStore(store).createKey({ accountId, name: "in the project", projectId }));
  await store.close();
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

const KINDS_OF_REQUESTS = [
  ...CLIENT_FORMATS.map(({ name }) => name),
  "embeddings",
  "failing",
  ...OTHERS.map(({ name }) => name),
];

const request = fc.record({
  kind: fc.constantFrom(...KINDS_OF_REQUESTS),
  dialect: fc.constantFrom(...DIALECTS),
  stream: fc.boolean(),
  inProject: fc.boolean(),
  tag: fc.constantFrom(undefined, "red", "blue"),
});

function askOther({ name, path, body }: (typeof OTHERS)[number], headers: Record<string, string>): Promise<Response> {
  if (body !== undefined) return app.post(`/v1${path}`, { model: name, ...body }, headers);
  const form = new FormData();
  form.set("model", name);
  form.set("file", AUDIO);
  return fetch(`${app.url}/v1${path}`, {
    method: "POST",
    body: form,
    headers: { authorization: `Bearer ${app.key}`, ...headers },
  });
}

test("rows, spendings and the providers' counts agree", async () => {
  const asked = fc.sample(request, { numRuns: 220, seed: 7 });
  const tagged = new Map<string, number>();
  const ask = async ({ kind, dialect, stream, inProject, tag }: (typeof asked)[number]) => {
    const headers = {
      ...(inProject ? { authorization: `Bearer ${key}` } : {}),
      ...(tag === undefined ? {} : { "x-sallyport-tags": tag }),
    };
    if (tag !== undefined) tagged.set(tag, (tagged.get(tag) ?? 0) + 1);
    const format = CLIENT_FORMATS.find(({ name }) => name === kind);
    const other = OTHERS.find(({ name }) => name === kind);
    const sent =
      other !== undefined
        ? askOther(other, headers)
        : format !== undefined
          ? app.post(format.path, { ...format.body({ stream, tools: false }), model: dialect }, headers)
          : app.post("/v1/embeddings", { model: kind === "failing" ? "none" : "embed", input: "x" }, headers);
    await (await sent).text();
  };
  const waiting = [...asked];
  const work = async () => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) await ask(one);
  };
  await Promise.all(Array.from({ length: 8 }, work));
  // The restart makes the program write all waiting rows.
  await app.restart();

  const store = await app.openStore();
  const usage = usageStore(store);
  const { accountId } = app;
  const { rows } = await usage.listLog({ accountId }, { limit: 1000 });
  const today = dayOf(Date.now());
  const all = { span: { unit: "day" as const, from: today - 1, to: today }, perSlot: false, limit: 100 };
  const sumOf = (list: readonly { costMicros: number }[]) => list.reduce((sum, { costMicros }) => sum + costMicros, 0);
  expect(rows.length).toBe(asked.length);
  expect(sumOf(rows)).toBe(counted.micros);
  // What is billed by the second, the picture or the character has no token counts of the provider's.
  const told = rows.filter(({ estimated }) => !estimated);
  expect(told.length).toBeGreaterThan(asked.length / 2);
  expect(told.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0)).toBe(counted.tokens);
  for (const by of [undefined, "model", "key"] as const)
    expect([by, sumOf(await usage.sumsBy({ ...all, accountId, by }))]).toEqual([by, counted.micros]);
  expect(sumOf(await usage.classesOf({ fromDay: today - 1, toDay: today }))).toBe(counted.micros);
  const inProject = sumOf(rows.filter((row) => row.projectId === projectId));
  expect(inProject).toBeGreaterThan(0);
  expect(sumOf(await usage.sumsBy({ ...all, by: "project", projectId }))).toBe(inProject);
  expect((await projectStore(store).findProject(projectId))?.spentMicros).toBe(inProject);
  const keys = await keyStore(store).listKeys(accountId);
  expect(keys.reduce((sum, { spentMicros }) => sum + spentMicros, 0)).toBe(counted.micros);
  const tags = await usage.sumsBy({ ...all, accountId, by: "tag" });
  expect(tags.map(({ name, requests }) => [name, requests])).toEqual([...tagged].sort(([a], [b]) => (a < b ? -1 : 1)));
  for (const { name, costMicros } of tags)
    expect([name, costMicros]).toEqual([name, sumOf(rows.filter((row) => row.tags?.includes(name)))]);
  await store.close();
});
