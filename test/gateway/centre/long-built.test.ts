// What is built of a long body for one route is not held for the routes after it, and inputs of calls are parsed once.

import { expect, spyOn, test } from "bun:test";
import { LongJson } from "../../../src/base/long-json.ts";
import type { CatalogModel } from "../../../src/catalog/models.ts";
import { buildRequest } from "../../../src/gateway/centre/build.ts";
import type { ChatTurn } from "../../../src/gateway/centre/stage.ts";
import { innerTurn } from "../../../src/gateway/inner/inner-turn.ts";
import { anthropicMessages } from "../../../src/upstream/dialects/anthropic/dialect.ts";
import { gemini } from "../../../src/upstream/dialects/gemini/dialect.ts";
import type { Provider } from "../../../src/upstream/provider.ts";

const ROUTES = 8;
const turnOfLoop = () => new Promise<void>((resolve) => setImmediate(resolve));
const text = "word ".repeat(200_000);
const target = {
  provider: { name: "p", dialect: anthropicMessages, quirks: {}, endUsers: "none" } as unknown as Provider,
  route: { provider: "p", model: "theirs" },
};

const asking = { role: "user", content: [{ type: "text", text }] };

function longTurn(messages: readonly unknown[] = [asking]) {
  const model = { id: "m", maxOutputTokens: 100, known: {}, routes: [] } as unknown as CatalogModel;
  const chat = {
    model: "m",
    messages,
    stream: false,
    includeUsage: false,
    tools: [],
    extra: {},
  } as unknown as ChatTurn["chat"];
  const of = { caller: { accountId: "a", keyId: "k", account: { tier: "free" } }, requestId: "r", endpoint: "/" };
  return innerTurn({ model, routes: [], chat }, of as never, {
    clock: { now: () => 0 },
    signal: new AbortController().signal,
  });
}

async function builtParts(turn: ChatTurn) {
  const { body } = await buildRequest({ endUserOf: () => undefined }, turn, target as never);
  if (!(body instanceof LongJson)) throw new Error("A long body is built in parts.");
  return body.parts;
}

test("the bytes that were built for a route are freed when the exchange ends", async () => {
  const { turn, end } = longTurn();
  const parts = await builtParts(turn);
  expect(Buffer.concat(parts).length).toBeGreaterThan(text.length);
  end();
  expect(parts.map(({ buffer }) => (buffer as ArrayBuffer).detached)).toEqual(parts.map(() => true));
});

test("but not those of an exchange that had ended before", async () => {
  const { turn } = longTurn();
  const ended = { ...turn.exchange, atEnd: (work: () => void) => work() };
  const parts = await builtParts({ ...turn, exchange: ended });
  expect(Buffer.concat(parts).length).toBeGreaterThan(text.length);
});

test("the bytes of a route are freed before that if nothing sends them any more", async () => {
  const { turn, end } = longTurn();
  const kept: WeakRef<ArrayBufferLike>[] = [];
  for (let route = 0; route < ROUTES; route++) {
    const [part] = await builtParts(turn);
    kept.push(new WeakRef(part!.buffer));
  }
  for (let tries = 0; tries < 5; tries++) {
    await turnOfLoop();
    Bun.gc(true);
  }
  expect(kept.filter((buffer) => buffer.deref() !== undefined).length).toBeLessThan(ROUTES / 2);
  end();
});

/** Calls whose tools the protocols have under other names, and one of which they are plain functions. */
const CALLS = [
  { name: "read", kind: "function" },
  { name: "read", namespace: "files", kind: "function" },
  { name: "not a legal name", kind: "function" },
  { name: "patch", kind: "custom" },
];

test.each([anthropicMessages, gemini])("the inputs of calls are parsed once for $name", async (dialect) => {
  const given = CALLS.map((call, at) => `{"path": "file ${at}"}${call.kind === "custom" ? " as it is" : ""}`);
  const content = CALLS.map((call, at) => ({ type: "tool-call", callId: `c${at}`, arguments: given[at], ...call }));
  const { turn, end } = longTurn([asking, { role: "assistant", content }, asking]);
  const parse = spyOn(JSON, "parse");
  const provider = { ...target.provider, dialect };
  const { body } = await buildRequest({ endUserOf: () => undefined }, turn, { ...target, provider } as never);
  const parsed = parse.mock.calls.map(([json]) => json);
  parse.mockRestore();
  const sent = given.map((text, at) => (CALLS[at]!.kind === "custom" ? JSON.stringify({ input: text }) : text));
  expect(sent.map((text) => parsed.filter((one) => one === text).length)).toEqual(sent.map(() => 1));
  const written = Buffer.concat((body as LongJson).parts).toString();
  for (const text of sent) expect(written).toContain(JSON.stringify(JSON.parse(text)));
  end();
});
