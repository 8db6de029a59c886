// The official SDKs put denied, masked and judged streams together without an exception.

import { afterAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { startTestApp } from "../../../support/app.ts";
import { DIALECTS, KINDS, say } from "../../../support/fake-model.ts";
import { startUpstream } from "../../../support/upstream.ts";

const upstream = startUpstream();
const USES = ["masked", "denied", "judged"] as const;
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      DIALECTS.map((name) => [name, { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false }]),
    ),
    models: DIALECTS.flatMap((id) =>
      USES.map((use) => ({ id: `${use}-${id}`, routes: [{ provider: id, model: "up-model" }] })),
    ),
    guardrails: [
      { name: "pii", check: { kind: "pii", find: ["email"] }, action: "mask", apply: { models: ["masked-*"] } },
      { name: "stones", check: { kind: "words", words: ["kryptonite"] }, apply: { models: ["denied-*"] } },
      { name: "shape", check: { kind: "schema", schema: { type: "object" } }, apply: { models: ["judged-*"] } },
    ],
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const SENT = "I am ada@example.com.";
const SAID = "Hello [EMAIL_1], bob@example.com has kryptonite here.";
/** What clients get of it. */
const TEXTS = { masked: "Hello ada@example.com, [EMAIL_2] has kryptonite here.", judged: "" };
const openai = new OpenAI({ apiKey: app.key, baseURL: `${app.url}/v1`, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: app.key, baseURL: app.url, maxRetries: 0 });
const google = new GoogleGenAI({ apiKey: app.key, httpOptions: { baseUrl: app.url } });

/** The text and the reason of the end, as each SDK puts them together. */
const SDKS: Readonly<Record<string, (model: string) => Promise<readonly [text: string, end: unknown]>>> = {
  async chat(model) {
    const stream = openai.chat.completions.stream({ model, messages: [{ role: "user", content: SENT }] });
    const { choices } = await stream.finalChatCompletion();
    return [choices[0]!.message.content ?? "", choices[0]!.finish_reason];
  },
  async responses(model) {
    const response = await openai.responses.stream({ model, input: SENT }).finalResponse();
    return [response.output_text, response.incomplete_details?.reason ?? response.status];
  },
  async messages(model) {
    const stream = anthropic.messages.stream({ model, max_tokens: 99, messages: [{ role: "user", content: SENT }] });
    const { content, stop_reason } = await stream.finalMessage();
    return [content.map((block) => (block.type === "text" ? block.text : "")).join(""), stop_reason];
  },
  async gemini(model) {
    let text = "";
    let end: unknown;
    for await (const { candidates } of await google.models.generateContentStream({ model, contents: SENT })) {
      for (const part of candidates?.[0]?.content?.parts ?? []) text += part.text ?? "";
      end = candidates?.[0]?.finishReason ?? end;
    }
    return [text, end];
  },
};
const ENDS: Readonly<Record<string, readonly [passed: string, denied: string]>> = {
  chat: ["stop", "content_filter"],
  responses: ["completed", "content_filter"],
  messages: ["end_turn", "refusal"],
  gemini: ["STOP", "SAFETY"],
};
const ROWS = Object.keys(SDKS).flatMap((sdk) =>
  DIALECTS.flatMap((dialect) => USES.map((use) => [sdk, use, dialect] as const)),
);

test.each(ROWS)("%s: a stream that is %s, over %s", async (sdk, use, dialect) => {
  upstream.answer((received) => say(received, { text: SAID, split: 5, calls: [] }));
  const [text, end] = await SDKS[sdk]!(`${use}-${dialect}`);
  const [passed, denied] = ENDS[sdk]!;
  if (use === "denied") expect("Hello [EMAIL_1], bob@example.com has ".startsWith(text)).toBe(true);
  else expect(text).toBe(TEXTS[use]);
  expect(end).toBe(use === "masked" ? passed : denied);
});
