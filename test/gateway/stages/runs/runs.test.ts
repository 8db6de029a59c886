// Agent runs: what names one, and that a limit of its requests, its cost or equal tool calls stops it in every format.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { conversationOf, runInHeaders } from "../../../../src/gateway/stages/runs/names.ts";
import { runStore } from "../../../../src/store/work/runs.ts";
import { alerts as storedAlerts } from "../../../../src/store/work/schema.ts";
import { startTestApp } from "../../../support/app.ts";
import { say } from "../../../support/fake-model.ts";
import { CLIENT_FORMATS } from "../../../support/heard.ts";
import { startUpstream } from "../../../support/upstream.ts";

type Json = Record<string, unknown>;

const upstream = startUpstream();
const alerts: Json[] = [];
const webhook = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    alerts.push((await request.json()) as Json);
    return new Response();
  },
});
const config = (runs: Json) => ({
  alerts: { webhook: webhook.url.href, webhook_secret: "a secret of alerts" },
  tiers: { free: { rpm: 1_000_000, runs } },
  usage: { flush: "1ms" },
  providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
  // Ten tokens of output cost one cent.
  models: ["m", "m-two"].map((id) => ({
    id,
    routes: [{ provider: "up", model: `up-${id}` }],
    prices: { input: 0, output: 1000 },
  })),
});
const app = await startTestApp({ tier: "free", config: config({}) });
afterAll(async () => {
  await app.stop();
  upstream.stop();
  webhook.stop(true);
});

let asked = 0;
let named = 0;
beforeEach(() => {
  asked = 0;
  named += 1;
  upstream.answer((received) => {
    asked += 1;
    return say(received, { text: "Yes.", usage: { input: 5, output: 10 } });
  });
});

const limits = (runs: Json) => app.reconfigure(config(runs));
const BODY = { model: "m", messages: [{ role: "user", content: "Go." }], max_tokens: 10 };
/** A request of this test's own run. */
const step = (more: Json = {}, headers: Record<string, string> = { "x-sallyport-run": `run ${named}` }) =>
  app.post("/v1/chat/completions", { ...BODY, ...more }, headers);

async function runs() {
  const store = await app.openStore();
  try {
    return await runStore(store).listRuns(app.accountId, { limit: 100 });
  } finally {
    await store.close();
  }
}

/** Lets this test's run go on. */
async function allow(more: { micros?: number; requests?: number }) {
  const run = (await runs())[0]!;
  const store = await app.openStore();
  await runStore(store).allowRun(app.accountId, run.id, more);
  await store.close();
}

async function errorOf(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; message: string; details: Json } };
  return { status: response.status, ...error };
}

for (const format of CLIENT_FORMATS) {
  test.each([false, true])(
    `${format.name}: a run at its limit gets 402 and a sentence for its person, streamed: %p`,
    async (stream) => {
      await limits({ requests: 1 });
      const send = () => {
        const body = { ...format.body({ stream, tools: false }), model: "m" };
        const path = format.name.startsWith("gemini") ? format.path.replace(/models\/[^:]*/, "models/m") : format.path;
        return app.post(path, body, { "x-sallyport-run": `run ${named}` });
      };
      const first = await send();
      await first.text();
      expect(first.status).toBe(200);
      const refused = await send();
      const body: unknown = await refused.json();
      expect(refused.status).toBe(402);
      expect(JSON.stringify(format.refusal(body))).toContain("This agent run is paused: it has made 1 requests");
      expect(asked).toBe(1);
      const [run] = await runs();
      expect(run).toMatchObject({ name: `x-sallyport-run: run ${named}`, admitted: 1, stopped: "requests" });
    },
  );
}

test("of requests that arrive together, exactly as many as the limit pass, and after it is raised as many more", async () => {
  await limits({ requests: 7 });
  const together = async () => {
    const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await step()).status));
    return statuses.filter((status) => status === 200).length;
  };
  expect(await together()).toBe(7);
  expect(await errorOf(await step())).toMatchObject({
    status: 402,
    code: "run_limit_reached",
    details: { limit: "requests", spent: 7, run: (await runs())[0]!.id },
  });
  await allow({ requests: 5 });
  expect(await together()).toBe(5);
  expect(asked).toBe(12);
  // One alert each time that it is stopped, however many requests are refused.
  const { id } = (await runs())[0]!;
  const own = () => alerts.filter(({ subject }) => subject === id);
  while (own().length < 2) await new Promise((resolve) => setImmediate(resolve));
  const alert = {
    type: "run_limit",
    subject: id,
    details: { run: id, limit: "requests", page: `${app.url}/dashboard/runs/${id}` },
  };
  expect(own()).toMatchObject([alert, alert]);
  // They are deleted some time after the run has ended, since there are as many runs as a client likes.
  const store = await app.openStore();
  const stored = (await store.db.select().from(storedAlerts).all()).filter(({ event }) => event.includes(id));
  await store.close();
  expect(stored.length).toBeGreaterThan(0);
  for (const { expiresAtMs } of stored) expect(expiresAtMs).toBeLessThan(Date.now() + 366 * 86_400_000);
});

