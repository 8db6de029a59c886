import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import OpenAI from "openai";
import type { ChatEvent } from "../../src/chat/event.ts";
import { fold } from "../../src/chat/fold.ts";
import { completionsFormat } from "../../src/wire/completions/format.ts";
import { legalAnswer } from "./events.ts";
import { exchangeFor, expectRejected, interruption, type Json, readStream, streamOf } from "./support.ts";

const decode = (more: Json) => completionsFormat.decode({ model: "m", prompt: "Once", ...more }, {});
const body = { model: "m", prompt: "Once", stream_options: { include_usage: true } };
const exchange = exchangeFor(completionsFormat, body);

describe("refuses", () => {
  const rows: [string, Json, string][] = [
    ["no model", { model: undefined }, "model"],
    ["no prompt", { prompt: undefined }, "prompt"],
    ["empty prompt", { prompt: "" }, "prompt"],
    ["prompt of another type", { prompt: {} }, "prompt"],
    ["no prompt in the list", { prompt: [] }, "prompt"],
    ["several prompts", { prompt: ["a", "b"] }, "prompt"],
    ["tokens", { prompt: [1, 2] }, "prompt[0]"],
    ["lists of tokens", { prompt: [[1, 2]] }, "prompt[0]"],
    ["suffix", { suffix: "end" }, "suffix"],
    ["echo text", { echo: "yes" }, "echo"],
    ["max_tokens zero", { max_tokens: 0 }, "max_tokens"],
    ["temperature above", { temperature: 2.5 }, "temperature"],
    ["top_p above", { top_p: 1.1 }, "top_p"],
    ["n zero", { n: 0 }, "n"],
    ["stream text", { stream: 1 }, "stream"],
    ["stream options text", { stream_options: "x" }, "stream_options"],
    ["usage wish of another type", { stream_options: { include_usage: 1 } }, "stream_options.include_usage"],
    ["logprobs true", { logprobs: true }, "logprobs"],
    ["stop element", { stop: ["a", 1] }, "stop[1]"],
    ["stop number", { stop: 1 }, "stop"],
    ["presence above", { presence_penalty: 3 }, "presence_penalty"],
    ["frequency below", { frequency_penalty: -3 }, "frequency_penalty"],
    ["bias above", { logit_bias: { "5": 200 } }, "logit_bias.5"],
    ["seed fraction", { seed: 1.5 }, "seed"],
    ["user number", { user: 1 }, "user"],
  ];
  test.each(rows)("%s", (_name, more, param) => expectRejected(() => decode(more), param));
});

test("every parameter of completions is read", () => {
  expect(
    decode({
      prompt: ["Once"],
      suffix: null,
      max_tokens: 5,
      temperature: 0,
      top_p: 1,
      n: 2,
      stream: true,
      stream_options: { include_usage: true },
      logprobs: 2,
      echo: true,
      stop: "END",
      presence_penalty: 1,
      frequency_penalty: -1,
      logit_bias: { "5": -100 },
      seed: 7,
      user: "u",
      conversation_id: "t",
      best_of: 3,
    }),
  ).toEqual({
    model: "m",
    messages: [{ role: "user", content: [{ type: "text", text: "Once" }] }],
    stream: true,
    includeUsage: true,
    tools: [],
    maxTokens: 5,
    temperature: 0,
    topP: 1,
    n: 2,
    logprobs: true,
    topLogprobs: 2,
    stop: ["END"],
    presencePenalty: 1,
    frequencyPenalty: -1,
    logitBias: { "5": -100 },
    seed: 7,
    user: "u",
    threadId: "t",
    extra: { best_of: 3 },
  });
});

/** The result that a client builds from the chunks. */
function gather(text: string): { choices: Json[]; usage: unknown } {
  const { frames, done } = readStream(text);
  expect(done).toBe(true);
  const choices: Json[] = [];
  let usage: unknown;
  for (const { event, data } of frames) {
    expect(event).toBeUndefined();
    expect(data).toMatchObject({ id: exchange.id, object: "text_completion", model: "catalog-model" });
    if (data["usage"] !== undefined) usage = data["usage"];
    for (const choice of data["choices"] as Json[]) {
      const index = choice["index"] as number;
      const known = choices[index] ?? { index, text: "", finish_reason: null };
      choices[index] = known;
      expect(known["finish_reason"]).toBeNull();
      known["text"] = `${known["text"]}${choice["text"]}`;
      known["finish_reason"] = choice["finish_reason"];
    }
  }
  return { choices, usage };
}

