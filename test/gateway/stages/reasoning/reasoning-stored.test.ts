// Reasoning of stored answers: it is requested encrypted, stored, returned to the provider that issued it, and not shown to
// clients that did not request it.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { say } from "../../../support/fake-model.ts";
import { type Received, sse } from "../../../support/upstream.ts";
import {
  CLIENTS,
  type Client,
  framesIn,
  type Json,
  providerOf,
  sealOf,
  startProviders,
  thinks,
  thoughtOf,
} from "./reasoning-fixture.ts";

const { app, upstream, stop } = await startProviders();
afterAll(stop);

const ENCRYPTED = "reasoning.encrypted_content";
const client = CLIENTS["responses"] as Client;
const SEAL = sealOf("openai");
let sent: Received[] = [];

beforeEach(() => {
  sent = [];
  // OpenAI sends encrypted reasoning to clients that request it, already in the item's first event.
  upstream.answer((received) => {
    sent.push(received);
    const { reasoning, ...said } = thinks(providerOf(received));
    const asked = ((received.json?.["include"] ?? []) as unknown[]).includes(ENCRYPTED);
    return say(received, { ...said, reasoning: asked ? reasoning : { text: reasoning.text } });
  });
});

/** The first request of a client whose answers are stored. */
function opening(model: string, { stream, asks }: { stream: boolean; asks: boolean }): Json {
  const { include: _include, store: _store, ...body } = client.first(model, stream);
  return asks ? { ...body, include: [ENCRYPTED] } : body;
}

async function answered(body: Json): Promise<{ text: string; id: string }> {
  const response = await app.post(client.path, body);
  const text = await response.text();
  expect({ status: response.status, text: response.status === 200 ? "" : text }).toEqual({ status: 200, text: "" });
  const whole = body["stream"] === true ? (framesIn(text).at(-1)?.["response"] as Json) : (JSON.parse(text) as Json);
  return { text, id: String(whole["id"]) };
}

/** Continues a stored answer and returns what the provider received. */
async function goOn(model: string, id: string): Promise<Json> {
  const output = { type: "function_call_output", call_id: "call_1", output: "seen" };
  await answered({ ...opening(model, { stream: false, asks: false }), previous_response_id: id, input: [output] });
  return sent.at(-1)?.json ?? {};
}

const reasoningIn = (up: Json) => (up["input"] as Json[]).find(({ type }) => type === "reasoning");

describe.each([
  [false, false],
  [false, true],
  [true, false],
  [true, true],
])("stream %p, the client asks for encrypted reasoning: %p", (stream, asks) => {
  test("the next turn returns the reasoning to the provider, even after a restart, and the client sees what it requested", async () => {
    const { text, id } = await answered(opening("openai", { stream, asks }));
    expect(sent[0]?.json?.["include"]).toEqual([ENCRYPTED]);
    expect(text.includes(SEAL)).toBe(asks);
    expect(text.includes("encrypted_content")).toBe(asks);
    const path = `/v1/responses/${id}`;
    const shown = await (await app.call(path)).text();
    const replayed = await (await app.call(`${path}?stream=true`)).text();
    for (const seen of [shown, replayed]) {
      expect(seen).not.toContain("sallyport.1.");
      expect(seen.includes(SEAL)).toBe(asks);
    }
    expect(await (await app.call(`${path}?include[]=${ENCRYPTED}`)).text()).toContain(SEAL);
    await app.restart();
    expect(reasoningIn(await goOn("openai", id))).toEqual({
      id: "rs_up1",
      type: "reasoning",
      summary: [{ type: "summary_text", text: thoughtOf("openai") }],
      encrypted_content: SEAL,
    });
  });

  test.each(["azure", "claude", "deepseek", "gemini-3"])("none of it is sent to %s", async (other) => {
    const { id } = await answered(opening("openai", { stream, asks }));
    const up = JSON.stringify(await goOn(other, id));
    for (const foreign of [SEAL, "rs_up1", "sallyport.1.", "fc_call_1"]) expect(up).not.toContain(foreign);
    expect(up).toContain("seen");
  });

  test("a reference to a stored item is replaced by the item", async () => {
    await answered(opening("openai", { stream, asks }));
    const input = [
      { type: "item_reference", id: "rs_up1" },
      { role: "user", content: "Go on." },
    ];
    const { id } = await answered({ ...opening("openai", { stream, asks }), input });
    expect(reasoningIn(sent[1]?.json ?? {})).toMatchObject({ id: "rs_up1", encrypted_content: SEAL });
    const items = await (await app.call(`/v1/responses/${id}/input_items`)).text();
    expect(items).not.toContain("sallyport.1.");
    expect(items.includes(SEAL)).toBe(asks);
  });
});

test("if another provider answered the first turn, each one gets its own reasoning back", async () => {
  const { id: first } = await answered(opening("openai", { stream: false, asks: false }));
  const continued = { ...opening("azure", { stream: false, asks: false }), previous_response_id: first, input: "And?" };
  const { id: second } = await answered(continued);
  const seals = (up: Json) => JSON.stringify(up).match(/"encrypted_content":"[^"]*"/g);
  expect(seals(await goOn("azure", second))).toEqual([`"encrypted_content":"${sealOf("azure")}"`]);
  expect(seals(await goOn("openai", second))).toEqual([`"encrypted_content":"${SEAL}"`]);
});

test.each([
  ["what is not to be stored", { store: false }],
  ["what other entries ask for", { store: false, include: ["message.output_text.logprobs"] }],
])("encrypted reasoning is not requested with %s", async (_name, more: Json) => {
  await answered({ ...opening("openai", { stream: false, asks: false }), ...more });
  expect(sent[0]?.json?.["include"]).toEqual(more["include"]);
});

test("the client's own entries stay", async () => {
  const include = ["message.output_text.logprobs"];
  await answered({ ...opening("openai", { stream: false, asks: false }), include });
  expect(sent[0]?.json?.["include"]).toEqual([...include, ENCRYPTED]);
});

test("the reasoning of a deleted answer is deleted too", async () => {
  const { id } = await answered(opening("openai", { stream: false, asks: false }));
  await app.call(`/v1/responses/${id}`, { method: "DELETE" });
  expect((await app.call(`/v1/responses/${id}?include[]=${ENCRYPTED}`)).status).toBe(404);
  const response = await app.post(client.path, { model: "openai", previous_response_id: id, input: "And?" });
  expect(response.status).toBe(400);
});

test("an answer that fails on the way shows none either", async () => {
  const item = { id: "rs_up1", type: "reasoning", summary: [], encrypted_content: SEAL };
  const frame = (type: string, more: Json) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const error = { code: "server_error", message: "It broke." };
  upstream.answer(() =>
    sse([
      frame("response.created", { sequence_number: 0, response: { id: "resp_up", output: [] } }),
      frame("response.output_item.added", { sequence_number: 1, output_index: 0, item }),
      frame("response.output_item.done", { sequence_number: 2, output_index: 0, item }),
      frame("response.failed", { sequence_number: 3, response: { id: "resp_up", output: [item], error } }),
    ]),
  );
  const text = await (await app.post(client.path, opening("openai", { stream: true, asks: false }))).text();
  expect(text).toContain("response.failed");
  expect(text).toContain("rs_up1");
  expect(text).not.toContain("encrypted_content");
});
