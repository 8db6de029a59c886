// What an answer costs, in every protocol and for every client format, whole and streamed: by the service tier and speed that the
// answer names, by searches and by how long caches are kept. A client that asks for the cost is told what is booked.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { OpenRouter } from "@openrouter/sdk";
import { accountStore } from "../../src/store/access/accounts.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { DIALECTS, type DialectName, dialectOf, KINDS, say } from "../support/fake-model.ts";
import { CLIENT_FORMATS, type ClientFormat, DETAILED_FORMATS } from "../support/heard.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

/** What the upstream's answer names. */
interface Bill {
  name: string;
  service?: string;
  searches?: number;
  hourWrites?: number;
  /** The stream breaks off before its end. */
  isCut?: true;
  /** In micro-dollars; absent: as booked. */
  cost?: number;
  only?: readonly DialectName[];
}

const TOKENS = 100 * 1 + 50 * 10;
const OPENAI = ["openai-chat", "openai-responses"] as const;
const BILLS: readonly Bill[] = [
  { name: "plain", cost: TOKENS },
  { name: "priority", service: "priority", cost: 2 * TOKENS, only: [...OPENAI, "gemini"] },
  { name: "flex", service: "flex", cost: TOKENS / 2, only: [...OPENAI, "gemini"] },
  { name: "prefixed", service: "ON_DEMAND_PRIORITY", cost: 2 * TOKENS, only: ["gemini"] },
  { name: "default", service: "default", cost: TOKENS, only: OPENAI },
  { name: "unknown tier", service: "ultrafast", cost: TOKENS, only: OPENAI },
  { name: "fast", service: "fast", cost: 3 * TOKENS },
  { name: "searches", searches: 3, cost: TOKENS + 30_000 },
  { name: "fast with searches", service: "fast", searches: 2, cost: 3 * TOKENS + 20_000 },
  { name: "hour writes", hourWrites: 60, cost: TOKENS + 60, only: ["anthropic-messages"] },
  { name: "cut", isCut: true },
  { name: "cut and fast", isCut: true, service: "fast", only: ["anthropic-messages"] },
];
const UNPRICED = "unpriced";
const PRICES = { input: 1, output: 10, services: { priority: 2, flex: 0.5, fast: 3 }, per_search: 0.01 };

const tools = ({ searches }: Bill) =>
  searches === undefined ? {} : { server_tool_use: { web_search_requests: searches } };

/** Writes the bill into an answer or a frame of a stream. */
const BILLED: Readonly<Record<DialectName, (value: Json, bill: Bill) => Json>> = {
  "openai-chat": (value, bill) =>
    value["usage"] == null
      ? value
      : { ...value, service_tier: bill.service ?? null, usage: { ...(value["usage"] as Json), ...tools(bill) } },
  "openai-responses": (value, bill) => {
    const search = (i: number) => ({
      id: `ws_${i}`,
      type: "web_search_call",
      status: "completed",
      action: { type: "search", query: "q" },
    });
    const opened = {
      id: "ws_o",
      type: "web_search_call",
      status: "completed",
      action: { type: "open_page", url: "u" },
    };
    const put = (response: Json) => {
      const found =
        bill.searches === undefined ? [] : [...Array.from({ length: bill.searches }, (_, i) => search(i)), opened];
      const output = [...(response["output"] as Json[]), ...found];
      return { ...response, service_tier: bill.service ?? "default", output };
    };
    if (value["type"] === "response.completed") return { ...value, response: put(value["response"] as Json) };
    return value["object"] === "response" ? put(value) : value;
  },
  "anthropic-messages": (value, bill) => {
    const { hourWrites: ephemeral_1h_input_tokens = 0 } = bill;
    const put = (usage: Json) => ({
      ...usage,
      ...(bill.service === undefined ? {} : { speed: bill.service }),
      ...(usage["input_tokens"] === undefined ? {} : { input_tokens: 100 - ephemeral_1h_input_tokens }),
      ...(bill.hourWrites === undefined || usage["input_tokens"] === undefined
        ? {}
        : { cache_creation_input_tokens: ephemeral_1h_input_tokens, cache_creation: { ephemeral_1h_input_tokens } }),
    });
    const last = (usage: Json) => ({ ...usage, ...tools(bill) });
    if (value["type"] === "message_start") {
      const message = value["message"] as Json;
      return { ...value, message: { ...message, usage: put(message["usage"] as Json) } };
    }
    if (value["type"] === "message_delta") return { ...value, usage: last(value["usage"] as Json) };
    return value["usage"] === undefined ? value : { ...value, usage: last(put(value["usage"] as Json)) };
  },
  gemini: (value, bill) => {
    const usage = { ...(value["usageMetadata"] as Json), ...(bill.service ? { serviceTier: bill.service } : {}) };
    const webSearchQueries = Array.from({ length: bill.searches ?? 0 }, (_, i) => `q${i}`);
    const [first = {}] = (value["candidates"] ?? []) as Json[];
    const candidates =
      bill.searches === undefined ? value["candidates"] : [{ ...first, groundingMetadata: { webSearchQueries } }];
    return value["usageMetadata"] === undefined ? value : { ...value, candidates, usageMetadata: usage };
  },
};

