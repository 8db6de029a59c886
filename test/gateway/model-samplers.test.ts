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
/** What the models of other vendors refuse, at the vendor and over a server of no known vendor. */
const PENALTIES = ["presence_penalty", "frequency_penalty"];
const REFUSED: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  xai: {
    "grok-3-mini": [...PENALTIES, "stop"],
    "grok-4": [...PENALTIES, "stop"],
    "grok-4-fast-reasoning": [...PENALTIES, "stop"],
    "grok-4-fast-non-reasoning": PENALTIES,
    "grok-4-1-fast-reasoning": [...PENALTIES, "stop"],
    "grok-4-1-fast-non-reasoning": PENALTIES,
    "grok-code-fast-1": [...PENALTIES, "stop"],
    "grok-4.20-0309-non-reasoning": PENALTIES,
    "grok-4.3": [...PENALTIES, "stop"],
    "grok-4.6": [...PENALTIES, "stop"],
    "grok-9-unknown": [...PENALTIES, "stop"],
  },
  moonshot: {
    "kimi-k2.6": ["temperature", "top_p", ...PENALTIES],
    "kimi-k3": ["temperature", "top_p", ...PENALTIES],
    "kimi-k9-unknown": ["temperature", "top_p", ...PENALTIES],
    "moonshot-v1-8k": [],
  },
  mistral: { "mistral-small-latest": [], "magistral-medium-2509": [], "mistral-large-latest": [] },
  deepseek: { "deepseek-v4-pro": [], "deepseek-v9-unknown": [] },
  open: {
    "grok-4.6": [...PENALTIES, "stop"],
    "kimi-k3": [],
    "glm-5.3": [],
    "minimax-m3.1-flash": [],
    "qwen3.8-max": [],
    "mistral-small-4": [],
  },
};
const KINDS: Readonly<Record<string, Json>> = {
  chat: { preset: "openai" },
  responses: { kind: "openai-responses" },
  gemini: { kind: "gemini" },
  claude: { preset: "anthropic" },
  ...Object.fromEntries(["xai", "moonshot", "mistral", "deepseek"].map((preset) => [preset, { preset }])),
  open: { kind: "openai" },
};
const ROWS = ["chat", "responses", "gemini", "claude"].flatMap((route) =>
  Object.entries(MODELS[route] ?? MODELS["chat"]!).map(([model, takes]) => ({ route, model, takes })),
);
const REFUSING = Object.entries(REFUSED).flatMap(([route, models]) =>
  Object.entries(models).map(([model, refused]) => ({ route, model, refused })),
);
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      Object.entries(KINDS).map(([name, kind]) => [
        name,
        { ...kind, base_url: upstream.baseUrl, api_key: "k", discover: false },
      ]),
    ),
    models: [...ROWS, ...REFUSING].map(({ route, model }) => ({
      id: `${route}:${model}`,
      routes: [{ provider: route, model }],
    })),
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

/** How each format names a parameter, and the members that say it. */
const PARAMETERS = { temperature: 0.25, top_p: 0.5, presence_penalty: 0.5, frequency_penalty: 0.25, stop: ["x"] };
type Parameter = keyof typeof PARAMETERS;
const PARAMETER_NAMES = Object.keys(PARAMETERS) as Parameter[];
interface Format {
  path: string;
  at?(model: string): string;
  body: Json;
  names: Partial<Record<Parameter, string>>;
}
const FORMATS: Readonly<Record<string, Format>> = {
  chat: {
    path: "/v1/chat/completions",
    body: { messages: TURNS },
    names: Object.fromEntries(PARAMETER_NAMES.map((name) => [name, name])),
  },
  responses: { path: "/v1/responses", body: { input: "hi" }, names: { temperature: "temperature", top_p: "top_p" } },
  messages: {
    path: "/v1/messages",
    body: { messages: TURNS, max_tokens: 9 },
    names: { temperature: "temperature", top_p: "top_p", stop: "stop_sequences" },
  },
  ollama: {
    path: "/api/chat",
    body: { messages: TURNS, stream: false },
    names: Object.fromEntries(PARAMETER_NAMES.map((name) => [name, `options.${name}`])),
  },
  gemini: {
    path: "/v1beta/generateContent",
    at: (model) => `/v1beta/models/${model}:generateContent`,
    body: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    names: {
      temperature: "generationConfig.temperature",
      top_p: "generationConfig.topP",
      presence_penalty: "generationConfig.presencePenalty",
      frequency_penalty: "generationConfig.frequencyPenalty",
      stop: "generationConfig.stopSequences",
    },
  },
};

describe.each(Object.keys(FORMATS))("%s clients of other vendors' models", (format) => {
  const { path, at = () => path, body, names } = FORMATS[format]!;

  test.each(REFUSING.map(({ route, model, refused }) => [`${route}:${model}`, refused] as const))(
    "%s refuses %j",
    async (model, refused) => {
      for (const [parameter, name] of Object.entries(names) as [Parameter, string][]) {
        const value = PARAMETERS[parameter];
        const [within, inner] = name.split(".") as [string, string?];
        const said = inner === undefined ? { [name]: value } : { [within]: { [inner]: value } };
        const answer = await app.post(at(model), { ...body, model, ...said });
        await answer.text();
        const isTaken = !refused.includes(parameter);
        // The gateway itself ends a translated answer at the stop sequences, so nothing is lost.
        const isNamed = !isTaken && (parameter !== "stop" || format === "chat");
        expect([name, answer.status, upstream.received.at(-1)!.json?.[parameter]]).toEqual([
          ...[name, 200, isTaken ? value : undefined],
        ]);
        expect([name, answer.headers.get("x-sallyport-dropped")]).toEqual([name, isNamed ? name : null]);
      }
    },
  );
});
