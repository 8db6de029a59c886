// The token counts of providers, in every protocol and for every client format, whole and streamed: valid counts reach clients
// and usage records with all details, and invalid ones reach neither.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { countTokens } from "../../src/tokens/count.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { DIALECTS, type DialectName, KINDS, type Said, say } from "../support/fake-model.ts";
import { CLIENT_FORMATS, type ClientFormat, type Heard } from "../support/heard.ts";
import { chatAnswer, chatChunk, type FakeUpstream, framesOf, sse, startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

let app: TestApp;
let up: FakeUpstream;

beforeAll(async () => {
  up = startUpstream();
  const provider = (dialect: DialectName) => ({
    kind: KINDS[dialect],
    base_url: up.baseUrl,
    api_key: "k",
    discover: false,
    retry: { attempts: 1 },
  });
  app = await startTestApp({
    config: {
      tiers: { premium: { rpm: 100_000 } },
      usage: { flush: "1ms" },
      providers: Object.fromEntries(DIALECTS.map((dialect) => [dialect, provider(dialect)])),
      models: DIALECTS.map((dialect) => ({ id: dialect, routes: [{ provider: dialect, model: "up-model" }] })),
    },
  });
});
afterAll(async () => {
  await app.stop();
  await up.stop();
});

const TEXT = "One two three four.";
/** Token counts in the fake's answers. Tests replace them by invalid values. */
const [INPUT, OUTPUT, CACHED, REASONING] = [424_242, 535_353, 313_131, 212_121];
const SANE: Said = { text: TEXT, usage: { input: INPUT, output: OUTPUT } };
const DETAILED: Said = { text: TEXT, usage: { ...SANE.usage!, cached: CACHED, reasoning: REASONING } };

/** Makes the provider answer with `said`, with token counts replaced by other text. */
function answerWith(said: Said, figures: Readonly<Record<string, string>>): void {
  up.answer(async (received) => {
    const response = say(received, said);
    let text = await response.text();
    for (const [figure, instead] of Object.entries(figures)) text = text.replaceAll(figure, instead);
    return new Response(text, { headers: response.headers });
  });
}

async function ask(of: ClientFormat, dialect: DialectName, stream: boolean): Promise<{ heard: Heard; raw: string }> {
  const response = await app.post(of.path, { ...of.body({ stream, tools: false }), model: dialect });
  expect(response.status).toBe(200);
  const raw = await response.text();
  return { heard: stream ? of.streamed(raw) : of.whole(JSON.parse(raw) as Json), raw };
}

/** The usage that was recorded for the last request. */
async function booked(): Promise<{ input: unknown; output: unknown }> {
  await app.flushLogs();
  const line = app.logs.findLast((one) => one["input_tokens"] !== undefined);
  return { input: line?.["input_tokens"], output: line?.["output_tokens"] };
}

const NONSENSE = ["1e300", "-5", '"12"', "1e400", '{"a":7}', "[7]", "123456789012"];
const MODES = [false, true];
const CELLS = DIALECTS.flatMap((dialect) =>
  CLIENT_FORMATS.flatMap((of) => MODES.map((stream) => ({ dialect, of, stream, format: of.name }))),
);

/** An id consists of random digits, so it may contain any short number. */
const withoutIds = (text: string) => text.replace(/\w*[0-9a-f]{20}\w*/g, "ID");

describe.each(CELLS)("$dialect to $format, stream $stream", ({ dialect, of, stream }) => {
  test.each(NONSENSE)("for %s as output count, the gateway counts", async (nonsense) => {
    // In one protocol the output is the difference of two counts.
    answerWith(SANE, { [OUTPUT]: nonsense, [INPUT + OUTPUT]: nonsense });
    const { heard, raw } = await ask(of, dialect, stream);
    expect(heard.text).toBe(TEXT);
    expect(withoutIds(raw)).not.toContain(nonsense);
    expect(heard.usage?.output).toBe(countTokens(TEXT));
    expect(Number.isSafeInteger(heard.usage?.input)).toBe(true);
    expect(await booked()).toEqual({ input: heard.usage!.input, output: heard.usage!.output });
  });

  test.each(NONSENSE)("for %s as input count, the gateway counts", async (nonsense) => {
    answerWith(SANE, { [INPUT]: nonsense, [INPUT + OUTPUT]: nonsense });
    const { heard, raw } = await ask(of, dialect, stream);
    expect(withoutIds(raw)).not.toContain(nonsense);
    // The prompt has only a few words in every format.
    expect(heard.usage?.input).toBeGreaterThan(0);
    expect(heard.usage?.input).toBeLessThan(100);
    expect(heard.usage?.output).toBeGreaterThan(0);
    expect(await booked()).toEqual({ input: heard.usage!.input, output: heard.usage!.output });
  });

  test.each([...NONSENSE, "999999"])("%s as cached input count is left out", async (nonsense) => {
    // One protocol counts cached input separately. There the sum becomes invalid.
    const said = { ...DETAILED, usage: { input: INPUT, output: OUTPUT, cached: CACHED } };
    answerWith(said, { [CACHED]: nonsense });
    const { heard, raw } = await ask(of, dialect, stream);
    if (nonsense !== "999999") expect(raw).not.toContain(nonsense);
    const { input, output, cached } = heard.usage!;
    for (const figure of [input, output, cached]) expect(Number.isSafeInteger(figure) && figure >= 0).toBe(true);
    if (nonsense !== "999999") expect(cached).toBe(0);
    expect(await booked()).toEqual({ input, output });
  });

  test("valid counts are passed on", async () => {
    answerWith(DETAILED, {});
    const { heard } = await ask(of, dialect, stream);
    expect(heard.usage).toMatchObject({ input: INPUT, output: OUTPUT });
    const tellsCached = !of.isTerse && (of.name !== "openai-completions" || dialect !== "anthropic-messages");
    if (tellsCached) expect(heard.usage?.cached).toBe(CACHED);
    expect(await booked()).toEqual({ input: INPUT, output: OUTPUT });
  });
});

const [chat] = CLIENT_FORMATS as [ClientFormat];
const messages = CLIENT_FORMATS.find(({ name }) => name === "anthropic-messages") as ClientFormat;

describe("usage where compatible servers put it", () => {
  const details = {
    prompt_tokens: 30,
    completion_tokens: 12,
    total_tokens: 42,
    prompt_tokens_details: { cached_tokens: 20 },
    completion_tokens_details: { reasoning_tokens: 8 },
    prompt_cache_hit_tokens: 20,
    cost: 0.0012,
  };
  const usageOf = async (of: ClientFormat) => {
    const body = { ...of.body({ stream: true, tools: false }), model: "openai-chat" };
    const frames = (await framesOf(await app.post(of.path, body))) as Json[];
    return frames.filter((frame) => frame["usage"] != null).map((frame) => frame["usage"]);
  };
  const words = [chatChunk({ role: "assistant", content: "" }), chatChunk({ content: TEXT })];
  const DONE = "data: [DONE]\n\n";

  test("on the finish chunk, with every detail", async () => {
    up.answer(() => sse([...words, chatChunk({}, { finish: "stop", usage: details }), DONE]));
    expect(await usageOf(chat)).toEqual([details]);
    expect(await booked()).toEqual({ input: 30, output: 12 });
  });

  test("in a chunk of its own, with every detail", async () => {
    up.answer(() => sse([...words, chatChunk({}, { finish: "stop" }), chatChunk(null, { usage: details }), DONE]));
    expect(await usageOf(chat)).toEqual([details]);
  });

  test("in the server's own member", async () => {
    const finish = JSON.parse(chatChunk({}, { finish: "stop" }).slice(6)) as Json;
    up.answer(() =>
      sse([...words, `data: ${JSON.stringify({ ...finish, x_groq: { id: "g", usage: details } })}\n\n`, DONE]),
    );
    expect(await usageOf(chat)).toEqual([details]);
    expect(await booked()).toEqual({ input: 30, output: 12 });
    const absurd = { ...details, prompt_tokens: -1 };
    up.answer(() =>
      sse([...words, `data: ${JSON.stringify({ ...finish, x_groq: { id: "g", usage: absurd } })}\n\n`, DONE]),
    );
    const [usage] = (await usageOf(chat)) as Json[];
    expect(usage?.["prompt_tokens"]).toBe(countTokens("How is it?"));
    expect(usage?.["completion_tokens"]).toBe(12);
  });

  const ZEROS = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  const finish = JSON.parse(chatChunk({}, { finish: "stop" }).slice(6)) as { choices: Json[] };
  const inChoice = { ...finish, choices: [{ ...finish.choices[0], usage: details }] };

  test.each([
    [
      "on the finish chunk, and then zeros",
      [chatChunk({}, { finish: "stop", usage: details }), chatChunk(null, { usage: ZEROS })],
    ],
    ["in a choice, as at Moonshot", [`data: ${JSON.stringify(inChoice)}\n\n`]],
    [
      "in every chunk",
      [
        chatChunk({ content: "" }, { usage: { ...details, completion_tokens: 5 } }),
        chatChunk({}, { finish: "stop", usage: details }),
      ],
    ],
  ])("%s", async (_name, frames) => {
    up.answer(() => sse([...words, ...frames, DONE]));
    for (const of of CLIENT_FORMATS) {
      const body = { ...of.body({ stream: true, tools: false }), model: "openai-chat" };
      const heard = of.streamed(await (await app.post(of.path, body)).text());
      expect(heard.usage).toMatchObject({ input: 30, output: 12, cached: of.isTerse ? 0 : 20 });
      expect(await booked()).toEqual({ input: 30, output: 12 });
    }
  });

  const frame = (value: Json) => `event: ${String(value["type"])}\ndata: ${JSON.stringify(value)}\n\n`;
  const anthropic = (first: unknown, last: unknown) => {
    const at = { index: 0 };
    return [
      {
        type: "message_start",
        message: { id: "m", type: "message", role: "assistant", content: [], model: "x", usage: first },
      },
      { type: "content_block_start", ...at, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", ...at, delta: { type: "text_delta", text: TEXT } },
      { type: "content_block_stop", ...at },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: last },
      { type: "message_stop" },
    ].map(frame);
  };
  const chunk = (parts: Json[], more: Json) =>
    `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts }, index: 0, ...more }] })}\n\n`;
  const withMetadata = (text: string, usageMetadata: Json) =>
    text.replace("{", `{"usageMetadata":${JSON.stringify(usageMetadata)},`);
  const own = countTokens(TEXT);

  test.each<[string, DialectName, string[], Json]>([
    [
      "a placeholder alone",
      "anthropic-messages",
      anthropic({ input_tokens: 100, output_tokens: 1 }, undefined),
      { input: 100, output: own },
    ],
    [
      "the input as zero at the end",
      "anthropic-messages",
      anthropic({ input_tokens: 100, output_tokens: 1 }, { input_tokens: 0, output_tokens: 50 }),
      { input: 100, output: 50 },
    ],
    [
      "the input only at the end",
      "anthropic-messages",
      anthropic({ input_tokens: 0, output_tokens: 0 }, { input_tokens: 100, output_tokens: 50 }),
      { input: 100, output: 50 },
    ],
    [
      "cached input only at the start",
      "anthropic-messages",
      anthropic(
        { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 },
        { input_tokens: 10, cache_read_input_tokens: 0, output_tokens: 50 },
      ),
      { input: 100, output: 50, cached: 90 },
    ],
    [
      "only in the first of several chunks",
      "gemini",
      [
        withMetadata(chunk([{ text: TEXT.slice(0, 4) }], {}), {
          promptTokenCount: 100,
          candidatesTokenCount: 1,
          totalTokenCount: 101,
        }),
        chunk([{ text: TEXT.slice(4) }], { finishReason: "STOP" }),
      ],
      { input: 100, output: own },
    ],
    [
      "the input in the first chunk, the output in the last",
      "gemini",
      [
        withMetadata(chunk([{ text: TEXT }], {}), { promptTokenCount: 100 }),
        withMetadata(chunk([], { finishReason: "STOP" }), { candidatesTokenCount: 50 }),
      ],
      { input: 100, output: 50 },
    ],
  ])("%s", async (_name, dialect, frames, usage) => {
    up.answer(() => sse(frames));
    for (const of of CLIENT_FORMATS) {
      const body = { ...of.body({ stream: true, tools: false }), model: dialect };
      const heard = of.streamed(await (await app.post(of.path, body)).text());
      expect(heard.usage).toMatchObject(of.isTerse ? { ...usage, cached: 0 } : usage);
      expect(await booked()).toEqual({ input: usage["input"], output: usage["output"] });
    }
  });

  test("cache writes reach chat clients", async () => {
    const first = { input_tokens: 50, cache_read_input_tokens: 20, cache_creation_input_tokens: 30, output_tokens: 1 };
    up.answer(() => sse(anthropic(first, { output_tokens: 50 })));
    const body = { ...chat.body({ stream: true, tools: false }), model: "anthropic-messages" };
    const frames = (await framesOf(await app.post(chat.path, body))) as Json[];
    expect(frames.findLast((one) => one["usage"] != null)?.["usage"]).toMatchObject({
      prompt_tokens: 100,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 30 },
    });
  });

  test("pictures of the prompt count in the estimate", async () => {
    up.answer(() => chatAnswer({ content: TEXT }, { extra: { usage: undefined } }));
    const content = [
      { type: "text", text: "What is it?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    ];
    const response = await app.post(chat.path, { model: "openai-chat", messages: [{ role: "user", content }] });
    const { usage } = chat.whole((await response.json()) as Json);
    expect(usage?.input).toBeGreaterThan(1500);
    expect(await booked()).toEqual({ input: usage?.input, output: own });
  });

  test.each([
    ["as the total tells", { prompt_tokens: 32, completion_tokens: 99, total_tokens: 225, reasoning: 94 }, 193],
    ["as the figures tell", { prompt_tokens: 32, completion_tokens: 9, total_tokens: 135, reasoning: 94 }, 103],
    [
      "but not where it is a part",
      { prompt_tokens: 32, completion_tokens: 103, total_tokens: 135, reasoning: 94 },
      103,
    ],
  ])(
    "reasoning that is counted separately is added to the output, %s",
    async (_name, { reasoning, ...counts }, output) => {
      const usage = { ...counts, completion_tokens_details: { reasoning_tokens: reasoning } };
      up.answer(() => sse([...words, chatChunk({}, { finish: "stop", usage }), DONE]));
      const body = { ...messages.body({ stream: true, tools: false }), model: "openai-chat" };
      const heard = messages.streamed(await (await app.post(messages.path, body)).text());
      expect(heard.usage).toMatchObject({ input: 32, output });
      expect(await booked()).toEqual({ input: 32, output });
    },
  );
});

test("the totals stay plausible", async () => {
  const totals = (await (await app.call("/v1/stats/tokens")).json()) as Record<string, number>;
  expect(totals["input_tokens"]).toBeLessThan(1e9);
  expect(totals["output_tokens"]).toBeGreaterThan(0);
});