function billed(dialect: DialectName, text: string, bill: Bill): string {
  if (!/^(?:event|data):/.test(text)) return JSON.stringify(BILLED[dialect](JSON.parse(text) as Json, bill));
  return text.replace(/(?<=^data: )\{.*\}$/gm, (data) =>
    JSON.stringify(BILLED[dialect](JSON.parse(data) as Json, bill)),
  );
}

interface Cell {
  dialect: DialectName;
  of: ClientFormat;
  stream: boolean;
  bill: Bill;
  name: string;
}

const CELLS: Cell[] = DIALECTS.flatMap((dialect) =>
  CLIENT_FORMATS.flatMap((of) =>
    [false, true].flatMap((stream) =>
      BILLS.filter(({ isCut, only }) => (stream || isCut !== true) && (only?.includes(dialect) ?? true)).map(
        (bill) => ({
          dialect,
          of,
          stream,
          bill,
          name: `${of.name}, ${bill.name}${stream ? ", stream" : ""}`,
        }),
      ),
    ),
  ),
);

let app: TestApp;
let up: FakeUpstream;
/** The bodies that the upstream received. */
const received: Json[] = [];
const results = new Map<Cell, { raw: string; header: string | null; requestId: string }>();
let booked: Map<string, { costMicros: number; inputTokens: number; outputTokens: number }>;

