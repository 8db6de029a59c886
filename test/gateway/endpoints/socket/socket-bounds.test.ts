// Lanes, new input and the limits of connections for the Responses API.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { connect as connectTcp } from "node:net";
import { ResponsesConnection } from "../../../../src/gateway/endpoints/socket/connection.ts";
import { createHolder, listText } from "../../../../src/gateway/endpoints/socket/held-answers.ts";
import { createLanes } from "../../../../src/gateway/endpoints/socket/lanes.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { chatChunk, HANG, sse, startUpstream } from "../../../support/upstream.ts";
import { chatStream, connect } from "./fixture.ts";

type Json = Record<string, unknown>;

const chat = startUpstream();
const config = {
  server: { max_body: "64KiB" },
  providers: { chat: { kind: "openai", base_url: chat.baseUrl, api_key: "sk-up", discover: false } },
  models: [{ id: "m", routes: [{ provider: "chat", model: "up-model" }] }],
};
const app: TestApp = await startTestApp({ key: { rpm: 10_000 }, config });

afterAll(async () => {
  await app.stop();
  chat.stop();
});

beforeEach(() => {
  chat.received.length = 0;
  chat.answer(() => chatStream("Hi"));
});

const create = (more: Json): Json => ({ type: "response.create", model: "m", store: false, input: "x", ...more });
const isType = (type: string) => (event: Json) => event["type"] === type;
const idOf = (event: Json) => (event["response"] as Json)["id"] as string;

test("requests of one lane are answered in order, lanes beside each other, sixteen at a time", async () => {
  const gate = Promise.withResolvers<void>();
  const sixteen = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  chat.answer(async () => {
    running++;
    most = Math.max(most, running);
    if (running === 16) sixteen.resolve();
    await gate.promise;
    running--;
    return chatStream("Hi");
  });
  const socket = connect(app);
  const lanes = Array.from({ length: 32 }, (_, i) => `lane-${i}`);
  const ended = Promise.all(lanes.map((stream_id) => socket.ask({ model: "m", input: "1", stream_id })));
  let left = lanes.length + 1;
  const all = socket.when(({ type }) => type === "response.completed" && --left === 0);
  socket.send(create({ stream_id: "lane-0" }));
  const refused = socket.when(isType("error"));
  socket.send(create({ stream_id: "one-more" }));
  expect(await refused).toMatchObject({ stream_id: "one-more", error: { code: "websocket_stream_limit_reached" } });
  await sixteen.promise;
  gate.resolve();
  expect((await ended).map(({ type }) => type)).toEqual(lanes.map(() => "response.completed"));
  await all;
  expect(most).toBe(16);
  const ofLane = socket.events.filter(({ stream_id }) => stream_id === "lane-0").map(({ type }) => type);
  expect(ofLane.indexOf("response.completed")).toBeLessThan(ofLane.lastIndexOf("response.created"));
  socket.close();
});

test("new input stops a running answer, and its successor continues from what was said", async () => {
  chat.answer(() => sse([chatChunk({ role: "assistant", content: "One two" }), HANG]));
  const socket = connect(app);
  const begun = socket.when(isType("response.output_text.delta"));
  socket.send(create({ stream_id: "a", instructions: "Count." }));
  await begun;
  const id = idOf(socket.events.find(isType("response.created")) as Json);
  chat.answer(() => chatStream("Three"));
  const end = socket.when(isType("response.completed"));
  socket.send({ type: "response.steer", previous_response_id: id, input: "Faster" });
  expect(idOf(await end)).not.toBe(id);
  const types = socket.events.map(({ type }) => type);
  expect(types.slice(types.indexOf("response.steer.accepted"), types.indexOf("response.incomplete") + 2)).toEqual([
    "response.steer.accepted",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.incomplete",
    "response.created",
  ]);
  expect(socket.events.find(isType("response.incomplete"))).toMatchObject({
    stream_id: "a",
    response: {
      ...{ id, incomplete_details: { reason: "steered" }, output: [{ content: [{ text: "One two" }] }] },
      usage: { input_tokens: expect.any(Number), output_tokens: 2 },
    },
  });
  const sent = JSON.stringify(chat.received.at(-1)?.json);
  expect(["Count.", "One two", "Faster"].map((text) => sent.includes(text))).toEqual([true, true, true]);
  socket.close();
});

