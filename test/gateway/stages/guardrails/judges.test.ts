// Guardrails that judge a request or an answer as a whole: schemas, webhooks and decisions, in every client format, whole and
// streamed.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { startTestApp } from "../../../support/app.ts";
import { DIALECTS, KINDS, type Said, say } from "../../../support/fake-model.ts";
import { CLIENT_FORMATS, type ClientFormat, type Heard } from "../../../support/heard.ts";
import { type Received, type Script, startUpstream } from "../../../support/upstream.ts";

type Json = Record<string, unknown>;

const SECRET = "whsec-planted";
const upstream = startUpstream();
const { host, origin } = new URL(upstream.baseUrl);
const routed = (id: string, provider: string) => ({ id, routes: [{ provider, model: "up-model" }] });
const hook = (name: string, more: Json = {}) => ({
  name,
  check: { kind: "webhook", url: `${origin}/hook`, headers: { "x-own": "1" } },
  apply: { models: [`${name}-*`] },
  ...more,
});
const question = { instructions: "Is it harmful?" };
const decided = (name: string, check: Json = {}, more: Json = {}) => ({
  name,
  on: ["input"],
  check: { kind: "decision", model: "judge", question, at_least: 0.7, ...check },
  apply: { models: [`${name}-*`] },
  ...more,
});
const GUARDRAILS = [
  { name: "pii", on: ["input"], check: { kind: "pii", find: ["email"] }, action: "mask" },
  hook("asked", { on: ["input"] }),
  hook("said", { on: ["output"] }),
  hook("late", { on: ["input", "output"], timeout: "50ms" }),
  hook("lenient", { on: ["input", "output"], on_error: "pass" }),
  hook("noted", { on: ["input", "output"], action: "note" }),
  decided("beside"),
  decided("before", { beside: false }),
  decided("output", {}, { on: ["output"] }),
  {
    name: "shaped",
    check: { kind: "schema", schema: { type: "object", required: ["a"], properties: { a: { pattern: "^(x+)+$" } } } },
    apply: { models: ["shaped-*"] },
  },
];
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      DIALECTS.map((name) => [
        name,
        { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      ]),
    ),
    models: [
      { id: "embed", kind: "embedding", routes: [{ provider: "openai-chat", model: "e" }] },
      ...GUARDRAILS.flatMap(({ name }) => DIALECTS.map((dialect) => routed(`${name}-${dialect}`, dialect))),
    ],
    decisions: {
      models: [{ id: "judge", backend: { kind: "systemone", routes: [{ provider: "openai-chat", model: "j" }] } }],
    },
    web: { allow_caller_data: [host] },
    alerts: { webhook_secret: SECRET },
    guardrails: [...GUARDRAILS, hook("embeds", { apply: { models: ["embed"] } })],
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
});

const isHook = ({ path }: Received) => path === "/hook";
const isDecision = ({ path }: Received) => path.endsWith("/systemone");
const calls = () => upstream.received.filter((one) => !isHook(one) && !isDecision(one));
const hooks = () => upstream.received.filter(isHook);

/** What each of the three servers says. */
function script({ said, verdict, noul = 0 }: { said: Said & { stream: boolean }; verdict?: Script; noul?: number }) {
  upstream.answer((received) => {
    if (isHook(received)) return verdict?.(received) ?? Response.json({ action: "allow" });
    if (isDecision(received)) {
      return Response.json({ model: "j", answers: { asked: { type: "noul", noul } }, usage: { input_tokens: 3 } });
    }
    return say(received, said);
  });
}

/** The body of a format with another text of its user. */
const bodyOf = (format: ClientFormat, text: string, stream: boolean): Json =>
  JSON.parse(JSON.stringify(format.body({ stream, tools: true })).replaceAll("How is it?", text)) as Json;

async function ask(format: ClientFormat, model: string, text: string, asked: Parameters<typeof script>[0]) {
  script(asked);
  const { stream } = asked.said;
  const response = await app.post(format.path, { ...bodyOf(format, text, stream), model });
  const raw = await response.text();
  const heard = (): Heard => (stream ? format.streamed(raw) : format.whole(JSON.parse(raw) as Json));
  return { heard, raw, response };
}

const ROWS = CLIENT_FORMATS.flatMap((format, at) => {
  const dialect = DIALECTS[at % DIALECTS.length]!;
  return [false, true].map((stream) => [format.name, dialect, stream, format] as const);
});
const ANSWER = { text: "For [EMAIL_1]: sunny.", calls: [{ id: "c_1", name: "weather", args: { city: "Oslo" } }] };
const textsIn = (json: Json | undefined) => (json?.["texts"] ?? []) as string[];
const replaced = (find: string, by: string): Script => {
  return ({ json }) => {
    const texts = textsIn(json).map((text) => text.replaceAll(find, by));
    return Response.json({ action: "replace", texts });
  };
};
const STOPS: Readonly<Record<string, unknown>> = {
  "openai-chat": "content_filter",
  "openai-completions": "content_filter",
  "openai-responses": "incomplete",
  "anthropic-messages": "refusal",
  gemini: "SAFETY",
  "ollama-chat": "stop",
  "ollama-generate": "stop",
};

