// Stop sequences over an upstream without them: the answer ends at the sequence, even if it arrives in pieces, and the
// upstream is aborted.

import { afterAll, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { say } from "../support/fake-model.ts";
import { CLIENT_FORMATS, type ClientFormat } from "../support/heard.ts";
import { HANG, sse, startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream();
const app = await startTestApp({
  config: {
    providers: {
      up: {
        kind: "openai-responses",
        base_url: upstream.baseUrl,
        api_key: "k",
        discover: false,
        retry: { attempts: 1 },
      },
    },
    models: [{ id: "m", routes: [{ provider: "up", model: "up-model" }] }],
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

const formats = CLIENT_FORMATS.filter(({ name }) => name !== "openai-responses");
const STOPPED: Readonly<Record<string, string>> = {
  "openai-chat": "stop",
  "openai-completions": "stop",
  "anthropic-messages": "stop_sequence",
  gemini: "STOP",
  "ollama-chat": "stop",
  "ollama-generate": "stop",
};
/** How formats other than OpenAI's name the sequences. */
const SEQUENCES: Readonly<Record<string, Json>> = {
  "anthropic-messages": { stop_sequences: ["END"] },
  gemini: { generationConfig: { stopSequences: ["END"] } },
  "ollama-chat": { options: { stop: ["END"] } },
  "ollama-generate": { options: { stop: ["END"] } },
};

function asked(format: ClientFormat, stream: boolean): Json {
  const stop = SEQUENCES[format.name] ?? { stop: ["END"] };
  return { ...format.body({ stream, tools: false }), ...stop, model: "m" };
}

/** A responses stream up to the text, which then continues for ever. */
function endless(pieces: readonly string[]): Response {
  const frames = [
    { type: "response.created", response: { id: "r", model: "up-model", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "i", content: [] } },
    {
      type: "response.content_part.added",
      item_id: "i",
      output_index: 0,
      content_index: 0,
      part: { type: "output_text" },
    },
    ...pieces.map((delta) => ({
      type: "response.output_text.delta",
      item_id: "i",
      output_index: 0,
      content_index: 0,
      delta,
    })),
  ];
  return sse([...frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`), HANG]);
}

describe.each(formats)("$name", (format) => {
  test("a whole answer is cut", async () => {
    upstream.answer((received) => say(received, { text: "one END two" }));
    const response = await app.post(format.path, asked(format, false));
    expect(response.headers.get("x-sallyport-dropped")).toBeNull();
    const body = (await response.json()) as Json;
    expect(format.whole(body)).toMatchObject({ text: "one ", stop: STOPPED[format.name] });
    if (format.name === "anthropic-messages") expect(body["stop_sequence"]).toBe("END");
  });

  test("a stream ends at a sequence in pieces, and the upstream with it", async () => {
    upstream.answer(() => endless(["one ", "E", "ND tw", "o"]));
    const called = upstream.next();
    const response = await app.post(format.path, asked(format, true));
    const heard = format.streamed(await response.text());
    expect(heard).toMatchObject({ text: "one ", stop: STOPPED[format.name] });
    expect(heard.usage?.output).toBeGreaterThan(0);
    await (await called).aborted;
  });

  test("an answer without the sequence is whole", async () => {
    upstream.answer((received) => say(received, { text: "one EN two E" }));
    const streamed = await (await app.post(format.path, asked(format, true))).text();
    expect(format.streamed(streamed).text).toBe("one EN two E");
  });
});
