// Where system text that comes after the first turn stands upstream, for every client format over every protocol: in its place where
// the protocol and the model have one, else at the top, in its order. Nothing of it is lost, and nothing is told in another role.

import { afterAll, describe, expect, test } from "bun:test";
import { startTestApp } from "../support/app.ts";
import { dialectOf, say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;
type Turn = readonly [role: "system" | "developer" | "user" | "assistant", text: string];

const upstream = startUpstream((received) => say(received, { text: "Hi.", usage: { input: 1, output: 1 } }));
const ROUTES = {
  chat: { kind: "openai", model: "some-model" },
  responses: { kind: "openai-responses", model: "some-model" },
  "claude-5": { kind: "anthropic", model: "claude-opus-5" },
  "claude-4": { kind: "anthropic", model: "claude-sonnet-4-5" },
  gemini: { kind: "gemini", model: "gemini-3.8-flash" },
} as const;
type Route = keyof typeof ROUTES;
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      Object.entries(ROUTES).map(([name, { kind }]) => [
        name,
        { kind, base_url: upstream.baseUrl, api_key: "k", discover: false },
      ]),
    ),
    models: Object.entries(ROUTES).map(([id, { model }]) => ({ id, routes: [{ provider: id, model }] })),
    tiers: { premium: { rpm: 100_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const asMessages = (turns: readonly Turn[]) => turns.map(([role, content]) => ({ role, content }));
/** Formats that have one word for system text say it with that word. */
const asSystem = (turns: readonly Turn[]) =>
  turns.map(([role, content]) => ({ role: role === "developer" ? "system" : role, content }));
const FORMATS: Readonly<
  Record<string, { path: string; headers?: Record<string, string>; body(turns: readonly Turn[]): Json }>
> = {
  chat: { path: "/v1/chat/completions", body: (turns) => ({ messages: asMessages(turns) }) },
  responses: { path: "/v1/responses", body: (turns) => ({ store: false, input: asMessages(turns) }) },
  messages: {
    path: "/v1/messages",
    headers: { "anthropic-version": "2026-10-21" },
    body: ([first, ...rest]) => ({ max_tokens: 100, system: first![1], messages: asSystem(rest) }),
  },
  ollama: { path: "/api/chat", body: (turns) => ({ stream: false, messages: asSystem(turns) }) },
};

/** The turns of a request as it was sent. */
function turnsIn(path: string, json: Json): Turn[] {
  const textOf = (content: unknown): string =>
    Array.isArray(content) ? content.map((part: Json) => String(part["text"])).join("+") : String(content);
  const turns = (list: unknown): Turn[] =>
    (list as Json[]).map((one) => {
      const role = one["role"] === "model" ? "assistant" : one["role"] === "developer" ? "system" : one["role"];
      return [role as Turn[0], textOf(one["content"] ?? one["parts"])];
    });
  const top = (content: unknown): Turn[] => (content === undefined ? [] : [["system", textOf(content)]]);
  switch (dialectOf(path)) {
    case "openai-chat":
      return turns(json["messages"]);
    case "openai-responses":
      return [...top(json["instructions"] ?? undefined), ...turns(json["input"])];
    case "gemini":
      return [...top((json["systemInstruction"] as Json | undefined)?.["parts"]), ...turns(json["contents"])];
    default:
      return [...top(json["system"]), ...turns(json["messages"])];
  }
}

const TOP: Turn = ["system", "top"];
/** What is sent in a history, by the protocols that have a place for late system text, by Claude, and by those that have none. */
const HISTORIES: Readonly<Record<string, { said: readonly Turn[]; claude: readonly Turn[]; top: readonly Turn[] }>> = {
  "at the end": {
    said: [TOP, ["user", "a"], ["assistant", "b"], ["user", "c"], ["developer", "late"]],
    claude: [TOP, ["user", "a"], ["assistant", "b"], ["user", "c"], ["system", "late"]],
    top: [
      ["system", "top+late"],
      ["user", "a"],
      ["assistant", "b"],
      ["user", "c"],
    ],
  },
  "before an answer": {
    said: [TOP, ["user", "a"], ["developer", "late"], ["assistant", "b"], ["user", "c"]],
    claude: [TOP, ["user", "a"], ["system", "late"], ["assistant", "b"], ["user", "c"]],
    top: [
      ["system", "top+late"],
      ["user", "a"],
      ["assistant", "b"],
      ["user", "c"],
    ],
  },
  // After an answer Claude takes none before the user's turn.
  "after an answer": {
    said: [TOP, ["user", "a"], ["assistant", "b"], ["developer", "late"], ["user", "c"]],
    claude: [TOP, ["user", "a"], ["assistant", "b"], ["user", "c"], ["system", "late"]],
    top: [
      ["system", "top+late"],
      ["user", "a"],
      ["assistant", "b"],
      ["user", "c"],
    ],
  },
  "twice, in both words": {
    said: [TOP, ["user", "a"], ["developer", "first"], ["assistant", "b"], ["user", "c"], ["system", "second"]],
    claude: [TOP, ["user", "a"], ["system", "first"], ["assistant", "b"], ["user", "c"], ["system", "second"]],
    top: [
      ["system", "top+first+second"],
      ["user", "a"],
      ["assistant", "b"],
      ["user", "c"],
    ],
  },
};

const expectedOf = (route: Route, { said, claude, top }: (typeof HISTORIES)[string]): readonly Turn[] => {
  if (route === "claude-5") return claude;
  if (route === "claude-4" || route === "gemini") return top;
  return said.map(([role, text]) => [role === "developer" ? "system" : role, text]);
};

describe.each(Object.keys(FORMATS))("%s client", (format) => {
  const { path, headers = {}, body } = FORMATS[format]!;
  // Between the same formats the client's order goes up as it is.
  const routes = (Object.keys(ROUTES) as Route[]).filter(
    (route) => format !== "messages" || !route.startsWith("claude"),
  );

  test.each(routes.flatMap((route) => Object.keys(HISTORIES).map((name) => [route, name] as const)))(
    "%s: system text %s",
    async (route, name) => {
      const history = HISTORIES[name]!;
      const answer = await app.post(path, { model: route, ...body(history.said) }, headers);
      const text = await answer.text();
      expect([answer.status, answer.status === 200 ? "" : text]).toEqual([200, ""]);
      const { path: sentTo, json } = upstream.received.at(-1)!;
      expect(turnsIn(sentTo, json ?? {})).toEqual([...expectedOf(route, history)] as Turn[]);
      expect(answer.headers.get("x-sallyport-dropped")).toBeNull();
    },
  );
});

test.each(["claude-5", "claude-4"])("messages clients keep their order over %s", async (model) => {
  for (const { said } of Object.values(HISTORIES)) {
    const sent = FORMATS["messages"]!.body(said);
    const { path, headers = {} } = FORMATS["messages"]!;
    expect((await app.post(path, { model, ...sent }, headers)).status).toBe(200);
    expect(upstream.received.at(-1)!.json).toMatchObject(sent);
  }
});
