// Every form in which upstreams report usage, rightly and wrongly, in every protocol and for every client format, whole and
// streamed: the client sees what is booked and what the budget takes, and nothing that was written is free.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { keyStore } from "../../src/store/access/keys.ts";
import type { LogRow } from "../../src/store/usage/log.ts";
import { usageStore } from "../../src/store/usage/usage.ts";
import { countTokens } from "../../src/tokens/count.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { DIALECTS, type DialectName, KINDS, type Said, say } from "../support/fake-model.ts";
import { CLIENT_FORMATS, type ClientFormat } from "../support/heard.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";

type Json = Record<string, unknown>;

/** Figures in neutral terms, of any type. Those of the output include reasoning, those of the input cached tokens. */
interface Figures {
  input?: unknown;
  output?: unknown;
  cached?: unknown;
  reasoning?: unknown;
  total?: unknown;
}

/** The object with which a protocol reports figures, without those that are not given. */
const WORDS: Readonly<Record<DialectName, (figures: Figures) => Json>> = {
  "openai-chat": ({ input, output, cached, reasoning, total }) => ({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: total,
    prompt_tokens_details: cached === undefined ? undefined : { cached_tokens: cached },
    completion_tokens_details: reasoning === undefined ? undefined : { reasoning_tokens: reasoning },
  }),
  "openai-responses": ({ input, output, cached, reasoning, total }) => ({
    input_tokens: input,
    output_tokens: output,
    total_tokens: total,
    input_tokens_details: cached === undefined ? undefined : { cached_tokens: cached },
    output_tokens_details: reasoning === undefined ? undefined : { reasoning_tokens: reasoning },
  }),
  "anthropic-messages": ({ input, output, reasoning }) => ({
    input_tokens: input,
    output_tokens: output,
    output_tokens_details: reasoning === undefined ? undefined : { thinking_tokens: reasoning },
  }),
  gemini: ({ input, output, cached, reasoning, total }) => ({
    promptTokenCount: input,
    candidatesTokenCount: output,
    cachedContentTokenCount: cached,
    thoughtsTokenCount: reasoning,
    totalTokenCount: total,
  }),
};

const TEXT = "The weather in Lisbon is mild, with a light wind and a few clouds over the river.";
const CALL = { id: "call_1", name: "weather", args: { city: "Lisbon" } };
const OWN = "own";

interface Shape {
  name: string;
  said?: Said;
  /** The object, or what stands in its place; undefined: nothing. */
  usage?: Figures | null;
  input: number | typeof OWN;
  output: number | typeof OWN;
}

const TRUE = { input: 100, output: 50, total: 150 };
const SHAPES: readonly Shape[] = [
  { name: "true figures", usage: TRUE, input: 100, output: 50 },
  { name: "true details", usage: { ...TRUE, cached: 40 }, input: 100, output: 50 },
  { name: "nothing", input: OWN, output: OWN },
  { name: "null", usage: null, input: OWN, output: OWN },
  { name: "an empty object", usage: {}, input: OWN, output: OWN },
  { name: "only a total", usage: { total: 150 }, input: OWN, output: OWN },
  { name: "zeros", usage: { input: 0, output: 0, total: 0 }, input: OWN, output: OWN },
  { name: "no output", usage: { input: 100, output: 0, total: 100 }, input: 100, output: OWN },
  { name: "no input", usage: { input: 0, output: 50, total: 50 }, input: OWN, output: 50 },
  { name: "only the input", usage: { input: 100 }, input: 100, output: OWN },
  { name: "only the output", usage: { output: 50 }, input: OWN, output: 50 },
  { name: "a negative output", usage: { input: 100, output: -50, total: 50 }, input: 100, output: OWN },
  { name: "a negative input", usage: { input: -100, output: 50, total: -50 }, input: OWN, output: 50 },
  { name: "a fraction", usage: { input: 100.5, output: 50, total: 150.5 }, input: OWN, output: 50 },
  { name: "a huge output", usage: { input: 100, output: 2 ** 54, total: 2 ** 54 }, input: 100, output: OWN },
  { name: "text", usage: { input: "100", output: "50", total: "150" }, input: OWN, output: OWN },
  { name: "a list", usage: { input: [100], output: { tokens: 50 }, total: 150 }, input: OWN, output: OWN },
  { name: "more cached than input", usage: { ...TRUE, cached: 5000 }, input: 100, output: 50 },
  { name: "more reasoning than output", usage: { ...TRUE, reasoning: 9999 }, input: 100, output: 50 },
  { name: "a wrong total", usage: { ...TRUE, total: 7 }, input: 100, output: 50 },
  { name: "zeros beside calls", said: { calls: [CALL] }, usage: { input: 0, output: 0 }, input: OWN, output: OWN },
  { name: "nothing beside calls", said: { calls: [CALL] }, input: OWN, output: OWN },
];

