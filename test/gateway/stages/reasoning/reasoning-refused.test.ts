// A provider that refuses the reasoning of a history is called once more without it: with every protocol, with the known error
// texts of vendors, streamed and whole.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { ModelRoute } from "../../../../src/catalog/models.ts";
import { ReasoningMemory } from "../../../../src/gateway/stages/reasoning/reasoning-memory.ts";
import { learnsRefusal } from "../../../../src/gateway/stages/reasoning/refused-reasoning.ts";
import { UpstreamFault } from "../../../../src/upstream/fault.ts";
import type { Provider } from "../../../../src/upstream/provider.ts";
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
} from "./reasoning-fixture.ts";

const { app, upstream, stop } = await startProviders();
afterAll(stop);

let sent: Received[] = [];
beforeEach(() => {
  sent = [];
});

const openai = (message: string, code: string | null = null, status = 400) => {
  const error = { message, type: "invalid_request_error", param: null, code };
  return () => Response.json({ error }, { status });
};
const anthropic = (message: string) => () =>
  Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 });
const gemini = (message: string) => () =>
  Response.json({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }, { status: 400 });

const UNVERIFIED = openai("The encrypted content gAAA...DQ== could not be verified.", "invalid_encrypted_content");
const ALONE = openai("Item 'rs_1' of type 'reasoning' was provided without its required following item.");
const UNSIGNED = anthropic("messages.1.content.0: Invalid `signature` in `thinking` block");

const REFUSALS: [string, string, () => Response, string][] = [
  ["responses", "openai", UNVERIFIED, "input.reasoning"],
  ["responses", "openai", openai("Not readable.", "thinking_signature_invalid"), "input.reasoning"],
  ["responses", "openai", ALONE, "input.reasoning"],
  ["chat", "openai", ALONE, "messages.reasoning"],
  ["messages", "openai", UNVERIFIED, "messages.thinking"],
  ["chat", "openai", UNVERIFIED, "messages.reasoning"],
  ["messages", "claude", UNSIGNED, "messages.thinking"],
  [
    "messages",
    "claude",
    anthropic("`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."),
    "messages.thinking",
  ],
  ["messages", "claude", anthropic("messages.1: Invalid `data` in `redacted_thinking` block"), "messages.thinking"],
  ["responses", "claude", UNSIGNED, "input.reasoning"],
  ["chat", "claude", UNSIGNED, "messages.reasoning"],
  ["messages", "gemini-3", gemini("Corrupted thought signature."), "messages.thinking"],
  ["chat", "gemini-3", gemini("Invalid thought signature."), "messages.reasoning"],
  [
    "responses",
    "gemini-3",
    gemini("Unable to submit request because Thought signature is not valid."),
    "input.reasoning",
  ],
];

/** The first turn of a conversation, as its client stores it. */
async function firstTurn(client: Client, model: string, stream: boolean): Promise<Json[]> {
  upstream.answer((received) => say(received, thinks(providerOf(received))));
  const text = await (await app.post(client.path, client.first(model, stream))).text();
  return stream ? client.streamed(framesIn(text)) : client.kept(JSON.parse(text) as Json);
}

/** Makes the provider refuse every request that contains its seal. */
function refuse(model: string, refusal: () => Response): void {
  upstream.answer((received) => {
    sent.push(received);
    return received.text.includes(sealOf(model)) ? refusal() : say(received, { text: "Done." });
  });
}

describe.each([false, true])("stream %p", (stream) => {
  test.each(REFUSALS)(
    "%s client, %s: asked once more without what it refused",
    async (name, model, refusal, dropped) => {
      const client = CLIENTS[name] as Client;
      const kept = await firstTurn(client, model, stream);
      refuse(model, refusal);
      const response = await app.post(client.path, { ...client.second(model, kept), stream });
      const text = await response.text();
      expect({ status: response.status, text: response.status === 200 ? "" : text }).toEqual({ status: 200, text: "" });
      expect(text).toContain('"Do');
      expect(response.headers.get("x-sallyport-dropped")).toContain(dropped);
      expect(sent.map((received) => received.text.includes(sealOf(model)))).toEqual([true, false]);
      expect(sent[1]?.text).toContain("seen");
    },
  );
});

