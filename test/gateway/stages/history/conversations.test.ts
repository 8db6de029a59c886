// Conversations of the Responses API: stored here, whatever protocol the model's provider uses.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { accountStore } from "../../../../src/store/access/accounts.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { DIALECTS, KINDS, say } from "../../../support/fake-model.ts";
import { type FakeUpstream, framesOf, startUpstream } from "../../../support/upstream.ts";

type Json = Record<string, unknown>;

let upstream: FakeUpstream;
let app: TestApp;
let stranger: string;
const config = (enabled = true) => ({
  providers: Object.fromEntries(
    DIALECTS.map((name) => [name, { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false }]),
  ),
  models: DIALECTS.map((id) => ({ id, routes: [{ provider: id, model: "up" }] })),
  tiers: { premium: { rpm: 1_000_000 } },
  compaction: { enabled },
});
beforeAll(async () => {
  upstream = startUpstream();
  app = await startTestApp({ config: config() });
  const store = await app.openStore();
  const account = await accountStore(store).createAccount({ username: "bob", email: "b@x.example", tier: "premium" });
  if ("refused" in account) throw new Error(account.refused);
  ({ key: stranger } = await keyStore(store).createKey({ accountId: account.id, name: "b" }));
  await store.close();
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer((received) => say(received, { text: `answer ${upstream.received.length}` }));
});

const at = "/v1/conversations";
const model = "openai-chat";
const bodyOf = async (answer: Response) => [answer.status, (await answer.json()) as Json] as const;
const ask = async (path: string, init: Parameters<TestApp["call"]>[1] = {}) => bodyOf(await app.call(path, init));
const send = async (path: string, body: unknown) => bodyOf(await app.post(path, body));
const begin = async (body: Json = {}) => String((await send(at, body))[1]["id"]);
const user = (text: string) => ({ type: "message", role: "user", content: text });
const codeOf = ([status, json]: readonly [number, Json]) => [status, (json["error"] as Json)["code"]];
/** Everything that was said in a conversation, in order. */
async function said(id: string): Promise<string[]> {
  const [, list] = await ask(`${at}/${id}/items?order=asc&limit=100`);
  return (list["data"] as Json[]).map((item) =>
    item["type"] === "message"
      ? String((item["content"] as Json[]).map((part) => part["text"]))
      : `${String(item["type"])} ${String(item["call_id"])}`,
  );
}
/** Sends one turn and returns the status and the response object. */
async function turn(body: Json, stream = false): Promise<readonly [number, Json]> {
  const answer = await app.post("/v1/responses", { model, stream, ...body });
  if (!stream || answer.status !== 200) return bodyOf(answer);
  const frames = (await framesOf(answer)) as Json[];
  return [200, frames.findLast((frame) => typeof frame === "object" && frame["response"])?.["response"] as Json];
}

describe.each([...DIALECTS])("over %s", (dialect) => {
  test.each([false, true])(
    "each turn sends the whole conversation to the upstream and is appended; stream: %p",
    async (stream) => {
      const id = await begin({ items: [{ ...user("remember seven"), role: "developer" }], metadata: { a: "b" } });
      for (const [n, text] of ["one", "two"].entries()) {
        const conversation = n === 0 ? id : { id };
        const [status, response] = await turn({ model: dialect, input: text, conversation }, stream);
        expect([status, response["conversation"], response["status"]]).toEqual([200, { id }, "completed"]);
      }
      expect(upstream.received.length).toBe(2);
      expect(upstream.received[1]?.json).not.toHaveProperty("conversation");
      for (const text of ["remember seven", "one", "answer 1", "two"])
        expect(upstream.received[1]?.text).toContain(text);
      const all = ["remember seven", "one", "answer 1", "two", "answer 2"];
      expect(await said(id)).toEqual(all);
      // A conversation survives a restart.
      await app.restart();
      expect((await turn({ model: dialect, input: "three", conversation: id, store: false }, stream))[0]).toBe(200);
      expect(upstream.received[2]?.text).toContain("answer 2");
      expect(await said(id)).toEqual([...all, "three", "answer 3"]);
    },
  );

  test("a call and its result are adjacent, with no text between them", async () => {
    const id = await begin();
    upstream.answer((received) =>
      say(
        received,
        received.text.includes("4 degrees")
          ? { text: "cold" }
          : { calls: [{ id: "call_1", name: "look", args: { city: "Oslo" } }] },
      ),
    );
    const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
    const [, first] = await turn({ model: dialect, input: "How warm?", conversation: id, tools });
    const call = (first["output"] as Json[]).find(({ type }) => type === "function_call");
    const input = [{ type: "function_call_output", call_id: call?.["call_id"], output: "4 degrees" }];
    const [status] = await turn({ model: dialect, input, conversation: id, tools });
    const callId = String(call?.["call_id"]);
    expect([status, await said(id)]).toEqual([
      200,
      ["How warm?", `function_call ${callId}`, `function_call_output ${callId}`, "cold"],
    ]);
    // A turn may have no input of its own.
    expect((await turn({ model: dialect, conversation: id, tools }))[0]).toBe(200);
  });
});