/** Replaces the usage of an answer. In a stream, it stands where the protocol has it. */
function withUsage(dialect: DialectName, text: string, usage: Json | null | undefined): string {
  const name = dialect === "gemini" ? "usageMetadata" : "usage";
  const isStream = /^(?:event|data):/.test(text);
  const put = (holder: Json, value: Json | null | undefined) => ({ ...holder, [name]: value });
  if (!isStream) return JSON.stringify(put(JSON.parse(text) as Json, usage));
  const frames = text.split("\n\n").filter((frame) => frame !== "");
  return frames
    .map((frame) => {
      const at = frame.indexOf("data: ") + 6;
      const data = frame.slice(at);
      if (data === "[DONE]") return `${frame}\n\n`;
      return `${frame.slice(0, at)}${JSON.stringify(edited(JSON.parse(data) as Json))}\n\n`;
    })
    .join("");

  function edited(value: Json): Json {
    const { type, message, response } = value;
    if (type === "message_start") {
      // The output of this frame is a placeholder.
      const first = usage && { ...usage, ...(usage["output_tokens"] === undefined ? {} : { output_tokens: 1 }) };
      return { ...value, message: put(message as Json, first) };
    }
    if (type === "message_delta") return put(value, usage && { output_tokens: usage["output_tokens"] });
    if (type === "response.completed") return { ...value, response: put(response as Json, usage) };
    return value[name] === undefined ? value : put(value, usage);
  }
}

const PRICES = { input: 1, output: 10 };
const SPLIT = "stream";
let app: TestApp;
let up: FakeUpstream;
let rows: Map<string, LogRow>;

interface Cell {
  dialect: DialectName;
  of: ClientFormat;
  stream: boolean;
  shape: Shape;
  at: number;
}

interface Result extends Cell {
  requestId: string;
  raw: string;
}

const CELLS: Cell[] = DIALECTS.flatMap((dialect) =>
  CLIENT_FORMATS.flatMap((of) =>
    [false, true].flatMap((stream) =>
      SHAPES.flatMap((shape, at) =>
        // The legacy format has no calls.
        of.isTextOnly === true && shape.said !== undefined ? [] : [{ dialect, of, stream, shape, at }],
      ),
    ),
  ),
);
const results = new Map<string, Result>();
const keyOf = ({ dialect, of, stream, at }: Cell) => `${dialect} ${of.name} ${stream} ${at}`;