test.each(ROWS)("a webhook replaces texts of a request: %s over %s, stream %p", async (_, dialect, stream, format) => {
  const said = { ...ANSWER, stream };
  const text = "I am ada@example.com of Bluebird.";
  const verdict = replaced("Bluebird", "Project");
  const { heard, response, raw } = await ask(format, `asked-${dialect}`, text, { said, verdict });
  expect(response.status, raw).toBe(200);
  const [asked] = hooks();
  expect(hooks()).toHaveLength(1);
  expect(asked!.json).toMatchObject({ guardrail: "asked", stage: "input", model: `asked-${dialect}` });
  expect(asked!.json?.["texts"]).toContain("I am [EMAIL_1] of Bluebird.");
  expect(asked!.headers.get("x-own")).toBe("1");
  const timestamp = asked!.headers.get("x-sallyport-timestamp");
  const digest = createHmac("sha256", SECRET).update(`${timestamp}.${asked!.text}`).digest("hex");
  expect(asked!.headers.get("x-sallyport-signature")).toBe(`sha256=${digest}`);
  expect(calls()[0]!.text).toContain("I am [EMAIL_1] of Project.");
  expect(heard().text).toBe("For ada@example.com: sunny.");
});

test.each(ROWS)("a webhook denies a request: %s over %s, stream %p", async (_, dialect, stream, format) => {
  const verdict = () => Response.json({ action: "deny" });
  const { response, raw } = await ask(format, `asked-${dialect}`, "Hi", { said: { ...ANSWER, stream }, verdict });
  expect(response.status).toBe(400);
  expect(raw).toContain("asked");
  expect(response.headers.get("x-sallyport-guardrails")).toBe("asked=denied");
  expect(calls()).toHaveLength(0);
});

test.each(ROWS)("a webhook replaces texts of an answer: %s over %s, stream %p", async (_, dialect, stream, format) => {
  const said = { ...ANSWER, stream, split: 3 };
  const verdict = replaced("sunny", "rainy");
  const { heard, response, raw } = await ask(format, `said-${dialect}`, "I am ada@example.com.", { said, verdict });
  expect(response.status, raw).toBe(200);
  expect(hooks()[0]!.json).toMatchObject({ stage: "output" });
  expect(hooks()[0]!.json?.["texts"]).toContain("For [EMAIL_1]: sunny.");
  expect(heard().text).toBe("For ada@example.com: rainy.");
  if (format.name !== "openai-completions")
    expect(heard().calls).toEqual([{ name: "weather", args: { city: "Oslo" } }]);
});

test.each(ROWS)("a webhook denies an answer: %s over %s, stream %p", async (_, dialect, stream, format) => {
  const verdict = () => Response.json({ action: "deny" });
  const said = { ...ANSWER, stream, usage: { input: 11, output: 7 } };
  const { heard, response, raw } = await ask(format, `said-${dialect}`, "Hi", { said, verdict });
  expect(response.status, raw).toBe(200);
  expect(raw).not.toMatch(/sunny|Oslo/);
  expect(heard()).toMatchObject({ text: "", calls: [], stop: STOPS[format.name], usage: { input: 11, output: 7 } });
});

const [CHAT] = CLIENT_FORMATS as [ClientFormat];
const PLAIN = { text: "Hi.", stream: false };

test("a webhook that cannot answer is asked once more", async () => {
  let asked = 0;
  const verdict = () => (asked++ === 0 ? new Response("", { status: 503 }) : Response.json({ action: "allow" }));
  const { response } = await ask(CHAT, "asked-openai-chat", "Hi", { said: PLAIN, verdict });
  expect([response.status, hooks().length]).toEqual([200, 2]);
});

const FAILURES: readonly (readonly [string, Script])[] = [
  ["fails twice", () => new Response("", { status: 500 })],
  ["refuses", () => new Response("", { status: 404 })],
  ["redirects", () => Response.redirect(`${origin}/other`)],
  ["says something else", () => Response.json({ action: "maybe" })],
  ["says no JSON", () => new Response("allow")],
  ["replaces too few texts", () => Response.json({ action: "replace", texts: [] })],
  [
    "replaces by what are no texts",
    ({ json }) => Response.json({ action: "replace", texts: textsIn(json).map(() => 1) }),
  ],
];

test.each(FAILURES)("a webhook that %s denies, or lets pass where it is configured so", async (_, verdict) => {
  const denied = await ask(CHAT, "asked-openai-chat", "Hi", { said: PLAIN, verdict });
  expect([denied.response.status, calls().length]).toEqual([400, 0]);
  const passed = await ask(CHAT, "lenient-openai-chat", "Hi", { said: PLAIN, verdict });
  expect(passed.response.status).toBe(200);
  expect(passed.heard().text).toBe("Hi.");
  expect(passed.response.headers.get("x-sallyport-guardrails")).toBe("lenient=failed");
  for (const stream of [false, true]) {
    const held = await ask(CHAT, "said-openai-chat", "Hi", { said: { ...PLAIN, stream }, verdict });
    expect(held.heard()).toMatchObject({ text: "", stop: "content_filter" });
  }
});

