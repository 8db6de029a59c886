// Samplers and output limits reach a model only if it accepts them, whichever client asks, and the client is told what was left out.
// The models are one of each line and version with rules of its own (src/vendors); model-efforts.test.ts has their efforts.

import { afterAll, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { dialectOf, say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream((received) => say(received, { text: "Hi.", usage: { input: 1, output: 1 } }));

/** Whether each model takes samplers in a request without an effort. */
const MODELS: Readonly<Record<string, Readonly<Record<string, boolean>>>> = {
  chat: {
    "gpt-4.1": true,
    "gpt-5-mini": false,
    "gpt-5.1": true,
    "gpt-5.4": true,
    "gpt-5.6-terra": false,
    "gpt-6-sol": false,
    "gpt-6-astra": false,
    "gpt-6.2-sol": false,
    // An unknown member of a known line has the rules of the newest.
    "gpt-6.9-unknown": false,
    "o4-mini": false,
  },
  gemini: { "gemini-3-flash": true, "gemini-3.8-flash": true, "gemini-4-hydrogen": true, "gemini-4.9-unknown": true },
  claude: {
    "claude-opus-4-6": true,
    "claude-sonnet-4-6": true,
    "claude-opus-4-8": false,
    "claude-opus-5-5": false,
    "claude-fable-5-2": false,
    "claude-haiku-5-9": false,
  },
};
const KINDS: Readonly<Record<string, Json>> = {
  chat: { preset: "openai" },
  responses: { kind: "openai-responses" },
  gemini: { kind: "gemini" },
  claude: { preset: "anthropic" },
};
const ROWS = Object.keys(KINDS).flatMap((route) =>
  Object.entries(MODELS[route] ?? MODELS["chat"]!).map(([model, takes]) => ({ route, model, takes })),
);
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      Object.entries(KINDS).map(([name, kind]) => [
        name,
        { ...kind, base_url: upstream.baseUrl, api_key: "k", discover: false },
      ]),
    ),
    models: ROWS.map(({ route, model }) => ({ id: `${route}:${model}`, routes: [{ provider: route, model }] })),
    tiers: { premium: { rpm: 100_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const TURNS = [{ role: "user", content: "hi" }];
const SAMPLERS = { temperature: 0.25, top_p: 0.5 };
const CLIENTS = [
  ["/v1/chat/completions", { messages: TURNS, max_tokens: 321 }],
  ["/v1/responses", { input: "hi", max_output_tokens: 321 }],
  ["/v1/messages", { messages: TURNS, max_tokens: 321 }],
] as const;

/** The samplers and the limit of a request as it was sent. */
function sentIn(path: string, json: Json): { samplers: Json; limit: unknown } {
  const by = dialectOf(path);
  const body = by === "gemini" ? (json["generationConfig"] as Json) : json;
  const samplers = { temperature: body["temperature"], top_p: body[by === "gemini" ? "topP" : "top_p"] };
  const limit = {
    "openai-chat": body["max_completion_tokens"] ?? body["max_tokens"],
    "openai-responses": body["max_output_tokens"],
    "anthropic-messages": body["max_tokens"],
    gemini: body["maxOutputTokens"],
  }[by];
  return { samplers, limit };
}

describe.each(CLIENTS)("%s", (path, body) => {
  test.each(ROWS.map((row) => [`${row.route}:${row.model}`, row.takes] as const))("%s: %p", async (model, takes) => {
    for (const [name, value] of Object.entries(SAMPLERS)) {
      const answer = await app.post(path, { ...body, model, [name]: value });
      await answer.text();
      const { path: sentTo, json } = upstream.received.at(-1)!;
      const { samplers, limit } = sentIn(sentTo, json ?? {});
      const dropped = (answer.headers.get("x-sallyport-dropped") ?? "").split(", ").filter((one) => one !== "");
      expect([name, answer.status, samplers[name], limit, dropped]).toEqual(
        takes ? [name, 200, value, 321, []] : [name, 200, undefined, 321, [name]],
      );
    }
  });
});