test.each([false, true])("any legal answer streams what the whole answer says, echo %p", (echo) => {
  const echoing = exchangeFor(completionsFormat, { ...body, echo });
  fc.assert(
    fc.property(legalAnswer, (events) => {
      // Interleaved texts are excluded: the format has one text, so their fragments would appear in order of arrival.
      fc.pre(events.filter(({ type }) => type === "text-start").length < 2);
      const streamed = gather(streamOf(completionsFormat.writer(echoing), events));
      const whole = completionsFormat.encode(fold(events), echoing);
      expect(streamed.choices).toEqual(
        (whole["choices"] as Json[]).map(({ index, text, finish_reason }) => ({ index, text, finish_reason })),
      );
      expect(streamed.usage).toEqual(whole["usage"]);
    }),
    { numRuns: 100 },
  );
});

test("several choices keep their own text, and usage comes only when asked for", () => {
  const events: ChatEvent[] = [
    { type: "text-start", choice: 0, id: "a" },
    { type: "text-start", choice: 1, id: "b" },
    { type: "text-delta", choice: 1, id: "b", text: "Uno" },
    { type: "text-delta", choice: 0, id: "a", text: "One" },
    { type: "text-end", choice: 0, id: "a" },
    { type: "text-end", choice: 1, id: "b" },
    { type: "finish", choice: 0, reason: "stop" },
    { type: "finish", choice: 1, reason: "length", usage: { inputTokens: 1, outputTokens: 2 } },
  ];
  const quiet = exchangeFor(completionsFormat, { model: "m", prompt: "p", n: 2 });
  const { choices, usage } = gather(streamOf(completionsFormat.writer(quiet), events));
  expect(choices).toEqual([
    { index: 0, text: "One", finish_reason: "stop" },
    { index: 1, text: "Uno", finish_reason: "length" },
  ]);
  expect(usage).toBeUndefined();
});

test("log-probabilities have the legacy format", () => {
  const logprobs = [
    {
      token: "A",
      logprob: -0.5,
      top_logprobs: [
        { token: "A", logprob: -0.5 },
        { token: "B", logprob: -1 },
      ],
    },
    { token: "bc", logprob: -0.25, top_logprobs: [] },
  ];
  const result = {
    choices: [{ index: 0, blocks: [{ type: "text" as const, text: "Abc", logprobs }], reason: "stop" as const }],
  };
  expect(completionsFormat.encode(result, exchange)["choices"]).toMatchObject([
    {
      logprobs: {
        tokens: ["A", "bc"],
        token_logprobs: [-0.5, -0.25],
        top_logprobs: [{ A: -0.5, B: -1 }, null],
        text_offset: [0, 1],
      },
    },
  ]);
});

test("a failure is a data line with an error and no terminator", () => {
  const writer = completionsFormat.writer(exchange);
  const { frames, done } = readStream(writer.fail(interruption) + writer.end());
  expect(done).toBe(false);
  expect(frames).toEqual([{ event: undefined, data: { error: { ...interruption } } }]);
});

test("the official SDK reads whole answers and streams", async () => {
  const events: ChatEvent[] = [
    { type: "text-start", choice: 0, id: "a" },
    { type: "text-delta", choice: 0, id: "a", text: " upon" },
    { type: "text-delta", choice: 0, id: "a", text: " a time" },
    { type: "text-end", choice: 0, id: "a" },
    { type: "finish", choice: 0, reason: "length", usage: { inputTokens: 1, outputTokens: 3 } },
  ];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const asked = (await request.json()) as Json;
      if (asked["stream"] !== true) return Response.json(completionsFormat.encode(fold(events), exchange));
      const text = streamOf(completionsFormat.writer(exchange), events);
      return new Response(text, { headers: { "content-type": "text/event-stream" } });
    },
  });
  try {
    const client = new OpenAI({ apiKey: "k", baseURL: `http://127.0.0.1:${server.port}`, maxRetries: 0 });
    const whole = await client.completions.create({ model: "m", prompt: "Once" });
    expect(whole.choices[0]).toMatchObject({ text: " upon a time", finish_reason: "length" });
    expect(whole.usage?.total_tokens).toBe(4);
    let text = "";
    for await (const chunk of await client.completions.create({ model: "m", prompt: "Once", stream: true })) {
      text += chunk.choices[0]?.text ?? "";
    }
    expect(text).toBe(" upon a time");
  } finally {
    await server.stop(true);
  }
});