test.each([false, true])("a call whose answer reports it is repeated once, stream %p", async (stream) => {
  const client = CLIENTS["responses"] as Client;
  const kept = await firstTurn(client, "openai", stream);
  const error = { code: "invalid_encrypted_content", message: "The encrypted content could not be verified." };
  const failed = { id: "resp_up", status: "failed", output: [], error };
  const frame = (type: string, more: Json) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const frames = [
    frame("response.created", { sequence_number: 0, response: { id: "resp_up", output: [] } }),
    frame("response.failed", { sequence_number: 1, response: failed }),
  ];
  refuse("openai", () => (stream ? sse(frames) : Response.json(failed)));
  const response = await app.post(client.path, { ...client.second("openai", kept), stream });
  expect(await response.text()).toContain('"status":"completed"');
  expect(sent).toHaveLength(2);
});

test("a provider that refuses again is not called a third time", async () => {
  const client = CLIENTS["responses"] as Client;
  const kept = await firstTurn(client, "openai", false);
  upstream.answer((received) => {
    sent.push(received);
    return UNVERIFIED();
  });
  const response = await app.post(client.path, client.second("openai", kept));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: "invalid_encrypted_content" } });
  expect(sent).toHaveLength(2);
});

test.each([
  ["another refusal", openai("Invalid value for 'input'.", "invalid_value")],
  ["a refusal of what is not there", UNVERIFIED],
])("%s is returned to the client at once", async (name, refusal) => {
  const client = CLIENTS["responses"] as Client;
  const kept = name === "another refusal" ? await firstTurn(client, "openai", false) : [];
  upstream.answer((received) => {
    sent.push(received);
    return refusal();
  });
  const body = kept.length > 0 ? client.second("openai", kept) : client.first("openai", false);
  expect((await app.post(client.path, body)).status).toBe(400);
  expect(sent).toHaveLength(1);
});

test("a reference that the provider no longer stores is left out", async () => {
  const client = CLIENTS["responses"] as Client;
  upstream.answer((received) => say(received, { ...thinks("openai"), reasoning: { text: "Hm." } }));
  const { include: _include, ...first } = client.first("openai", false);
  const kept = client.kept((await (await app.post(client.path, { ...first, store: true })).json()) as Json);
  const gone = openai(
    "Item with id 'rs_up1' not found. Items are not persisted when `store` is set to false.",
    null,
    404,
  );
  upstream.answer((received) => {
    sent.push(received);
    return received.text.includes("rs_up1") ? gone() : say(received, { text: "Done." });
  });
  const response = await app.post(client.path, client.second("openai", kept));
  expect(response.status).toBe(200);
  expect(response.headers.get("x-sallyport-dropped")).toContain("input.reasoning");
  expect(sent).toHaveLength(2);
  expect(sent[1]?.text).not.toContain("fc_call_1");
});

test.each([false, true])("a model without encrypted reasoning is not asked for it again, stream %p", async (stream) => {
  const model = stream ? "azure" : "openai";
  const error = { message: "Encrypted content is not supported with this model.", param: "include", code: null };
  upstream.answer((received) => {
    sent.push(received);
    if (received.json?.["include"] === undefined) return say(received, { text: "Done." });
    return Response.json({ error: { ...error, type: "invalid_request_error" } }, { status: 400 });
  });
  for (const calls of [2, 3]) {
    const response = await app.post("/v1/responses", { model, input: "Hi", stream });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"Do');
    expect(response.headers.get("x-sallyport-dropped")).toBeNull();
    expect(sent).toHaveLength(calls);
  }
});

test.each([
  ["Unknown parameter: 'include'.", undefined, true],
  ["include: Extra inputs are not permitted", undefined, true],
  ["Encrypted content is not supported with this model.", undefined, true],
  ["Not here.", "include[0]", true],
  ["Invalid value: 'x'. Supported values include 'low' and 'high'.", undefined, false],
  ["Your input must include at least one item.", "input", false],
])("whether the error %p (%p) means that the model has no encrypted reasoning: %p", (message, param, says) => {
  const memory = new ReasoningMemory();
  const route = { provider: "p", model: "m" } as ModelRoute;
  const request = { path: "", headers: {}, dropped: [], hidesEncrypted: true };
  const failed = {
    error: new UpstreamFault("bad_request", message, param === undefined ? {} : { said: { param } }),
    route,
    provider: { minter: "minter" } as Provider,
    built: { ...request, body: "" },
  };
  expect(learnsRefusal(failed, new Set(), memory)).toBe(says);
  expect(memory.maySeal("minter", "m")).toBe(!says);
});