test("new input waits for the results of calls", async () => {
  const gate = Promise.withResolvers<void>();
  const call = { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
  chat.answer(() =>
    sse([
      chatChunk({ role: "assistant", tool_calls: [call] }),
      gate.promise,
      chatChunk({}, { finish: "tool_calls" }),
      "data: [DONE]\n\n",
    ]),
  );
  const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
  const socket = connect(app);
  const begun = socket.when(isType("response.output_item.added"));
  socket.send(create({ tools }));
  await begun;
  const id = idOf(socket.events.find(isType("response.created")) as Json);
  const accepted = socket.when(isType("response.steer.accepted"));
  socket.send({ type: "response.steer", previous_response_id: id, input: "And quickly" });
  await accepted;
  const pending = socket.when(isType("response.steer.pending"));
  gate.resolve();
  expect(await pending).toMatchObject({
    reason: "waiting_for_required_input",
    required_input: [{ type: "function_call_output", call_id: "call_1" }],
    steer: { previous_response_id: id },
  });
  chat.answer(() => chatStream("Done"));
  const output = { type: "function_call_output", call_id: "call_1", output: "seen" };
  await socket.ask({ model: "m", store: false, tools, previous_response_id: id, input: [output] });
  const sent = JSON.stringify(chat.received.at(-1)?.json);
  expect(["call_1", "And quickly", "seen"].map((text) => sent.includes(text))).toEqual([true, true, true]);
  socket.close();
});

test("the input of an account that waits for results has a limited length", async () => {
  const call = { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
  chat.answer(() => sse([chatChunk({ role: "assistant", tool_calls: [call] }), HANG]));
  const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
  const open = async () => {
    const socket = connect(app);
    const begun = socket.when(isType("response.output_item.added"));
    socket.send(create({ tools }));
    await begun;
    const id = idOf(socket.events.find(isType("response.created")) as Json);
    const steer = async (chars: number) => {
      const said = socket.when(({ type }) => String(type).startsWith("response.steer."));
      socket.send({ type: "response.steer", previous_response_id: id, input: "x".repeat(chars) });
      return await said;
    };
    return { socket, id, steer };
  };
  const [one, other] = [await open(), await open()];
  for (let i = 0; i < 8; i++) expect(await one.steer(1_040_000)).toMatchObject({ type: "response.steer.accepted" });
  for (const { steer } of [one, other]) {
    expect(await steer(1_040_000)).toMatchObject({ error: { code: "too_many_pending_steers" } });
  }
  // The next request takes what waited for it.
  const read = one.socket.when(isType("error"));
  one.socket.send(create({ previous_response_id: one.id }));
  one.socket.send({ ...create({}), generate: "wrong" });
  await read;
  expect(await other.steer(1_040_000)).toMatchObject({ type: "response.steer.accepted" });
  one.socket.close();
  other.socket.close();
});

test("new input that cannot be used comes back", async () => {
  const socket = connect(app);
  const { response } = await socket.ask(create({}));
  const done = (response as Json)["id"] as string;
  const cases: [target: unknown, input: unknown, code: string][] = [
    ["resp_none", "x", "response_not_found"],
    [done, "x", "response_already_completed"],
    [done, [], "invalid_input"],
    [done, [{ role: "system", content: "x" }], "invalid_input"],
    [7, "x", "invalid_input"],
  ];
  for (const [target, input, code] of cases) {
    const failed = socket.when(isType("response.steer.failed"));
    socket.send({ type: "response.steer", previous_response_id: target, input });
    expect(await failed).toMatchObject({ error: { code }, steer: { input, previous_response_id: target } });
  }
  socket.close();
});

test("a failed continuation is not held any more", async () => {
  const socket = connect(app);
  const first = idOf(await socket.ask(create({})));
  const again = create({ previous_response_id: first });
  expect(await socket.ask({ ...again, temperature: "hot" })).toMatchObject({ error: { param: "temperature" } });
  expect(await socket.ask(again)).toMatchObject({ error: { code: "previous_response_not_found" } });
  socket.close();
});

test("messages that are too large or no text end in an error or the end of the connection", async () => {
  const socket = connect(app);
  const tooLarge = await socket.ask(create({ input: "x".repeat(100_000) }));
  expect(tooLarge).toMatchObject({ status: 413, error: { code: "request_too_large" } });
  socket.send(create({ input: "x".repeat(25 * 1024 * 1024) }));
  expect([1006, 1009]).toContain(await socket.closed);
  const other = connect(app);
  await other.ask(create({}));
  other.sendRaw(new Uint8Array([1, 2, 3]));
  expect(await other.closed).toBe(1003);
});

test("of a flood of requests few wait, and all end with the connection", async () => {
  chat.answer(() => sse([HANG]));
  const socket = connect(app);
  await socket.ask({ model: "none", input: "x" });
  const last = socket.when((event) => event["stream_id"] === "last");
  for (let i = 0; i < 1000; i++) socket.send(create({ stream_id: `lane-${i % 20}` }));
  socket.send({ ...create({ generate: "wrong" }), stream_id: "last" });
  await last;
  const refused = socket.events.filter((event) => (event["error"] as Json)?.["code"] === "rate_limit_exceeded");
  expect(refused.length).toBe(1000 - 16 - 128);
  socket.close();
  await Promise.all(chat.received.map(({ aborted }) => aborted));
  expect(chat.received.length).toBeLessThanOrEqual(16);
});

test("no more of an answer is read than its client takes", async () => {
  const PIECE = 64 * 1024;
  let pulled = 0;
  chat.answer(({ json }) => {
    if (json?.["user"] !== "slow") return chatStream("Hi");
    const piece = new TextEncoder().encode(chatChunk({ content: "x".repeat(PIECE) }));
    const pull = (controller: ReadableStreamDefaultController) => {
      pulled += PIECE;
      controller.enqueue(piece);
    };
    return new Response(new ReadableStream({ pull }), { headers: { "content-type": "text/event-stream" } });
  });
  const { hostname, port } = new URL(app.url);
  const socket = connectTcp(Number(port), hostname);
  socket.write(
    `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.key}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
      "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await new Promise((resolve) => socket.once("data", resolve));
  // Nothing is read from here on.
  socket.pause();
  const text = Buffer.from(JSON.stringify(create({ user: "slow" })));
  socket.write(Buffer.concat([Buffer.from([0x81, 0xfe, text.length >> 8, text.length & 255, 0, 0, 0, 0]), text]));
  const other = connect(app);
  let before = -1;
  // Others are answered meanwhile, until no more is read.
  while (pulled === 0 || pulled !== before) {
    before = pulled;
    for (let i = 0; i < 10; i++) await other.ask(create({}));
  }
  expect(pulled).toBeLessThan(32 * 1024 * 1024);
  socket.destroy();
  other.close();
});

test.each([
  ["deleted", "DELETE", ""],
  ["rotated without grace", "POST", "/rotate"],
])("the next request on a connection is refused when the key is %s through the API", async (_what, method, path) => {
  const store = await app.openStore();
  const keys = keyStore(store);
  const { accountId } = app;
  const { key: manager } = await keys.createKey({ accountId, name: "manager", management: "account" });
  const { id, key } = await keys.createKey({ accountId, name: "agent" });
  await store.close();
  const socket = connect({ key, url: app.url });
  expect(await socket.ask(create({}))).toMatchObject({ type: "response.completed" });
  const authorization = `Bearer ${manager}`;
  expect((await app.call(`/v1/keys/${id}${path}`, { method, headers: { authorization } })).status).toBe(200);
  chat.received.length = 0;
  expect(await socket.ask(create({}))).toMatchObject({ status: 401, error: { code: "invalid_api_key" } });
  expect(await socket.closed).toBe(1008);
  expect(chat.received).toEqual([]);
});

test("a connection goes on while the grace of its rotated secret lasts", async () => {
  const store = await app.openStore();
  const { accountId } = app;
  const { key: manager } = await keyStore(store).createKey({ accountId, name: "manager", management: "account" });
  const { id, key } = await keyStore(store).createKey({ accountId, name: "agent" });
  await store.close();
  const socket = connect({ key, url: app.url });
  await socket.ask(create({}));
  const headers = { authorization: `Bearer ${manager}`, "content-type": "application/json" };
  const body = JSON.stringify({ grace: "1h" });
  expect((await app.call(`/v1/keys/${id}/rotate`, { method: "POST", headers, body })).status).toBe(200);
  expect(await socket.ask(create({}))).toMatchObject({ type: "response.completed" });
  socket.close();
});

test("a key that was revoked ends its connection", async () => {
  const socket = connect(app);
  await socket.ask(create({}));
  const store = await app.openStore();
  const keys = keyStore(store);
  const own = (await keys.listKeys(app.accountId)).find(({ lastFour }) => app.key.endsWith(lastFour));
  expect(await keys.revokeKey(String(own?.id))).toBe(true);
  for (;;) {
    const end = await Promise.race([socket.ask(create({})), socket.closed]);
    if (typeof end === "number") break;
    if (end["type"] !== "error") continue;
    expect(end).toMatchObject({ status: 401, error: { code: "invalid_api_key" } });
    break;
  }
  expect(await socket.closed).toBe(1008);
  await store.close();
});

test("a gateway that stops lets running answers end, and closes with 1001", async () => {
  const own = await startTestApp({ config });
  const gate = Promise.withResolvers<void>();
  chat.answer(() => sse([chatChunk({ content: "Hi" }), gate.promise, chatChunk({}, { finish: "stop" })]));
  const socket = connect(own);
  const idle = connect(own);
  await idle.ask({ model: "none", input: "x" });
  const begun = socket.when(isType("response.output_text.delta"));
  const end = socket.ask(create({}));
  await begun;
  const stopped = own.stop();
  expect(await idle.closed).toBe(1001);
  gate.resolve();
  expect(await end).toMatchObject({ type: "response.completed" });
  expect(await socket.closed).toBe(1001);
  await stopped;
});

test("a connection ends with its time, and says so before", async () => {
  const sent: Json[] = [];
  const closed = Promise.withResolvers<number>();
  const connection = new ResponsesConnection("http://x/v1/responses", [], {
    held: createHolder()({ chars: 0 }),
    texts: { account: { chars: 0 }, all: { chars: 0 } },
    steers: { chars: 0 },
    stillAllowed: () => Promise.resolve(true),
    lifeMs: 1,
  });
  connection.opened({
    send: (text) => void sent.push(JSON.parse(text)),
    close: (code) => closed.resolve(code),
    buffered: () => 0,
    ask: () => new Response(),
    closed: new AbortController().signal,
  });
  expect(await closed.promise).toBe(1001);
  expect(sent).toMatchObject([{ type: "error", status: 400, error: { code: "websocket_connection_limit_reached" } }]);
});

test("all connections together have a limited length of requests, which ends with them", async () => {
  const all = { chars: 0 };
  const gate = Promise.withResolvers<void>();
  const idle = Promise.withResolvers<void>();
  const account = { chars: 0 };
  const lanesOf = (own: { chars: number }, ended = () => {}) => createLanes({ account: own, all }, ended);
  const [one, same, other] = [lanesOf(account, idle.resolve), lanesOf(account), lanesOf({ chars: 0 })];
  const job = (lane: string, mebibytes: number) => ({ lane, chars: mebibytes << 20, run: () => gate.promise });
  expect(one.add(job("a", 100))).toBeUndefined();
  expect(one.add(job("a", 20))).toBeUndefined();
  // Another connection of the account finds no place, and other accounts do.
  expect(same.add(job("a", 10))).toBe("no memory");
  expect(other.add(job("a", 120))).toBeUndefined();
  expect(lanesOf({ chars: 0 }).add(job("a", 20))).toBe("no memory");
  expect(one.clear()).toHaveLength(1);
  expect(same.add(job("a", 10))).toBeUndefined();
  gate.resolve();
  await idle.promise;
  expect(all.chars).toBeLessThanOrEqual(120 << 20);
});

test("all connections together hold a limited text, of each lane the newest answer", () => {
  const hold = createHolder(100);
  const [one, other] = [hold({ chars: 0 }), hold({ chars: 0 })];
  const put = (own: typeof one, lane: string, id: string, chars: number) =>
    own.put(lane, id, { texts: ["", listText(["x".repeat(chars - 2)])], isStored: false });
  put(one, "a", "1", 40);
  put(one, "a", "2", 40);
  expect([one.has("1"), one.find("2")?.items]).toEqual([false, ["x".repeat(38)]]);
  put(other, "a", "3", 40);
  one.find("2");
  put(other, "b", "4", 40);
  expect([one.has("2"), other.has("3"), other.has("4")]).toEqual([true, false, true]);
  // An account has at most half of it, and drops its own answers for more.
  put(one, "b", "5", 30);
  expect([one.has("2"), one.has("5"), other.has("4")]).toEqual([false, true, true]);
  other.close();
  put(other, "b", "6", 10);
  expect([one.has("5"), other.has("4"), other.has("6")]).toEqual([true, false, false]);
});