test("a webhook that is late denies", async () => {
  const verdict = () => new Promise<Response>(() => undefined);
  const { response } = await ask(CHAT, "late-openai-chat", "Hi", { said: PLAIN, verdict });
  expect([response.status, calls().length]).toEqual([400, 0]);
});

test("what a webhook of action note says is counted only", async () => {
  const verdict = () => Response.json({ action: "deny" });
  const { response, heard } = await ask(CHAT, "noted-openai-chat", "Hi", { said: PLAIN, verdict });
  expect(heard().text).toBe("Hi.");
  expect(response.headers.get("x-sallyport-guardrails")).toBe("noted=noted");
});

test.each(ROWS)(
  "a decision denies a request whose call has begun: %s over %s, stream %p",
  async (_, dialect, stream, format) => {
    const { response, raw } = await ask(format, `beside-${dialect}`, "Hi ada@example.com", {
      said: { ...ANSWER, stream },
      noul: 0.8,
    });
    expect(response.status, raw).toBe(400);
    expect(raw).not.toContain("sunny");
    expect(response.headers.get("x-sallyport-guardrails")).toContain("beside=denied");
    const state = upstream.received.find(isDecision)!.json?.["state"];
    expect(state).toContain("Hi [EMAIL_1]");
  },
);

test.each(ROWS)(
  "a decision below its threshold lets pass: %s over %s, stream %p",
  async (_, dialect, stream, format) => {
    for (const name of ["beside", "before", "output"]) {
      const asked = { said: { ...ANSWER, stream }, noul: 0.6 };
      const { heard } = await ask(format, `${name}-${dialect}`, "I am ada@example.com", asked);
      expect(heard().text).toBe("For ada@example.com: sunny.");
    }
  },
);

test("a decision before the call keeps it from being sent, and one on the answer denies it", async () => {
  const before = await ask(CHAT, "before-openai-chat", "Hi", { said: PLAIN, noul: 0.7 });
  expect([before.response.status, calls().length]).toEqual([400, 0]);
  const output = await ask(CHAT, "output-openai-chat", "Hi", { said: { ...PLAIN, stream: true }, noul: 0.7 });
  expect(output.heard()).toMatchObject({ text: "", stop: "content_filter" });
});

test("a decision costs no time: the call is under way while it is made, and nothing leaves before", async () => {
  const called = Promise.withResolvers<void>();
  const decision = Promise.withResolvers<Response>();
  upstream.answer((received) => {
    if (isDecision(received)) return decision.promise;
    called.resolve();
    return say(received, { text: "Hi." });
  });
  let isAnswered = false;
  const asking = app.post(CHAT.path, { ...bodyOf(CHAT, "Hi", true), model: "beside-openai-chat" }).then((response) => {
    isAnswered = true;
    return response.text();
  });
  await called.promise;
  expect(isAnswered).toBe(false);
  decision.resolve(Response.json({ model: "j", answers: { asked: { type: "noul", noul: 0 } } }));
  expect(CHAT.streamed(await asking).text).toBe("Hi.");
});

test("a decision that fails denies", async () => {
  upstream.answer((received) =>
    isDecision(received) ? new Response("", { status: 500 }) : say(received, { text: "Hi." }),
  );
  const response = await app.post(CHAT.path, { ...bodyOf(CHAT, "Hi", false), model: "beside-openai-chat" });
  expect(response.status).toBe(400);
});

test.each([
  ['{"a":"xx"}', true],
  ['{"b":1}', false],
  [`{"a":"${"x".repeat(5000)}y"}`, false],
  ["Sure!", false],
])("an answer must fit a schema: %s", async (text, fits) => {
  for (const stream of [false, true]) {
    const { heard } = await ask(CHAT, "shaped-openai-chat", "Hi", { said: { text, stream } });
    expect(heard()).toMatchObject(fits ? { text } : { text: "", stop: "content_filter" });
  }
});

test("a webhook looks through what is embedded", async () => {
  const answer = { object: "list", data: [{ object: "embedding", index: 0, embedding: [1] }], model: "m" };
  upstream.answer((received) =>
    isHook(received) ? replaced("blue", "red")(received) : Response.json({ ...answer, usage: { prompt_tokens: 1 } }),
  );
  const response = await app.post("/v1/embeddings", { model: "embed", input: "blue" });
  expect(response.status).toBe(200);
  expect(calls()[0]!.json).toMatchObject({ input: "red" });
  upstream.answer(() => Response.json({ action: "deny" }));
  expect((await app.post("/v1/embeddings", { model: "embed", input: "blue" })).status).toBe(400);
});
