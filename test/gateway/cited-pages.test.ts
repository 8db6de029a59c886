// The pages that an answer cites, as Perplexity lists them beside the choices and as OpenAI's search models annotate them, reach the
// clients of each format in its own form, in whole and in streamed answers.

import { afterAll, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { CLIENT_FORMATS } from "../support/heard.ts";

const [ONE, TWO] = ["https://one.example/", "https://two.example/"];
const TEXT = "Ö is cold [1], not warm [2][9].";
const RESULTS = [
  { title: "One", url: ONE, date: "2026-01-01", snippet: "It is cold." },
  { title: "Two", url: TWO, date: null },
];
const USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const ANNOTATIONS = [
  {
    type: "url_citation",
    url_citation: { url: ONE, title: "One", content: "It is cold.", start_index: 10, end_index: 13 },
  },
  { type: "url_citation", url_citation: { url: TWO, title: "Two", start_index: 24, end_index: 27 } },
];

interface Answer {
  readonly beside: object;
  readonly annotations?: unknown[];
  /** Whether the last chunk has the whole message, and whether the others have the pages. */
  readonly hasMessage?: boolean;
  readonly isLate?: boolean;
  /** Whether the first chunk of the text comes before the pages. */
  readonly isAmid?: boolean;
}

/** For each: what stands beside the choices, and where. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  results: { beside: { citations: [ONE, TWO], search_results: RESULTS } },
  late: { beside: { search_results: RESULTS }, hasMessage: true, isLate: true },
  annotated: { beside: {}, annotations: ANNOTATIONS },
  addresses: { beside: { citations: [ONE, TWO] } },
  unplaced: { beside: { search_results: RESULTS }, isLate: true },
  amid: { beside: { search_results: RESULTS }, isAmid: true },
};

const BASE = { id: "c-1", created: 1, model: "sonar" };

function whole({ beside, annotations }: Answer): Response {
  const message = { role: "assistant", content: TEXT, ...(annotations === undefined ? {} : { annotations }) };
  return Response.json({
    ...BASE,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: USAGE,
    ...beside,
  });
}

function streamed({ beside, annotations, hasMessage = false, isLate = false, isAmid = false }: Answer): Response {
  const message = hasMessage ? { message: { role: "assistant", content: TEXT } } : {};
  const chunk = (delta: object, end: string | null, more: object = {}) => ({
    ...BASE,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: end, ...(end === null ? {} : message) }],
    ...(end === null && (isLate || (isAmid && "role" in delta)) ? {} : beside),
    ...more,
  });
  const last = annotations === undefined ? {} : { annotations };
  const chunks = [
    chunk({ role: "assistant", content: TEXT.slice(0, 12) }, null),
    chunk({ content: TEXT.slice(12) }, null),
    chunk(last, "stop", { usage: USAGE }),
  ];
  return new Response(`${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")}data: [DONE]\n\n`, {
    headers: { "content-type": "text/event-stream" },
  });
}

const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { model, stream } = (await request.json()) as { model: string; stream?: boolean };
    const answer = ANSWERS[model]!;
    return stream === true ? streamed(answer) : whole(answer);
  },
});
const app = await startTestApp({
  key: { rpm: 10_000 },
  config: {
    providers: { perplexity: { base_url: upstream.url.origin, api_key: "k" }, demo: { enabled: false } },
    models: Object.keys(ANSWERS).map((model) => ({ id: model, routes: [{ provider: "perplexity", model }] })),
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop(true);
});

/** The events of a stream. */
const eventsOf = (text: string) =>
  text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6)) as Json] : []));
// biome-ignore lint/suspicious/noExplicitAny: these are answers of four formats.
type Json = any;

const flat = ({ type, url_citation }: Json) => ({ type, ...url_citation });

/** How each format says what is cited: where it is read, and what is expected of the annotations. */
const READ: Readonly<
  Record<string, { whole(answer: Json): Json[]; streamed(events: Json[]): Json[]; said(annotations: Json[]): Json[] }>
> = {
  "openai-responses": {
    whole: ({ output }) => output.at(-1).content[0].annotations,
    streamed: (events) =>
      events.flatMap(({ type, annotation }) => (type === "response.output_text.annotation.added" ? [annotation] : [])),
    said: (annotations) => annotations.map(flat),
  },
  "anthropic-messages": {
    whole: ({ content }) => content[0].citations ?? [],
    streamed: (events) => events.flatMap(({ delta }) => (delta?.type === "citations_delta" ? [delta.citation] : [])),
    said: (annotations) =>
      annotations.map(({ url_citation: { url, title, content = "" } }) => ({
        type: "search_result_location",
        source: url,
        title,
        cited_text: content,
        search_result_index: url === ONE ? 0 : 1,
        start_block_index: 0,
        end_block_index: 0,
      })),
  },
  gemini: {
    whole: ({ candidates }) => groundingOf(candidates[0]),
    streamed: (events) => events.flatMap(({ candidates }) => groundingOf(candidates[0])),
    said: (annotations) => annotations.map(({ url_citation: { url: uri, title } }) => ({ web: { uri, title } })),
  },
};

const groundingOf = (candidate: Json): Json[] => candidate.groundingMetadata?.groundingChunks ?? [];

const unquoted = (annotations: typeof ANNOTATIONS, title: (at: number) => string) =>
  annotations.map(({ type, url_citation: { content: _content, ...rest } }, at) => ({
    type,
    url_citation: { ...rest, title: title(at) },
  }));
const unplaced = ANNOTATIONS.map(({ type, url_citation }) => ({
  type,
  url_citation: { ...url_citation, start_index: 0, end_index: 0 },
}));

describe.each(Object.keys(READ))("%s", (name) => {
  const format = CLIENT_FORMATS.find((one) => one.name === name)!;
  const { whole: inWhole, streamed: inStream, said } = READ[name]!;
  test.each(Object.keys(ANSWERS).flatMap((model) => [false, true].map((stream) => [model, stream] as const)))(
    "%s, streamed: %p",
    async (model, stream) => {
      const response = await app.post(format.path, {
        ...format.body({ stream, tools: false }),
        model,
      });
      const text = await response.text();
      expect([response.status, response.status === 200 ? "" : text]).toEqual([200, ""]);
      const cited = stream ? inStream(eventsOf(text)) : inWhole(JSON.parse(text));
      const wanted =
        model === "addresses"
          ? unquoted(ANNOTATIONS, () => "")
          : (model === "unplaced" || model === "amid") && stream
            ? unplaced
            : ANNOTATIONS;
      expect(cited).toEqual(said(wanted));
    },
  );
});

test("Gemini's clients hear which bytes of the text rest on a page", async () => {
  const { path, body } = CLIENT_FORMATS.find(({ name }) => name === "gemini")!;
  const response = await app.post(path, { ...body({ stream: false, tools: false }), model: "results" });
  const { candidates } = (await response.json()) as Json;
  expect(candidates[0].groundingMetadata.groundingSupports).toEqual([
    { segment: { startIndex: 11, endIndex: 14, text: "[1]" }, groundingChunkIndices: [0] },
    { segment: { startIndex: 25, endIndex: 28, text: "[2]" }, groundingChunkIndices: [1] },
  ]);
});

test("clients of chat completions get the lists as they are", async () => {
  const response = await app.post("/v1/chat/completions", {
    model: "results",
    messages: [{ role: "user", content: "?" }],
  });
  expect(await response.json()).toMatchObject({ citations: [ONE, TWO], search_results: RESULTS });
});