test("names that are kept in memory are short, whatever a client writes", () => {
  const long = "x".repeat(10_000);
  expect(runInHeaders({ asker: { header: () => long } })).toHaveLength(250);
  const conversation = (body: Json, userAgent = "") =>
    conversationOf({ chat: { messages: [] } as never, body, options: { userAgent } });
  expect(conversation({ prompt_cache_key: long }, "codex_cli_rs/1.0")).toHaveLength(250);
  expect(conversation({ conversation: { id: long } })).toHaveLength(250);
});

test("a run stops at its limit of cost, exceeds it by no request in parallel, and goes on when more is allowed", async () => {
  await limits({ usd: 0.05 });
  const together = async () => {
    for (let passed = 0; ; ) {
      const responses = await Promise.all(Array.from({ length: 10 }, () => step()));
      passed += responses.filter(({ status }) => status === 200).length;
      const refused = responses.find(({ status }) => status === 402);
      // Others in progress may use up the rest.
      expect(responses.every(({ status }) => [200, 402, 429].includes(status))).toBe(true);
      if (refused !== undefined) return { passed, refused: await errorOf(refused) };
    }
  };
  const first = await together();
  expect(first).toMatchObject({
    passed: 5,
    refused: { code: "run_limit_reached", details: { limit: "usd", spent: 0.05 } },
  });
  expect(first.refused.message).toContain("it has cost $0.05, and its limit is $0.05.");
  await allow({ micros: 20_000 });
  expect(await together()).toMatchObject({ passed: 2, refused: { details: { limit: "usd", spent: 0.07 } } });
  expect((await runs())[0]).toMatchObject({ requests: 7, costMicros: 70_000, stopped: "usd", stoppedLimit: 50_000 });
});

const call = (id: string) => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "look", arguments: '{"at":1}' } }],
});
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "Nothing." });

test("an agent that repeats a call is stopped, and goes on as often again once it is allowed", async () => {
  await limits({ repeats: 3 });
  const history = (calls: number) => [
    ...BODY.messages,
    ...Array.from({ length: calls }, (_, at) => [call(`c${at}`), result(`c${at}`)]).flat(),
  ];
  const statusOf = async (calls: number) => (await step({ messages: history(calls) })).status;
  expect([await statusOf(1), await statusOf(2)]).toEqual([200, 200]);
  const refused = await errorOf(await step({ messages: history(3) }));
  expect(refused).toMatchObject({ status: 402, code: "run_limit_reached", details: { limit: "repeats", spent: 3 } });
  expect(refused.message).toContain("the same tool calls 3 times in a row");
  // What is refused is not counted.
  expect((await runs())[0]).toMatchObject({ admitted: 2, stopped: "repeats" });
  await allow({});
  expect([await statusOf(3), await statusOf(5), await statusOf(6)]).toEqual([200, 200, 402]);
});

test("a history that the gateway stores is looked through too", async () => {
  await limits({ repeats: 2 });
  let previous: unknown;
  const statuses: number[] = [];
  upstream.answer((received) => say(received, { calls: [{ id: `call_${++asked}`, name: "look", args: { at: 1 } }] }));
  for (const turn of [0, 1, 2]) {
    const input = turn === 0 ? "Go." : [{ type: "function_call_output", call_id: `call_${turn}`, output: "Nothing." }];
    const tools = [{ type: "function", name: "look", parameters: {} }];
    const body = { model: "m", input, tools, ...(turn === 0 ? {} : { previous_response_id: previous }) };
    const response = await app.post("/v1/responses", body, { "x-sallyport-run": `run ${named}` });
    statuses.push(response.status);
    previous = ((await response.json()) as Json)["id"];
  }
  expect(statuses).toEqual([200, 200, 402]);
});

