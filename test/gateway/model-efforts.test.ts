// An effort reaches a model only in a word that the model accepts, whichever client asks, and the client is told if it is
// another one. The efforts are those of the vendors' model pages.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { refusedEffort } from "../../src/upstream/quirks.ts";
import { EFFORTS } from "../../src/vendors/model-family.ts";
import { startTestApp } from "../support/app.ts";
import { dialectOf, say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream((received) => say(received, { text: "Hi.", usage: { input: 1, output: 1 } }));
const provider = (more: Json) => ({ base_url: upstream.baseUrl, api_key: "k", discover: false, ...more });

const LADDER = ["low", "medium", "high"];
const MODELS = {
  "gpt-5-mini": ["minimal", ...LADDER],
  "gpt-5.1": ["none", ...LADDER],
  "gpt-5.4": ["none", ...LADDER, "xhigh"],
  "gpt-5.6-terra": ["none", ...LADDER, "xhigh", "max"],
  "gpt-6-sol": ["none", ...LADDER, "xhigh", "max"],
  "gpt-6-luna": ["none", ...LADDER, "xhigh", "max"],
  "gpt-6.1-terra": ["none", ...LADDER, "xhigh", "max"],
  "gpt-6-astra": [...LADDER, "xhigh", "max"],
  "gpt-6.1-sol": [...LADDER, "xhigh", "max"],
  "gpt-6.2-astra": [...LADDER, "xhigh", "max"],
  "gpt-6.2-sol": [...LADDER, "xhigh", "max"],
  "o4-mini": LADDER,
  "gemini-3-flash": ["minimal", ...LADDER],
  "gemini-3.1-pro": LADDER,
  "gemini-3.7-flash": LADDER,
  "gemini-3.8-flash": LADDER,
  "gemini-flash-latest": LADDER,
  "gemini-4-hydrogen": [...LADDER, "xhigh"],
  "gemini-4-carbon": [...LADDER, "xhigh"],
  "claude-opus-4-6": [...LADDER, "max"],
  "claude-sonnet-4-6": LADDER,
  "claude-opus-5-5": [...LADDER, "xhigh", "max"],
  "claude-fable-5-2": [...LADDER, "xhigh", "max"],
  "grok-3-mini": ["low", "high"],
  "grok-4": [],
  "grok-4-0709": [],
  "grok-4-fast-reasoning": [],
  "grok-4-fast-non-reasoning": [],
  "grok-4-1-fast-reasoning": [],
  "grok-4.20-0309-reasoning": [],
  "grok-4.20-0309-non-reasoning": [],
  "grok-4.20-multi-agent": [...LADDER, "xhigh"],
  "grok-code-fast-1": [],
  "grok-4.3": ["none", ...LADDER],
  "grok-4.5": LADDER,
  "grok-4.6": [...LADDER, "xhigh"],
  "grok-6-unknown": [...LADDER, "xhigh"],
  "mistral-small-2506": [],
  "mistral-large-latest": [],
  "codestral-latest": [],
  "magistral-medium-2509": [],
  "mistral-small-latest": ["none", "high"],
  "mistral-medium-3-5": ["none", "high"],
  "deepseek-v4-pro": EFFORTS,
  "deepseek-v9-unknown": EFFORTS,
  "kimi-k2.6": ["minimal", ...LADDER],
  "kimi-k3": ["low", "high", "max"],
  "kimi-k9-unknown": ["low", "high", "max"],
  "glm-5.2": EFFORTS,
  "glm-5.3": ["low", "high", "max"],
  "glm-9-unknown": ["low", "high", "max"],
  "minimax-m3.1-flash": [...LADDER, "xhigh", "max"],
  "minimax-m9-unknown": [...LADDER, "xhigh", "max"],
  "qwen3.8-max": EFFORTS,
  "qwen9-unknown": EFFORTS,
} satisfies Record<string, readonly string[]>;
type Model = keyof typeof MODELS;

const whole = (words: readonly string[]) => words;
/** Models that anyone serves, over a server of no known vendor. */
const OPEN = /^(?:grok|glm|minimax|qwen|kimi|mistral-(?:small|medium))/;

/** Chat completions of OpenAI end at `xhigh`. */
const ROUTES = {
  chat: {
    kind: { preset: "openai" },
    serves: /^gpt|^o\d/,
    takes: (words: readonly string[]) => words.filter((w) => w !== "max"),
  },
  responses: { kind: { kind: "openai-responses" }, serves: /^gpt|^o\d/, takes: whole },
  gemini: { kind: { kind: "gemini" }, serves: /^gemini/, takes: whole },
  claude: { kind: { preset: "anthropic" }, serves: /^claude/, takes: whole },
  xai: { kind: { preset: "xai" }, serves: /^grok/, takes: whole },
  mistral: { kind: { preset: "mistral" }, serves: /^mistral|^magistral|^codestral/, takes: whole },
  deepseek: { kind: { preset: "deepseek" }, serves: /^deepseek/, takes: whole },
  moonshot: { kind: { preset: "moonshot" }, serves: /^kimi/, takes: whole },
  open: { kind: { kind: "openai" }, serves: OPEN, takes: whole },
  "open-responses": { kind: { kind: "openai-responses" }, serves: OPEN, takes: whole },
};

const app = await startTestApp({
  config: {
    providers: Object.fromEntries(Object.entries(ROUTES).map(([name, { kind }]) => [name, provider(kind)])),
    models: Object.entries(ROUTES).flatMap(([name, { serves }]) =>
      Object.keys(MODELS)
        .filter((model) => serves.test(model))
        .map((model) => ({ id: `${name}:${model}`, routes: [{ provider: name, model }] })),
    ),
    tiers: { premium: { rpm: 100_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const TURNS = [{ role: "user", content: "hi" }];
const CLIENTS: Record<string, { path: string; at?(model: string): string; ask(effort: string): Json; name: RegExp }> = {
  chat: {
    path: "/v1/chat/completions",
    ask: (effort) => ({ messages: TURNS, reasoning_effort: effort }),
    name: /^reasoning_effort$/,
  },
  responses: {
    path: "/v1/responses",
    ask: (effort) => ({ input: "hi", reasoning: { effort } }),
    name: /^reasoning(?:\.effort)?$/,
  },
  messages: {
    path: "/v1/messages",
    ask: (effort) => ({
      max_tokens: 9000,
      messages: TURNS,
      ...(effort === "none" ? { thinking: { type: "disabled" } } : { output_config: { effort } }),
    }),
    name: /^(?:thinking|output_config\.effort)$/,
  },
  ollama: {
    path: "/api/chat",
    ask: (effort) => ({ stream: false, messages: TURNS, think: effort === "none" ? false : effort }),
    name: /^think$/,
  },
  gemini: {
    path: "/v1beta/generateContent",
    at: (model) => `/v1beta/models/${model}:generateContent`,
    ask: (effort) => ({
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      generationConfig: {
        thinkingConfig: effort === "none" ? { thinkingBudget: 0 } : { thinkingLevel: effort.toUpperCase() },
      },
    }),
    name: /^generationConfig\.thinkingConfig/,
  },
};

/** The effort in a request as it was sent; undefined if it has none. */
function sentEffort(path: string, json: Json): unknown {
  const member = (value: unknown, name: string) => (value as Json | undefined)?.[name];
  switch (dialectOf(path)) {
    case "openai-chat":
      return json["reasoning_effort"];
    case "openai-responses":
      return member(json["reasoning"], "effort");
    case "gemini":
      return member(member(json["generationConfig"], "thinkingConfig"), "thinkingLevel");
    default:
      return member(json["output_config"], "effort");
  }
}

const ROWS = Object.entries(ROUTES).flatMap(([route, { serves, takes }]) =>
  (Object.keys(MODELS) as Model[])
    .filter((model) => serves.test(model))
    .map((model) => [`${route}:${model}`, takes(MODELS[model])] as const),
);

describe.each(Object.keys(CLIENTS))("%s clients", (client) => {
  const { path, at = () => path, ask, name } = CLIENTS[client]!;

  // Requests of Anthropic's and Google's own clients are sent to their models unchanged.
  const own = client === "messages" ? "claude:" : `${client}:`;
  const rows = ROWS.filter(([model]) => client === "chat" || client === "responses" || !model.startsWith(own));

  test.each(rows)("%s: %j", async (model, takes) => {
    for (const effort of EFFORTS) {
      const answer = await app.post(at(model), { model, ...ask(effort) });
      await answer.text();
      expect([effort, answer.status]).toEqual([effort, 200]);
      const { path: sentTo, json } = upstream.received.at(-1)!;
      const sent = sentEffort(sentTo, json ?? {});
      const dropped = answer.headers.get("x-sallyport-dropped") ?? "";
      // Claude has a member of its own that turns thinking off, where that is possible.
      const isOff = effort === "none" && model.startsWith("claude:claude-") && !/opus-5-5|fable/.test(model);
      if (isOff) expect([effort, sent, dropped]).toEqual([effort, undefined, ""]);
      else if (takes.length === 0) {
        // A model that does not reason loses nothing by being told not to, unless its server refuses the word itself.
        const isLost = effort !== "none" || /^(?:grok-(?!.*non)|magistral)/.test(model.split(":")[1]!);
        expect([effort, sent, dropped]).toEqual([
          ...[effort, undefined, isLost ? expect.stringMatching(name) : expect.any(String)],
        ]);
        continue;
      } else expect([effort, takes.includes(String(sent))]).toEqual([effort, true]);
      if (!isOff && takes.includes(effort)) expect([effort, sent, dropped]).toEqual([effort, effort, ""]);
      if (!isOff && !takes.includes(effort)) expect([effort, dropped]).toEqual([effort, expect.stringMatching(name)]);
    }
  });
});

test("efforts are left to a proxy that speaks OpenAI's protocols before models of other vendors", () => {
  const ctx = (model: string) => ({ model, quirks: {} });
  for (const model of ["claude-opus-4-6", "gemini-3.1-pro", "prod-chat"]) {
    for (const effort of EFFORTS) {
      for (const by of ["chat", "responses"] as const)
        expect([by, model, refusedEffort(ctx(model), effort, by)]).toEqual([by, model, undefined]);
    }
  }
  expect(refusedEffort(ctx("grok-4.3"), "none", "chat")).toBeUndefined();
  expect(refusedEffort(ctx("gpt-5.1-codex-max"), "xhigh", "responses")).toBeUndefined();
  expect(refusedEffort(ctx("gpt-6-astra"), "none", "responses")).toBe("low");
});

describe("parameters beside an effort that cannot be turned off", () => {
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];

  test.each([
    ["gpt-6-sol", "openai-chat", ""],
    ["gpt-6-astra", "openai-responses", "reasoning_effort"],
    ["gpt-6.2-sol", "openai-responses", "reasoning_effort"],
  ] as const)("%s with tools and `none`: %s", async (model, by, named) => {
    const more = { messages: TURNS, reasoning_effort: "none", tools, temperature: 0.2 };
    const answer = await app.post("/v1/chat/completions", { model: `chat:${model}`, ...more });
    await answer.text();
    const { path, json } = upstream.received.at(-1)!;
    expect(dialectOf(path)).toBe(by);
    expect(json?.["temperature"]).toBe(named === "" ? 0.2 : undefined);
    const dropped = (answer.headers.get("x-sallyport-dropped") ?? "").split(", ").sort().join();
    expect(dropped).toBe(named === "" ? "" : "reasoning_effort,temperature");
  });
});
