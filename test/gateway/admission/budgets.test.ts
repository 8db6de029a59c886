// Budgets through the HTTP endpoints: the possible cost of a request is reserved while it is in progress, on every path.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { accountBudgetStore } from "../../../src/store/access/account-budgets.ts";
import { keyStore } from "../../../src/store/access/keys.ts";
import type { Store } from "../../../src/store/engine/store.ts";
import { startTestApp, type TestApp, type TestAppOptions } from "../../support/app.ts";
import { chatAnswer, chatChunk, type FakeUpstream, HANG, sse, startUpstream } from "../../support/upstream.ts";

let up: FakeUpstream;
const apps: TestApp[] = [];

beforeAll(() => {
  up = startUpstream();
});
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.stop()));
  up.received.length = 0;
});
afterAll(() => up.stop());

/** Output costs one micro-dollar per token and input nothing, so that a request costs at most its limit. */
const routes = [{ provider: "up", model: "m" }];
const CONFIG = {
  usage: { flush: "1ms" },
  models: [
    { id: "priced", routes, prices: { input: 0, output: 1 }, max_output_tokens: 100_000 },
    { id: "unpriced", routes },
  ],
};
const CENT = 10_000;

async function start(options: Omit<TestAppOptions, "config"> & { config?: Record<string, unknown> } = {}) {
  const providers = { up: { kind: "openai", base_url: up.baseUrl, discover: false, retry: { attempts: 1 } } };
  const app = await startTestApp({
    ...options,
    key: { rpm: 1_000_000, ...options.key },
    config: { ...CONFIG, ...options.config, providers },
  });
  apps.push(app);
  return app;
}

const ask = (app: TestApp, more: Record<string, unknown> = {}, init: RequestInit = {}) =>
  app.call("/v1/chat/completions", {
    ...init,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "priced",
      max_tokens: CENT,
      messages: [{ role: "user", content: "hi" }],
      ...more,
    }),
  });

const usageOf = (tokens: number) => ({ prompt_tokens: 1, completion_tokens: tokens, total_tokens: tokens + 1 });
const answered = (tokens: number) => chatAnswer({ content: "x" }, { extra: { usage: usageOf(tokens) } });
const streamed = (tokens: number) =>
  sse([
    chatChunk({ role: "assistant", content: "x" }),
    chatChunk({}, { finish: "stop" }),
    chatChunk(null, { usage: usageOf(tokens) }),
    "data: [DONE]\n\n",
  ]);

async function codeOf(response: Response): Promise<[number, string, string | null]> {
  const body = (await response.json()) as { error?: { code: string } };
  return [response.status, body.error?.code ?? "", response.headers.get("retry-after")];
}
const SPENT: [number, string, string | null] = [402, "budget_exceeded", null];
const IN_USE: [number, string, string | null] = [429, "rate_limit_exceeded", "2"];