test("two requests at once: neither is lost, and what belongs together stays together", async () => {
  const id = await begin();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  upstream.answer(async (received) => {
    const second = received.text.includes("second");
    arrived[second ? 1 : 0]!.resolve();
    await gates[second ? 1 : 0]!.promise;
    return say(received, { text: second ? "to the second" : "to the first" });
  });
  const turns = ["first", "second"].map((input) => turn({ input, conversation: id }));
  // Both have read the conversation before one of them adds to it.
  await Promise.all(arrived.map(({ promise }) => promise));
  gates[1]!.resolve();
  await turns[1];
  gates[0]!.resolve();
  expect((await Promise.all(turns)).map(([status]) => status)).toEqual([200, 200]);
  expect(await said(id)).toEqual(["second", "to the second", "first", "to the first"]);
});

test("an answer whose client has left is stored in its conversation; a failed one is not", async () => {
  const id = await begin();
  const answer = await app.post("/v1/responses", { model, input: "one", conversation: id, stream: true });
  const reader = answer.body!.getReader();
  let heard = "";
  while (!heard.includes("response.completed")) heard += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  expect(await said(id)).toEqual(["one", "answer 1"]);
  upstream.answer(() => Response.json({ error: { message: "no" } }, { status: 400 }));
  expect((await turn({ input: "two", conversation: id }))[0]).toBe(400);
  expect(await said(id)).toEqual(["one", "answer 1"]);
});

test("an answer of a conversation can be continued by its id", async () => {
  const id = await begin({ items: [user("zero")] });
  const [, first] = await turn({ input: "one", conversation: id });
  await turn({ input: "two", conversation: id });
  const [status] = await turn({ input: "three", previous_response_id: first["id"] });
  const last = upstream.received.at(-1)?.text ?? "";
  expect([status, ["zero", "one", "answer 1", "three"].every((text) => last.includes(text))]).toEqual([200, true]);
  expect(last).not.toContain("two");
  await app.call(`${at}/${id}`, { method: "DELETE" });
  const refused = await turn({ input: "four", previous_response_id: first["id"] });
  expect(codeOf(refused)).toEqual([400, "previous_response_not_found"]);
});

test("conversations: made, read, changed, deleted", async () => {
  const [status, made] = await send(at, { metadata: { topic: "x" } });
  expect([status, made]).toEqual([
    200,
    {
      id: expect.stringMatching(/^conv_[0-9a-f]{32}$/),
      object: "conversation",
      created_at: expect.any(Number),
      metadata: { topic: "x" },
    },
  ]);
  const one = `${at}/${String(made["id"])}`;
  expect(await ask(one)).toEqual([200, made]);
  expect(await send(one, { metadata: { topic: "y" } })).toEqual([200, { ...made, metadata: { topic: "y" } }]);
  expect((await ask(one))[1]["metadata"]).toEqual({ topic: "y" });
  expect(await ask(one, { method: "DELETE" })).toEqual([
    200,
    { id: made["id"], object: "conversation.deleted", deleted: true },
  ]);
  expect((await ask(one))[0]).toBe(404);
  // A request without a body creates a conversation as well.
  expect((await ask(at, { method: "POST" }))[0]).toBe(200);
});

test("items: added, paged, read, deleted", async () => {
  const id = await begin();
  const items = [1, 2, 3, 4, 5].map((n) => user(`m${n}`));
  const [, added] = await send(`${at}/${id}/items`, { items });
  const ids = (added["data"] as Json[]).map((item) => String(item["id"]));
  expect(added).toMatchObject({ object: "list", has_more: false, first_id: ids[0], last_id: ids[4] });
  expect((added["data"] as Json[])[0]).toEqual({
    id: ids[0],
    type: "message",
    role: "user",
    status: "completed",
    content: [{ type: "input_text", text: "m1" }],
  });
  const page = async (query: string) => {
    const [, list] = await ask(`${at}/${id}/items?${query}`);
    return [(list["data"] as Json[]).map((item) => ids.indexOf(String(item["id"])) + 1), list["has_more"]];
  };
  expect(await page("limit=2")).toEqual([[5, 4], true]);
  expect(await page(`limit=2&after=${ids[3]}`)).toEqual([[3, 2], true]);
  expect(await page(`limit=2&after=${ids[1]}`)).toEqual([[1], false]);
  expect(await page(`limit=3&order=asc&after=${ids[1]}`)).toEqual([[3, 4, 5], false]);
  const item = `${at}/${id}/items/${ids[2]}`;
  expect((await ask(item))[1]).toMatchObject({ id: ids[2], content: [{ text: "m3" }] });
  expect((await ask(item, { method: "DELETE" }))[1]).toMatchObject({ id, object: "conversation" });
  expect(codeOf(await ask(item))).toEqual([404, "conversation_item_not_found"]);
  expect(await said(id)).toEqual(["m1", "m2", "m4", "m5"]);
});