beforeAll(async () => {
  up = startUpstream(async (request) => {
    received.push(request.json ?? {});
    const dialect = dialectOf(request.path);
    const name = String(request.json?.["model"] ?? /models\/([^:]+):/.exec(request.path)?.[1]);
    const bill = BILLS[Number(name.slice(dialect.length + 1))] ?? BILLS[0]!;
    const text = "The weather in Lisbon is mild, with a light wind and a few clouds over the river.";
    const cut = bill.isCut === true ? { breaks: { after: 5, with: "end" as const } } : {};
    const response = say(request, { text, usage: { input: 100, output: 50 }, ...cut });
    return new Response(billed(dialect, await response.text(), bill), { headers: response.headers });
  });
  const provider = (dialect: DialectName) => ({
    kind: KINDS[dialect],
    base_url: up.baseUrl,
    api_key: "k",
    discover: false,
    retry: { attempts: 1 },
    // Answers that are cut count as failures.
    breaker: { failures: 1000 },
  });
  app = await startTestApp({
    key: { budgetMicros: 1e12 },
    config: {
      tiers: { premium: { rpm: 100_000 } },
      providers: Object.fromEntries(DIALECTS.map((dialect) => [dialect, provider(dialect)])),
      models: DIALECTS.flatMap((dialect) => [
        ...BILLS.map((_bill, at) => ({
          id: `${dialect}-${at}`,
          routes: [{ provider: dialect, model: `${dialect}-${at}` }],
          prices: PRICES,
        })),
        { id: `${dialect}-${UNPRICED}`, routes: [{ provider: dialect, model: `${dialect}-${UNPRICED}` }] },
      ]),
    },
  });
  const waiting = [...CELLS];
  const work = async () => {
    for (let cell = waiting.pop(); cell !== undefined; cell = waiting.pop()) {
      const { dialect, of, stream, bill } = cell;
      const response = await ask(of, stream, `${dialect}-${BILLS.indexOf(bill)}`, { usage: { include: true } });
      const requestId = response.headers.get("x-request-id")!;
      results.set(cell, { raw: await response.text(), header: response.headers.get("x-sallyport-cost"), requestId });
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  // The restart makes the program write all waiting rows.
  await app.restart();
  booked = await readRows();
}, 60_000);
afterAll(async () => {
  await app.stop();
  await up.stop();
});

function ask(of: ClientFormat, stream: boolean, model: string, more: Json, headers = {}): Promise<Response> {
  const { stream_options: _options, ...body } = of.body({ stream, tools: false });
  return app.post(of.path, { ...body, ...more, model }, headers);
}

async function readRows() {
  const store = await app.openStore();
  const rows = new Map<string, { costMicros: number; inputTokens: number; outputTokens: number }>();
  let beforeId: number | undefined;
  do {
    const page = await usageStore(store).listLog(
      { accountId: app.accountId },
      { limit: 200, ...(beforeId === undefined ? {} : { beforeId }) },
    );
    for (const row of page.rows) rows.set(row.requestId, row);
    beforeId = page.nextBeforeId ?? undefined;
  } while (beforeId !== undefined);
  await store.close();
  return rows;
}

/** The costs that a client reads. */
const costsIn = (raw: string) => [...raw.matchAll(/"cost":([0-9.e-]+)/g)].map(([, cost]) => Number(cost));

describe.each(DIALECTS.map((dialect) => ({ dialect })))("$dialect", ({ dialect }) => {
  test.each(CELLS.filter((cell) => cell.dialect === dialect))("$name", (cell) => {
    const { raw, header, requestId } = results.get(cell)!;
    const { costMicros, inputTokens, outputTokens } = booked.get(requestId)!;
    const { cost, isCut, service } = cell.bill;
    if (isCut === true) {
      // Nothing names the whole cost, but what was written is booked.
      expect(costMicros).toBe((inputTokens + 10 * outputTokens) * (service === undefined ? 1 : 3));
      expect(outputTokens).toBeGreaterThan(0);
      return;
    }
    expect(costMicros).toBe(cost!);
    // Ollama's format has no place for it.
    expect(costsIn(raw)).toEqual(cell.of.isTerse ? [] : [cost! / 1e6]);
    expect(header).toBe(cell.stream ? null : String(cost! / 1e6));
  });

  test.each(
    CLIENT_FORMATS.flatMap((of) => [false, true].map((stream) => ({ of, stream, name: `${of.name} ${stream}` }))),
  )("a client that does not ask is told nothing, nor one of a model without prices: $name", async ({ of, stream }) => {
    for (const [model, more] of [
      [`${dialect}-0`, {}],
      [`${dialect}-${UNPRICED}`, { usage: { include: true } }],
    ] as const) {
      const response = await ask(of, stream, model, more);
      expect(response.status).toBe(200);
      expect(costsIn(await response.text())).toEqual([]);
      const header = response.headers.get("x-sallyport-cost");
      expect(header).toBe(stream || model.endsWith(UNPRICED) ? null : "0.0006");
      const isDropped = of.isTerse === true && "usage" in more;
      expect(response.headers.get("x-sallyport-dropped")?.includes("usage") ?? false).toBe(isDropped);
    }
  });
});

describe("GET /api/v1/generation", () => {
  const idIn = (raw: string) => /"(?:id":"(?=chatcmpl-|cmpl-|resp_|msg_)|responseId":")([^"]+)"/.exec(raw)![1]!;
  const generation = (id: string, key = app.key) =>
    fetch(`${app.url}/api/v1/generation?id=${id}`, { headers: { authorization: `Bearer ${key}` } });

  test.each(
    DETAILED_FORMATS.flatMap((of) => [false, true].map((stream) => ({ of, stream, name: `${of.name} ${stream}` }))),
  )("OpenRouter's client reads the cost of an answer at once: $name", async ({ of, stream }) => {
    const client = new OpenRouter({
      apiKey: app.key,
      serverURL: `${app.url}/api/v1`,
      retryConfig: { strategy: "none" },
    });
    for (const dialect of DIALECTS) {
      const id = idIn(await (await ask(of, stream, `${dialect}-0`, {})).text());
      const { data } = await client.generations.getGeneration({ id });
      expect(data).toMatchObject({ id, totalCost: 0.0006, tokensPrompt: 100, tokensCompletion: 50, streamed: stream });
      expect(data).toMatchObject({ model: `${dialect}-0`, providerName: dialect, cancelled: false });
    }
  });

  test("an answer is named by its request's id, but not by an id that its client gave", async () => {
    const of = CLIENT_FORMATS[0]!;
    const own = await ask(of, false, "openai-chat-0", {});
    const [requestId, id] = [own.headers.get("x-request-id")!, idIn(await own.text())];
    expect(id.slice(-32)).toBe(requestId.replaceAll("-", ""));
    expect(await (await generation(id)).json()).toMatchObject({ data: { id } });
    const given = [1, 2].map(() => ask(of, false, "openai-chat-0", {}, { "x-request-id": requestId }));
    const ids = (await Promise.all((await Promise.all(given)).map((response) => response.text()))).map(idIn);
    expect(new Set([id, ...ids]).size).toBe(3);
    for (const each of ids) expect(await (await generation(each)).json()).toMatchObject({ data: { id: each } });
  });

  test("an unknown cost is null", async () => {
    const id = idIn(await (await ask(CLIENT_FORMATS[0]!, false, `openai-chat-${UNPRICED}`, {})).text());
    expect(await (await generation(id)).json()).toMatchObject({ data: { id, total_cost: null, usage: null } });
  });

  test("another account's answer is unknown, as is an id that nobody has", async () => {
    const store = await app.openStore();
    const name = "other";
    const account = await accountStore(store).createAccount({
      username: name,
      email: "o@example.com",
      tier: "premium",
    });
    if ("refused" in account) throw new Error(account.refused);
    const { key } = await keyStore(store).createKey({ accountId: account.id, name });
    await store.close();
    const id = idIn(await (await ask(CLIENT_FORMATS[0]!, false, "openai-chat-0", {})).text());
    expect((await generation(id)).status).toBe(200);
    for (const response of [await generation(id, key), await generation("chatcmpl-none")]) {
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "generation_not_found", param: "id" } });
    }
  });

  test.each(["", "x".repeat(201)])("an id of another length is refused", async (id) => {
    const response = await generation(id);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "invalid_request", param: "id" } });
  });
});

test("the wish is not sent to the providers", () => {
  expect(received.length).toBeGreaterThan(CELLS.length);
  expect(received.filter((body) => "usage" in body)).toEqual([]);
});
