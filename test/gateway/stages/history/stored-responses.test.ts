// Stored answers through the running program: chains, references, ownership and deletion, with an upstream of another protocol
// and with one of the same.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { accountStore } from "../../../../src/store/access/accounts.ts";
import { keyStore } from "../../../../src/store/access/keys.ts";
import { responseStore } from "../../../../src/store/work/responses.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { chatAnswer, chatChunk, framesOf, type Received, sse, startUpstream } from "../../../support/upstream.ts";

type Json = Record<string, unknown>;

const chat = startUpstream();
const native = startUpstream();
const app: TestApp = await startTestApp({
  config: {
    providers: {
      chat: { kind: "openai", base_url: chat.baseUrl, api_key: "sk-up", discover: false },
      native: { kind: "openai-responses", base_url: native.baseUrl, api_key: "sk-up", discover: false },
    },
    models: [
      { id: "translated", routes: [{ provider: "chat", model: "up-model" }] },
      { id: "blind", supports_vision: false, routes: [{ provider: "chat", model: "up-model" }] },
      { id: "lossless", routes: [{ provider: "native", model: "up-model" }] },
    ],
  },
});

afterAll(async () => {
  await app.stop();
  chat.stop();
  native.stop();
});

beforeEach(() => {
  chat.received.length = 0;
  native.received.length = 0;
  chat.answer((received) =>
    received.json?.["stream"] === true ? chatStream("Hi Ada") : chatAnswer({ content: "Hi Ada" }),
  );
  native.answer(nativeAnswer);
});

function chatStream(text: string): Response {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  return sse([
    chatChunk({ role: "assistant", content: text }),
    chatChunk({}, { finish: "stop" }),
    chatChunk(null, { usage }),
    "data: [DONE]\n\n",
  ]);
}

const nativeResponse = {
  id: "resp_upstream",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "up-model",
  previous_response_id: null,
  output: [
    { type: "reasoning", id: "rs_upstream1", summary: [] },
    {
      type: "message",
      id: "msg_upstream1",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: "Hi Ada", annotations: [] }],
    },
  ],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  not_known_here: { kept: true },
};

function nativeAnswer(received: Received): Response {
  if (received.json?.["stream"] !== true) return Response.json(nativeResponse);
  const frame = (type: string, more: Json) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  return sse([
    frame("response.created", {
      sequence_number: 0,
      response: { ...nativeResponse, status: "in_progress", output: [] },
    }),
    frame("response.output_text.delta", {
      sequence_number: 1,
      item_id: "msg_upstream1",
      output_index: 1,
      content_index: 0,
      delta: "Hi Ada",
      logprobs: [],
    }),
    frame("response.completed", { sequence_number: 2, response: nativeResponse }),
  ]);
}

async function create(body: Json): Promise<Json> {
  const response = await app.post("/v1/responses", body);
  expect(response.status).toBe(200);
  if (body["stream"] !== true) return (await response.json()) as Json;
  const frames = (await framesOf(response)) as Json[];
  return frames.find((frame) => frame["type"] === "response.completed")?.["response"] as Json;
}

const rolesOf = (received: Received | undefined) =>
  ((received?.json?.["messages"] ?? received?.json?.["input"] ?? []) as Json[]).map(
    (turn) => turn["role"] ?? turn["type"],
  );

