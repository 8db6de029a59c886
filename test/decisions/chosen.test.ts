import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { ChatResult } from "../../src/chat/result.ts";
import { labelScores } from "../../src/decisions/backends/labels.ts";
import { REVISION } from "../../src/decisions/revision.ts";
import { type Fake, type Gateway, startFake, startGateway } from "./support.ts";

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
/**
 * Whether this engine's tokenizer keeps the text as one token: all pairs of letters except those that begin with A and end in B
 * to D.
 */
const whole = (text: string) => /^[A-Z]{2}$/.test(text) && !/^A[BCD]$/.test(text);
const idOf = (text: string) => 1000 + LETTERS.indexOf(text[0]!) * 26 + LETTERS.indexOf(text[1]!);
const textOf = (id: number) => LETTERS[Math.floor((id - 1000) / 26)]! + LETTERS[(id - 1000) % 26]!;

/** The model believes most in item7. The label of each item is read from the prompt. */
const weightOf = (item: number) => (item === 7 ? 5 : -item / 100);
let cuts: (text: string) => boolean;
let obeys: boolean;

let upstream: Fake;
let gateway: Gateway;
let key: string;

const config = () => ({
  providers: {
    engine: { kind: "openai", preset: "vllm", base_url: upstream.url, discover: false, retry: { attempts: 1 } },
  },
  decisions: {
    models: [
      {
        id: "chosen-1.0.0",
        backend: {
          kind: "logprobs",
          prior: "none",
          routes: [{ provider: "engine", model: "m" }],
          limits: { chosen_tokens: 128 },
        },
      },
    ],
  },
});

beforeAll(async () => {
  upstream = startFake((body, path) => {
    if (path === "/tokenize") {
      const pieces = (body.prompt as string)
        .split("\n")
        .flatMap((text, at) => [...(at > 0 ? ["\n"] : []), ...(cuts(text) ? [...text] : [text])]);
      const tokens = pieces.map((text) => (text.length === 2 ? idOf(text) : 5));
      return Response.json({ count: tokens.length, max_model_len: 4096, tokens, token_strs: pieces });
    }
    const lines: string[] = body.messages.at(-1).content.match(/^[A-Z]{1,2}\. .*$/gm);
    const weights = lines.map((line) => {
      const [, label, item] = /^([A-Z]+)\. item(\d+)$/.exec(line) ?? [undefined, line.split(".")[0]!, "0"];
      return { token: label!, weight: Math.exp(weightOf(Number(item))) };
    });
    const sum = weights.reduce((total, { weight }) => total + weight, 0);
    const all = weights
      .map(({ token, weight }) => ({ token, logprob: Math.log(weight / sum), bytes: null }))
      .sort((a, b) => b.logprob - a.logprob);
    const asked: string[] | undefined = obeys ? body.logprob_token_ids?.map(textOf) : undefined;
    const top_logprobs =
      asked === undefined
        ? all.slice(0, Math.min(20, body.top_logprobs))
        : all.filter(({ token }) => asked.includes(token));
    const choice = { index: 0, message: { role: "assistant", content: null }, finish_reason: "length" };
    const logprobs = { content: [{ ...all[0], top_logprobs }] };
    return Response.json({ id: "x", model: "m", choices: [{ ...choice, logprobs }], usage: { prompt_tokens: 1 } });
  });
  gateway = await startGateway(config());
  key = await gateway.key();
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

beforeEach(() => {
  cuts = (text) => !whole(text);
  obeys = true;
  upstream.calls.length = 0;
});

const decide = (count: number) => {
  const criteria = Object.fromEntries(Array.from({ length: count }, (_, at) => [`item${at}`, null]));
  const questions = { q: { type: "choice", criteria } };
  return gateway.post("/v1/systemone", { model: "chosen-1.0.0", state: "s", questions }, key);
};
const chats = () => upstream.calls.filter(({ path }) => path === "/v1/chat/completions");

test("many options are scored by their tokens in one call per order, with labels of one token", async () => {
  const { status, body } = await decide(100);
  expect(status).toBe(200);
  const weights = Array.from({ length: 100 }, (_, at) => Math.exp(weightOf(at)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  weights.forEach((weight, at) => {
    expect(body.answers.q.probabilities[`item${at}`]).toBeCloseTo(weight / sum, 9);
  });
  expect(upstream.calls.map(({ path }) => path)).toEqual(["/tokenize", "/v1/chat/completions", "/v1/chat/completions"]);
  // The two orders are sent at the same time, so either may arrive first.
  const sent = chats().find((call) => call.body.messages[1].content.includes("\nAA. item0\n"))!.body;
  expect(sent.logprob_token_ids).toHaveLength(100);
  expect(sent.logprob_token_ids.slice(0, 2)).toEqual([idOf("AA"), idOf("AE")]);
  expect(sent.messages[1].content).toContain("\nAE. item1\n");
  expect(sent).toMatchObject({ max_tokens: 1, logprobs: true });
});

test("twenty need no labels of their own", async () => {
  expect((await decide(20)).status).toBe(200);
  expect(chats()[0]!.body.logprob_token_ids).toBeUndefined();
  expect(upstream.calls).toHaveLength(2);
});

test.each<[string, number, () => void]>([
  ["more options than the engine scores at once", 129, () => {}],
  [
    "a tokenizer that keeps no pair whole",
    100,
    () => {
      cuts = () => true;
    },
  ],
])("%s are asked in groups", async (_, count, change) => {
  change();
  const { status, body } = await decide(count);
  expect([status, body.answers.q.choice]).toEqual([200, "item7"]);
  expect(chats().every((call) => call.body.logprob_token_ids === undefined)).toBe(true);
  expect(chats().length).toBeGreaterThan(2);
});

test("an engine that does not score the requested tokens gives no answer", async () => {
  obeys = false;
  const { status, body } = await decide(100);
  expect([status, body.error.code]).toEqual([503, "decision_unavailable"]);
});

test("an engine that is configured to score tokens is probed for it", async () => {
  obeys = false;
  const probed = await startGateway({ ...config(), health: { probe: "chat" } });
  const mine = await probed.key();
  // Beside the built-in one.
  const listed = async () => (await probed.get("/v1/systemone/models", mine)).body.data.length - 1;
  while ((await listed()) > 0) await Bun.sleep(10);
  const { body } = await probed.get("/health");
  expect(body.subsystems.decisions.unfit).toEqual([
    { model: "chosen-1.0.0", reason: "The engine did not score the requested tokens." },
  ]);
  await probed.stop();
});

test("a letter and its byte token are two tokens with the same text", () => {
  const top_logprobs = [
    { token: "A", logprob: Math.log(0.6) },
    { token: "B", logprob: Math.log(0.3) },
    { token: "A", logprob: Math.log(0.05) },
  ];
  const logprobs = [{ token: "A", logprob: Math.log(0.6), top_logprobs }];
  const blocks = [{ type: "text" as const, text: "A", logprobs }];
  const result: ChatResult = { choices: [{ index: 0, blocks, reason: "length" }] };
  const { logProbabilities, mass } = labelScores(result, { count: 2, top: 2, revision: REVISION });
  expect(logProbabilities.map(Math.exp)).toEqual([expect.closeTo(0.65, 9), expect.closeTo(0.3, 9)]);
  expect(mass).toBeCloseTo(0.95, 9);
});