test("an item keeps its own id, once; the gateway's ids are never sent to the upstream", async () => {
  const id = await begin({ items: [{ ...user("one"), id: "msg_own" }] });
  const [, again] = await send(`${at}/${id}/items`, { items: [{ ...user("two"), id: "msg_own" }] });
  const other = String((again["data"] as Json[])[0]?.["id"]);
  expect(other).toMatch(/^msg_sallyport_/);
  expect((await ask(`${at}/${id}/items/msg_own`))[1]).toMatchObject({ content: [{ text: "one" }] });
  await turn({ model: "openai-responses", input: [{ ...user("three"), id: other }], conversation: id });
  const sent = upstream.received[0]?.json?.["input"] as Json[];
  expect(sent.map((item) => item["id"])).toEqual(["msg_own", "msg_own", undefined]);
});

const REFUSED: readonly [string, Json][] = [
  ["metadata", { metadata: { a: 1 } }],
  ["metadata", { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, "x"])) }],
  ["metadata", { metadata: { a: "x".repeat(513) } }],
  ["items", { items: "text" }],
  ["items", { items: Array.from({ length: 21 }, () => user("x")) }],
  ["items[1]", { items: [user("x"), { type: "message", role: "nobody", content: "x" }] }],
  ["items[1].type", { items: [user("x"), { type: "compaction_trigger" }] }],
];
test.each(REFUSED)("refused by its name: %s of %j", async (name, body) => {
  const [status, json] = await send(at, body);
  expect([status, String((json["error"] as Json)["param"]).startsWith(name)]).toEqual([400, true]);
});

test.each(["limit=0", "limit=101", "order=up"])("an invalid page: %s", async (query) => {
  const [status, json] = await ask(`${at}/${await begin()}/items?${query}`);
  expect([status, (json["error"] as Json)["param"]]).toEqual([400, query.split("=")[0]]);
});

test("a conversation is refused beside previous_response_id, and 404 if it is unknown or another account's", async () => {
  const id = await begin({ items: [user("mine")] });
  const both = await turn({ input: "x", conversation: id, previous_response_id: "resp_1" });
  expect([both[0], (both[1]["error"] as Json)["param"]]).toEqual([400, "conversation"]);
  for (const conversation of [5, "", {}, { id: 5 }]) {
    expect((await turn({ input: "x", conversation }))[0]).toBe(400);
  }
  expect(codeOf(await turn({ input: "x", conversation: "conv_none" }))).toEqual([404, "conversation_not_found"]);
  expect(codeOf(await turn({ input: "x", conversation: "a\u0000" }))).toEqual([404, "conversation_not_found"]);
  const headers = { authorization: `Bearer ${stranger}`, "content-type": "application/json" };
  const other = { method: "POST", headers, body: JSON.stringify({ model, input: "x", conversation: id }) };
  expect(codeOf(await ask("/v1/responses", other))).toEqual([404, "conversation_not_found"]);
  for (const [method, path, body] of [
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "", { metadata: {} }],
    ["GET", "/items"],
    ["POST", "/items", { items: [user("x")] }],
  ] as const) {
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    expect([path, ...codeOf(await ask(`${at}/${id}${path}`, init))]).toEqual([path, 404, "conversation_not_found"]);
  }
  expect(upstream.received.length).toBe(0);
  expect(await said(id)).toEqual(["mine"]);
});

test("nothing of it is readable in the database, and it is deleted after its retention", async () => {
  const id = await begin({ items: [user("a secret word")], metadata: { topic: "secretive" } });
  await turn({ input: "another secret", conversation: id, store: false });
  const store = await app.openStore();
  const rows = store.statement<{ state: Uint8Array }>(
    "SELECT state FROM threads UNION ALL SELECT state FROM thread_items",
  );
  const bytes = Buffer.concat((await rows.all()).map(({ state }) => state)).toString("latin1");
  await store.close();
  expect(bytes.length).toBeGreaterThan(100);
  expect(bytes).not.toContain("secret");
});

test("with compaction off there are no conversations", async () => {
  const id = await begin();
  await app.reconfigure(config(false));
  expect(codeOf(await send(at, {}))).toEqual([404, "conversation_not_found"]);
  expect(codeOf(await ask(`${at}/${id}`))).toEqual([404, "conversation_not_found"]);
  expect(codeOf(await turn({ input: "x", conversation: id }))).toEqual([404, "conversation_not_found"]);
  await app.reconfigure(config());
  expect((await ask(`${at}/${id}`))[0]).toBe(200);
});