const CODEX = { "user-agent": "codex_exec/0.169.0 (Linux)" };
const CLAUDE = { "user-agent": "claude-cli/2.1.330 (external, sdk-cli)" };
const NAMED: readonly (readonly [what: string, headers: Record<string, string>, more: Json, name: string])[] = [
  ["its own header", { "x-sallyport-run": "r", "session-id": "s" }, {}, "x-sallyport-run: r"],
  [
    "Claude Code's session",
    { "x-claude-code-session-id": "c", "x-claude-code-agent-id": "sub" },
    {},
    "x-claude-code-session-id: c",
  ],
  ["Codex's session", { ...CODEX, "session-id": "s", "thread-id": "t" }, {}, "session-id: s"],
  ["an older Codex's session", { ...CODEX, session_id: "s" }, {}, "session_id: s"],
  ["a thread", { "thread-id": "t" }, {}, "thread-id: t"],
  ["Codex's cache key", CODEX, { prompt_cache_key: "k" }, "prompt_cache_key: k"],
  ["another client's cache key, which says nothing", {}, { prompt_cache_key: "k" }, "opening: "],
  ["another client's user", CODEX, { user: "u" }, "opening: "],
];

test.each(NAMED)("a run is named by %s", async (_what, headers, more, name) => {
  await limits({ requests: 1000 });
  expect((await step(more, headers)).status).toBe(200);
  expect((await runs())[0]!.name).toStartWith(name);
});

test("Claude Code's user names a run, that of others does not", async () => {
  await limits({ requests: 1000 });
  const send = (headers: Record<string, string>) =>
    app.post("/v1/messages", { ...OWN, metadata: { user_id: "u_session" } }, headers);
  const OWN = { ...BODY, messages: [{ role: "user", content: "Of nobody." }] };
  await send(CLAUDE);
  expect((await runs())[0]!.name).toStartWith("metadata.user_id: ");
  await send({});
  expect((await runs())[0]!.name).toStartWith("opening: ");
});

test("the turns of a conversation without a name are one run, another conversation is another", async () => {
  await limits({ requests: 2 });
  const first = { role: "user", content: `Conversation ${named}.` };
  const turns = [[first], [first, { role: "assistant", content: "Yes." }, { role: "user", content: "And?" }]];
  for (const messages of turns) expect((await step({ messages }, {})).status).toBe(200);
  expect((await step({ messages: turns[1] }, {})).status).toBe(402);
  expect((await step({ messages: [{ role: "user", content: `Another ${named}.` }] }, {})).status).toBe(200);
});

test("the turns of a stored conversation are one run, on a node that did not give the answer too", async () => {
  await limits({ requests: 3 });
  const ask = async (input: string, previous?: unknown) => {
    const response = await app.post("/v1/responses", { model: "m", input, previous_response_id: previous });
    return { status: response.status, id: ((await response.json()) as Json)["id"] };
  };
  const first = await ask(`Stored ${named}.`);
  const second = await ask("Go on.", first.id);
  const run = (await runs())[0]!;
  expect([second.status, run.admitted]).toEqual([200, 2]);
  while ((await runs())[0]?.requests !== 2) await new Promise((resolve) => setImmediate(resolve));
  await app.restart(config({ requests: 3 }));
  const third = await ask("Go on.", second.id);
  expect([third.status, (await ask("Go on.", third.id)).status]).toEqual([200, 402]);
  expect((await runs())[0]).toMatchObject({ id: run.id, admitted: 3 });
});

test("without a limit, requests that name a run are noted as its own, and others are not", async () => {
  await limits({});
  const before = (await runs()).length;
  await step({}, {});
  for (let at = 0; at < 3; at++) expect((await step()).status).toBe(200);
  const [run] = await runs();
  expect(await runs()).toHaveLength(before + 1);
  const store = await app.openStore();
  const rows = async () =>
    await store.statement("SELECT run_id FROM usage WHERE run_id IS NOT NULL AND run_id = ?").all([run!.id]);
  // They are written behind the answers.
  while ((await rows()).length < 3) await new Promise((resolve) => setImmediate(resolve));
  await store.close();
  expect((await runs())[0]).toMatchObject({
    admitted: 0,
    requests: 3,
    inputTokens: 15,
    outputTokens: 30,
    costMicros: 30_000,
  });
});

test("a request that is asked of several models counts once", async () => {
  await limits({ requests: 1, usd: 1 });
  upstream.answer((received) => {
    asked += 1;
    return asked < 3 ? new Response("down", { status: 500 }) : say(received, { text: "Yes." });
  });
  const response = await step({ model: "m", models: ["m", "m-two"] });
  expect([response.status, (await runs())[0]!.admitted]).toEqual([200, 1]);
});