describe.each(["translated", "lossless"])("over a %s upstream", (model) => {
  const upstream = model === "lossless" ? native : chat;

  test.each([false, true])("an answer can be fetched and deleted (stream: %p)", async (stream) => {
    const answer = await create({ model, input: "I am Ada", stream });
    const path = `/v1/responses/${answer["id"]}`;
    const fetched = await app.call(path);
    expect(fetched.status).toBe(200);
    expect(await fetched.json()).toEqual(answer);
    const again = await app.call(`${path}?stream=true&starting_after=1`);
    expect(again.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const frames = (await framesOf(again)) as Json[];
    expect(frames[0]).toMatchObject({ type: "response.output_item.added", sequence_number: 2 });
    expect(frames.slice(-2)).toMatchObject([{ type: "response.completed", response: answer }, "[DONE]"]);
    const odd = await app.call(`${path}?stream=true&starting_after=x`);
    expect(odd.status).toBe(400);
    expect(await odd.json()).toMatchObject({ error: { param: "starting_after" } });
    const deleted = await app.call(path, { method: "DELETE" });
    expect(await deleted.json()).toEqual({ id: answer["id"], object: "response", deleted: true });
    for (const method of ["GET", "DELETE"]) {
      const gone = await app.call(path, { method });
      expect(gone.status).toBe(404);
      expect(await gone.json()).toMatchObject({ error: { code: "response_not_found", type: "not_found_error" } });
    }
  });

  test.each([false, true])("a chain sends the whole history to the upstream (stream: %p)", async (stream) => {
    const first = await create({ model, input: "I am Ada", instructions: "Be brief.", stream });
    const second = await create({ model, input: "Who am I?", previous_response_id: first["id"], stream });
    expect(second["previous_response_id"]).toBe(first["id"]);
    const third = await create({
      model,
      input: [{ role: "user", content: "Sure?" }],
      previous_response_id: second["id"],
      stream,
    });
    expect(third["previous_response_id"]).toBe(second["id"]);
    const sent = upstream.received[2];
    expect(sent?.json).not.toHaveProperty("previous_response_id");
    // Instructions apply to one request only.
    const roles = rolesOf(sent).filter((role) => role !== "reasoning");
    expect(roles).toEqual(["user", "assistant", "user", "assistant", "user"]);
    expect(sent?.text).toContain("I am Ada");
    expect(sent?.text).toContain("Sure?");
  });

  test("a reference to an item is replaced by the item", async () => {
    const first = await create({ model, input: "I am Ada" });
    const message = (first["output"] as Json[]).find((item) => item["type"] === "message") as Json;
    await create({
      model,
      input: [
        { role: "user", content: "I am Ada" },
        { type: "item_reference", id: message["id"] },
        { role: "user", content: "Who am I?" },
      ],
    });
    expect(rolesOf(upstream.received[1])).toEqual(["user", "assistant", "user"]);
    expect(upstream.received[1]?.text).not.toContain("item_reference");
  });

  test("the input of an answer can be listed", async () => {
    const { id } = await create({ model, input: "I am Ada" });
    const listed = (await (await app.call(`/v1/responses/${id}/input_items`)).json()) as { data: Json[] };
    expect(listed.data).toMatchObject([{ role: "user", content: [{ type: "input_text", text: "I am Ada" }] }]);
    expect((await app.call("/v1/responses/resp_unknown/input_items")).status).toBe(404);
  });

  test("a request for the background is answered at once, and the answer says so", async () => {
    const response = await app.post("/v1/responses", { model, input: "I am Ada", background: true });
    expect(response.headers.get("x-sallyport-dropped")).toContain("background");
    expect(upstream.received[0]?.json).not.toHaveProperty("background");
    expect(await response.json()).toMatchObject({ status: "completed" });
  });

  test("an answer with store false is not stored", async () => {
    const answer = await create({ model, input: "I am Ada", store: false });
    expect((await app.call(`/v1/responses/${answer["id"]}`)).status).toBe(404);
  });

  test.each([
    ["an unknown answer", async () => "resp_unknown"],
    [
      "a deleted one",
      async () => {
        const { id } = await create({ model, input: "I am Ada" });
        await app.call(`/v1/responses/${id}`, { method: "DELETE" });
        return id;
      },
    ],
    [
      "a deleted one further back",
      async () => {
        const first = await create({ model, input: "I am Ada" });
        const second = await create({ model, input: "Go on", previous_response_id: first["id"] });
        await app.call(`/v1/responses/${first["id"]}`, { method: "DELETE" });
        return second["id"];
      },
    ],
  ])("continuing %s is refused before an upstream is asked", async (_name, make) => {
    const previous_response_id = await make();
    const before = upstream.received.length;
    const response = await app.post("/v1/responses", { model, input: "Who am I?", previous_response_id });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "previous_response_not_found", param: "previous_response_id", type: "invalid_request_error" },
    });
    expect(upstream.received.length).toBe(before);
  });

  test("an answer that broke off is not stored", async () => {
    upstream.answer(() =>
      model === "lossless"
        ? sse([
            `event: response.created\ndata: ${JSON.stringify({ type: "response.created", response: { id: "resp_x", output: [] } })}\n\n`,
            `event: response.output_text.delta\ndata: ${JSON.stringify({ type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: "Hi" })}\n\n`,
          ])
        : sse([chatChunk({ role: "assistant", content: "Hi" })]),
    );
    const response = await app.post("/v1/responses", { model, input: "I am Ada", stream: true });
    const frames = (await framesOf(response)) as Json[];
    const failed = frames.at(-1) as Json;
    expect(failed["type"]).toBe("response.failed");
    expect((await app.call(`/v1/responses/${(failed["response"] as Json)["id"]}`)).status).toBe(404);
  });
});