beforeAll(async () => {
  up = startUpstream(async (received) => {
    const name = String(received.json?.["model"] ?? /models\/([^:]+):/.exec(received.path)?.[1]);
    const dialect = DIALECTS.find((one) => name.startsWith(one)) as DialectName;
    const { said = { text: TEXT }, usage } = SHAPES[Number(name.slice(dialect.length + 1))] as Shape;
    const response = say(received, said);
    const written = usage && (JSON.parse(JSON.stringify(WORDS[dialect](usage))) as Json);
    return new Response(withUsage(dialect, await response.text(), written), { headers: response.headers });
  });
  const provider = (dialect: DialectName) => ({
    kind: KINDS[dialect],
    base_url: up.baseUrl,
    api_key: "k",
    discover: false,
    retry: { attempts: 1 },
  });
  app = await startTestApp({
    key: { budgetMicros: 1e12 },
    config: {
      tiers: { premium: { rpm: 100_000 } },
      providers: Object.fromEntries(DIALECTS.map((dialect) => [dialect, provider(dialect)])),
      models: DIALECTS.flatMap((dialect) =>
        SHAPES.map((_shape, at) => ({
          id: `${dialect}-${at}`,
          routes: [{ provider: dialect, model: `${dialect}-${at}` }],
          prices: PRICES,
        })),
      ),
    },
  });
  const waiting = [...CELLS];
  const work = async () => {
    for (let cell = waiting.pop(); cell !== undefined; cell = waiting.pop()) {
      const { dialect, of, stream, shape, at } = cell;
      const body = { ...of.body({ stream, tools: shape.said !== undefined }), model: `${dialect}-${at}` };
      const response = await app.post(of.path, body);
      const raw = await response.text();
      if (response.status !== 200) throw new Error(`${keyOf(cell)}: ${raw}`);
      results.set(keyOf(cell), { ...cell, raw, requestId: response.headers.get("x-request-id")! });
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  // The restart makes the program write all waiting rows.
  await app.restart();
  rows = await readRows();
}, 60_000);
afterAll(async () => {
  await app.stop();
  await up.stop();
});

async function readRows(): Promise<Map<string, LogRow>> {
  const store = await app.openStore();
  const found = new Map<string, LogRow>();
  let beforeId: number | undefined;
  do {
    const page = await usageStore(store).listLog(
      { accountId: app.accountId },
      { limit: 200, ...(beforeId === undefined ? {} : { beforeId }) },
    );
    for (const row of page.rows) found.set(row.requestId, row);
    beforeId = page.nextBeforeId ?? undefined;
  } while (beforeId !== undefined);
  await store.close();
  return found;
}

describe.each(DIALECTS.flatMap((dialect) => CLIENT_FORMATS.map((of) => ({ dialect, of, format: of.name }))))(
  "$dialect to $format",
  ({ dialect, of }) => {
    const cells = CELLS.filter((cell) => cell.dialect === dialect && cell.of === of);
    test.each(cells.map((cell) => ({ ...cell, name: `${cell.shape.name}${cell.stream ? `, ${SPLIT}` : ""}` })))(
      "$name",
      (cell) => {
        const { shape, stream } = cell;
        const { raw, requestId } = results.get(keyOf(cell))!;
        const { usage } = stream ? of.streamed(raw) : of.whole(JSON.parse(raw) as Json);
        const row = rows.get(requestId)!;
        expect(usage).toMatchObject({ input: row.inputTokens, output: row.outputTokens });
        const { input, output, cached, reasoning } = usage!;
        for (const figure of [input, output, cached, reasoning]) expect(figure >= 0).toBe(true);
        expect(cached).toBeLessThanOrEqual(input);
        expect(reasoning).toBeLessThanOrEqual(output);
        expect(usageObjects(raw).every(isLegal)).toBe(true);
        const [ownInput, ownOutput] = [shape.input === OWN, shape.output === OWN];
        if (ownInput) expect(input > 0 && input < 60).toBe(true);
        else expect(input).toBe(shape.input as number);
        if (!ownOutput) expect(output).toBe(shape.output as number);
        else if (shape.said === undefined) expect(output).toBe(countTokens(TEXT));
        else expect(output > 2 && output < 30).toBe(true);
        expect(row.estimated).toBe(ownInput || ownOutput);
        expect(row.costMicros).toBe(input * PRICES.input + output * PRICES.output);
      },
    );
  },
);

/** All usage objects of a body or of frames. */
function usageObjects(raw: string): Json[] {
  const found: Json[] = [];
  const texts = raw.split("\n").flatMap((line) => (/^(?:data: )?\{/.test(line) ? [line.slice(line.indexOf("{"))] : []));
  for (const text of texts) {
    JSON.parse(text, (name, value) => {
      if (name === "usage" && value !== null) found.push(value as Json);
      return value as unknown;
    });
  }
  return found;
}

/** Whether all figures are whole numbers, and the total is the sum. */
function isLegal(usage: Json): boolean {
  const figures = [usage, ...Object.values(usage).filter((one) => typeof one === "object" && one !== null)];
  const areCounts = figures.every((one) =>
    Object.entries(one as Json).every(([name, value]) => !name.endsWith("_tokens") || Number.isSafeInteger(value)),
  );
  const { total_tokens: total } = usage as { total_tokens?: number };
  const sides = ["prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"];
  return areCounts && (total === undefined || total === sides.reduce((sum, name) => sum + Number(usage[name] ?? 0), 0));
}

test("the budget took the cost of all answers", async () => {
  const costs = [...rows.values()].reduce((sum, { costMicros }) => sum + costMicros, 0);
  expect(rows.size).toBe(CELLS.length);
  const store = await app.openStore();
  const [key] = await keyStore(store).listKeys(app.accountId);
  await store.close();
  expect(key?.spentMicros).toBe(costs);
  const view = (await (await app.call("/v1/key")).json()) as Json;
  expect(view["spent"]).toBeCloseTo(costs / 1e6, 9);
});