async function beside<T>(app: TestApp, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await app.openStore();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const spentBy = (app: TestApp) =>
  beside(app, async (store) => (await keyStore(store).listKeys(app.accountId))[0]?.spentMicros);

describe.each([
  ["whole", false],
  ["streamed", true],
])("%s", (_, stream) => {
  test("sixty at once over two cents, a cent each: two are answered, and no more is spent", async () => {
    const app = await start({ key: { budgetMicros: 2 * CENT } });
    const gate = Promise.withResolvers<void>();
    up.answer(async () => {
      await gate.promise;
      return stream ? streamed(CENT) : answered(CENT);
    });
    let refused = 0;
    const answers = Array.from({ length: 60 }, async () => {
      const response = await ask(app, { stream });
      if (response.status !== 200 && ++refused === 58) gate.resolve();
      if (response.status === 200) await response.text();
      else expect(await codeOf(response)).toEqual(IN_USE);
      return response.status;
    });
    expect((await Promise.all(answers)).filter((status) => status === 200)).toHaveLength(2);
    expect(up.received).toHaveLength(2);
    expect(await codeOf(await ask(app, { stream }))).toEqual(SPENT);
    await app.restart();
    expect(await codeOf(await ask(app, { stream }))).toEqual(SPENT);
    expect(await spentBy(app)).toBe(2 * CENT);
  });

  test("unused reservations are released; the last remainder admits one request of any size", async () => {
    const app = await start({ key: { budgetMicros: 2 * CENT } });
    up.answer(() => (stream ? streamed(CENT / 4) : answered(CENT / 4)));
    for (let i = 0; i < 7; i++) expect(await (await ask(app, { stream })).text()).toContain("x");
    // A quarter of a cent is left, and nothing is in progress.
    const gate = Promise.withResolvers<void>();
    const gone = up.next();
    up.answer(async () => {
      await gate.promise;
      return stream ? streamed(CENT) : answered(CENT);
    });
    const last = ask(app, { stream });
    await gone;
    expect(await codeOf(await ask(app, { stream, max_tokens: 1 }))).toEqual(IN_USE);
    gate.resolve();
    const response = await last;
    expect([response.status, (await response.text()).length > 0]).toEqual([200, true]);
    expect(await codeOf(await ask(app, { stream, max_tokens: 1 }))).toEqual(SPENT);
  });

  test.each([
    ["refuses", () => Response.json({ error: { message: "no" } }, { status: 400 }), 400],
    ["fails", () => new Response("down", { status: 500 }), 502],
    ["says nonsense", () => new Response("{", { headers: { "content-type": "application/json" } }), 502],
  ])("a provider that %s leaves the budget as it was", async (_, script, status) => {
    const app = await start({ key: { budgetMicros: CENT } });
    for (let i = 0; i < 3; i++) {
      up.answer(script);
      expect((await ask(app, { stream })).status).toBe(status);
    }
    up.answer(() => answered(CENT));
    expect((await ask(app)).status).toBe(200);
    expect(await codeOf(await ask(app))).toEqual(SPENT);
  });

  test("the reservation of a client that disconnects before the answer is released", async () => {
    const app = await start({ key: { budgetMicros: CENT }, peekMs: 20 });
    up.answer(() => new Promise<Response>(() => {}));
    const leaving = new AbortController();
    const next = up.next();
    const left = ask(app, { stream }, { signal: leaving.signal })
      .then((response) => response.text())
      .catch(() => "gone");
    const received = await next;
    expect(await codeOf(await ask(app))).toEqual(IN_USE);
    leaving.abort();
    await Promise.all([received.aborted, left]);
    up.answer(() => answered(CENT));
    // The server notices a moment later that the client has gone.
    let status = 429;
    while (status === 429) status = (await ask(app)).status;
    expect(status).toBe(200);
  });
});

test("a client that disconnects during a stream pays for the part that was sent, and its reservation ends", async () => {
  const app = await start({ key: { budgetMicros: CENT } });
  up.answer(() => sse([chatChunk({ role: "assistant", content: "one two three" }), HANG]));
  const leaving = new AbortController();
  const next = up.next();
  const response = await ask(app, { stream: true }, { signal: leaving.signal });
  await response.body!.getReader().read();
  leaving.abort();
  await (await next).aborted;
  up.answer(() => answered(CENT));
  let status = 429;
  while (status === 429) status = (await ask(app)).status;
  expect(status).toBe(200);
  expect(await codeOf(await ask(app))).toEqual(SPENT);
});

describe("several prompts are one request", () => {
  const complete = (app: TestApp, stream = false) =>
    app.post("/v1/completions", { model: "priced", prompt: ["a", "b", "c", "d", "e", "f"], max_tokens: CENT, stream });

  test.each([[false], [true]])("their cost is reserved and settled together, stream %p", async (stream) => {
    const app = await start({ key: { budgetMicros: 7 * CENT } });
    const gate = Promise.withResolvers<void>();
    const next = up.next();
    up.answer(async () => {
      await gate.promise;
      return stream ? streamed(CENT) : answered(CENT);
    });
    const whole = complete(app, stream);
    await next;
    expect(await codeOf(await ask(app, { max_tokens: CENT + 1 }))).toEqual(IN_USE);
    gate.resolve();
    const response = await whole;
    expect([response.status, (await response.text()).length > 0]).toEqual([200, true]);
    expect((await ask(app, { stream })).status).toBe(200);
    expect(await codeOf(await ask(app, { stream }))).toEqual(SPENT);
  });

  test("if one of them fails, the reservation of all is released", async () => {
    const app = await start({ key: { budgetMicros: 6 * CENT } });
    up.answer(({ text }) => (text.includes('"c"') ? new Response("down", { status: 500 }) : answered(0)));
    expect((await complete(app)).status).toBe(502);
    up.answer(() => answered(CENT));
    let status = 429;
    while (status === 429) status = (await complete(app)).status;
    expect(status).toBe(200);
    expect(await codeOf(await complete(app))).toEqual(SPENT);
  });
});

test("a model without prices is served even when the budget is reserved completely, and costs nothing", async () => {
  const app = await start({ key: { budgetMicros: CENT } });
  const gate = Promise.withResolvers<void>();
  const next = up.next();
  up.answer(async () => {
    await gate.promise;
    return answered(CENT);
  });
  const dear = ask(app);
  await next;
  up.answer(() => answered(1_000_000));
  for (let i = 0; i < 3; i++) expect((await ask(app, { model: "unpriced" })).status).toBe(200);
  gate.resolve();
  expect((await dear).status).toBe(200);
});

describe("budgets of accounts", () => {
  const plan = (budget: Record<string, unknown>) => ({ tiers: { premium: { budget } } });
  const secondKey = (app: TestApp) =>
    beside(app, (store) => keyStore(store).createKey({ accountId: app.accountId, name: "second", rpm: 1000 }));

  test("the plan's budget counts all keys together, and survives a restart", async () => {
    const app = await start({ config: plan({ usd: 0.02 }) });
    const { key } = await secondKey(app);
    up.answer(() => answered(CENT));
    const other = () =>
      app.call("/v1/chat/completions", {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "priced", max_tokens: CENT, messages: [{ role: "user", content: "hi" }] }),
      });
    expect((await ask(app)).status).toBe(200);
    expect((await other()).status).toBe(200);
    for (const refused of [await ask(app), await other()]) {
      const { error } = (await refused.json()) as { error: { code: string; message: string } };
      expect([refused.status, error.code, error.message]).toEqual([
        402,
        "budget_exceeded",
        expect.stringMatching(
          /^The budget of this account is used up: \$[\d.]+ of \$[\d.]+\. It is (?:never reset|reset on )/,
        ),
      ]);
    }
    await app.restart();
    expect(await codeOf(await other())).toEqual(SPENT);
  });

  test("requests of different keys reserve from it together", async () => {
    const app = await start({ config: plan({ usd: 0.01 }) });
    const { key } = await secondKey(app);
    const gate = Promise.withResolvers<void>();
    const next = up.next();
    up.answer(async () => {
      await gate.promise;
      return answered(CENT);
    });
    const first = ask(app);
    await next;
    const body = { model: "priced", max_tokens: 1, messages: [{ role: "user", content: "hi" }] };
    const authorization = `Bearer ${key}`;
    expect(await codeOf(await app.post("/v1/chat/completions", body, { authorization }))).toEqual(IN_USE);
    gate.resolve();
    expect((await first).status).toBe(200);
  });

  test("a budget that the operator sets for an account applies at once, and takes precedence over the plan's", async () => {
    const app = await start({ config: plan({ usd: 0 }) });
    up.answer(() => answered(CENT));
    expect(await codeOf(await ask(app))).toEqual(SPENT);
    const until = async (wanted: number) => {
      let status: number;
      do status = (await ask(app)).status;
      while (status !== wanted);
    };
    const budgets = <T>(work: (verbs: ReturnType<typeof accountBudgetStore>) => Promise<T>) =>
      beside(app, (store) => work(accountBudgetStore(store)));
    await budgets((verbs) => verbs.setAccountBudget(app.accountId, { limitMicros: 2 * CENT, periodMs: null }));
    await until(200);
    expect((await ask(app)).status).toBe(200);
    expect(await codeOf(await ask(app))).toEqual(SPENT);
    await budgets((verbs) => verbs.setAccountBudget(app.accountId, null));
    await until(200);
    for (let i = 0; i < 5; i++) expect((await ask(app)).status).toBe(200);
    await budgets((verbs) => verbs.clearAccountBudget(app.accountId));
    await until(402);
  });

  test("both the key's and the account's budget must suffice", async () => {
    const app = await start({ config: plan({ usd: 1 }), key: { budgetMicros: CENT } });
    up.answer(() => answered(CENT));
    expect((await ask(app)).status).toBe(200);
    const refused = (await (await ask(app)).json()) as { error: { message: string; details: unknown } };
    expect(refused.error).toMatchObject({
      message: "The budget of this key is used up: $0.01 of $0.01. It is never reset; the key's owner can raise it.",
      details: { scope: "key", spent: 0.01, limit: 0.01, resets_at: null },
    });
  });

  test("a plan's budget follows the configuration", async () => {
    const app = await start();
    up.answer(() => answered(CENT));
    const providers = { up: { kind: "openai", base_url: up.baseUrl, discover: false } };
    await app.reconfigure({ ...CONFIG, providers, ...plan({ usd: 0.01 }) });
    expect((await ask(app)).status).toBe(200);
    expect(await codeOf(await ask(app))).toEqual(SPENT);
    await app.reconfigure({ ...CONFIG, providers });
    expect((await ask(app)).status).toBe(200);
  });
});

test("a summary is not refused because of what its own request may cost", async () => {
  const tight = { id: "tight", routes, prices: { input: 0, output: 1 }, context_length: 4000 };
  const app = await start({ key: { budgetMicros: CENT }, config: { models: [tight] } });
  up.answer(({ text }) =>
    text.includes("You keep the record")
      ? chatAnswer({ content: "## Task\nTalk." }, { extra: { usage: usageOf(10) } })
      : answered(10),
  );
  const messages = Array.from({ length: 40 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `turn ${at} ${"and so on ".repeat(60)}`,
  }));
  // The request may cost as much as is left or more. It is accepted because no other request is in progress.
  const answer = await ask(app, { model: "tight", max_tokens: 2 * CENT, messages, thread_id: "t" });
  expect([answer.status, answer.headers.get("x-sallyport-compaction")?.split(";")[0]]).toEqual([200, "compacted"]);
});