test("a conversation may move to another model", async () => {
  const first = await create({ model: "translated", input: "I am Ada" });
  await create({ model: "lossless", input: "Who am I?", previous_response_id: first["id"] });
  const input = native.received[0]?.json?.["input"] as Json[];
  expect(input.map((item) => item["role"])).toEqual(["user", "assistant", "user"]);
  // The upstream does not know ids of the gateway.
  expect(input.every((item) => !("id" in item))).toBe(true);
  expect(native.received[0]?.json).toMatchObject({ model: "up-model" });
});

test("a history with images needs a model with image input", async () => {
  const image_url = "data:image/png;base64,iVBORw0KGgo=";
  const first = await create({
    model: "translated",
    input: [{ role: "user", content: [{ type: "input_image", image_url }] }],
  });
  const response = await app.post("/v1/responses", {
    model: "blind",
    input: "And?",
    previous_response_id: first["id"],
  });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "image_input_not_supported" } });
});

test("another account's answers are unknown", async () => {
  const store = await app.openStore();
  const account = await accountStore(store).createAccount({
    username: "eve",
    email: "eve@example.com",
    tier: "premium",
    emailVerified: true,
  });
  if ("refused" in account) throw new Error(account.refused);
  const { key } = await keyStore(store).createKey({ accountId: account.id, name: "eve" });
  await store.close();
  const { id } = await create({ model: "translated", input: "I am Ada" });
  const headers = { authorization: `Bearer ${key}` };
  expect((await app.call(`/v1/responses/${id}`, { headers })).status).toBe(404);
  expect((await app.call(`/v1/responses/${id}`, { method: "DELETE", headers })).status).toBe(404);
  const continued = await app.post(
    "/v1/responses",
    { model: "translated", input: "x", previous_response_id: id },
    headers,
  );
  expect(continued.status).toBe(400);
  expect((await app.call(`/v1/responses/${id}`)).status).toBe(200);
});

test("a GET without an upgrade is told to make one", async () => {
  const refused = await app.call("/v1/responses");
  expect(refused.status).toBe(426);
  expect(await refused.json()).toMatchObject({ error: { code: "upgrade_required" } });
  expect((await app.call("/v1/responses", { headers: { authorization: "" } })).status).toBe(401);
  expect((await app.call("/v1/responses/resp_x", { headers: { authorization: "" } })).status).toBe(401);
});

test("the operator configures the default for storing, and for how long answers are stored", async () => {
  const provider = { kind: "openai", base_url: chat.baseUrl, api_key: "k", discover: false };
  const models = [{ id: "m", routes: [{ provider: "p", model: "up" }] }];
  const own = await startTestApp({
    config: { responses: { store: false, retention: "1s" }, providers: { p: provider }, models },
  });
  const ask = async (more: Json) =>
    (await (await own.post("/v1/responses", { model: "m", input: "x", ...more })).json()) as Json;
  const quiet = await ask({});
  expect(quiet["store"]).toBe(false);
  expect((await own.call(`/v1/responses/${quiet["id"]}`)).status).toBe(404);
  const kept = await ask({ store: true });
  expect((await own.call(`/v1/responses/${kept["id"]}`)).status).toBe(200);
  const store = await own.openStore();
  const row = await responseStore(store).findResponse(own.accountId, String(kept["id"]));
  expect((row?.expiresAtMs ?? 0) - (row?.createdAtMs ?? 0)).toBeWithin(900, 1100);
  await store.close();
  await own.stop();
});
