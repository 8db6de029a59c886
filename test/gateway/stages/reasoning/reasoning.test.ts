// Which reasoning is sent to which provider: every provider's reasoning, returned by every client format, to every provider, with
// the same protocol on both sides, with different ones, and with a fallback to another provider.

import { afterAll, describe, expect, test } from "bun:test";
import { dialectOf, say } from "../../../support/fake-model.ts";
import {
  CLIENTS,
  type Client,
  framesIn,
  type Json,
  NAMES,
  PROVIDERS,
  providerOf,
  sealOf,
  startProviders,
  thinks,
  thoughtOf,
} from "./reasoning-fixture.ts";

const { app, upstream, stop } = await startProviders();
afterAll(stop);

/** Lets `minter` answer the first turn and returns what `target` receives for the second one. */
async function secondTurn(
  client: Client,
  { model, next, target, stream }: { model: string; next: string; target: string; stream: boolean },
): Promise<Json> {
  upstream.answer((received) => say(received, thinks(providerOf(received))));
  const answer = await app.post(client.path, client.first(model, stream));
  expect(answer.status).toBe(200);
  const text = await answer.text();
  const kept = stream ? client.streamed(framesIn(text)) : client.kept(JSON.parse(text) as Json);
  let up: Json | undefined;
  upstream.answer((received) => {
    if (providerOf(received) !== target) return Response.json({ error: { message: "busy" } }, { status: 503 });
    up = received.json;
    return say(received, { text: "Done." });
  });
  const done = await app.post(client.path, client.second(next, kept));
  expect({ status: done.status, text: done.status === 200 ? "" : await done.text() }).toEqual({
    status: 200,
    text: "",
  });
  if (up === undefined) throw new Error(`${target} received nothing`);
  return up;
}

/** Checks every rule for requests to this provider. */
function expectReadable(up: Json, target: string, minter: string): void {
  const text = JSON.stringify(up);
  expect(text).not.toContain("sallyport.1");
  if (minter !== target) expect(text).not.toContain(sealOf(minter));
  switch (dialectOf(target === "" ? "" : pathOf(target))) {
    case "anthropic-messages":
      for (const block of blocksIn(up)) {
        if (block["type"] === "thinking") expect(block["signature"]).toBe(sealOf(target));
      }
      expectThinkingFits(up);
      break;
    case "openai-responses":
      for (const item of up["input"] as Json[]) {
        if (item["type"] === "reasoning") expect(item["encrypted_content"]).toBe(sealOf(target));
        // With an id the provider would look the item up in its own store.
        if (minter !== target) expect(item).not.toHaveProperty("id");
      }
      break;
    case "openai-chat":
      expect(text).not.toContain('"reasoning_details":[]');
      if (PROVIDERS[target]?.quirks?.["refuses_reasoning"] === true) {
        expect(JSON.stringify(up["messages"])).not.toMatch(/"reasoning\w*":/);
      }
      break;
    default:
      break;
  }
}

const PATHS: Readonly<Record<string, string>> = {
  anthropic: "/messages",
  "openai-responses": "/responses",
  openai: "/chat/completions",
  gemini: "/models",
};
const pathOf = (name: string) => PATHS[PROVIDERS[name]?.kind ?? ""] ?? "";

const blocksIn = (up: Json) =>
  (up["messages"] as Json[]).flatMap(({ content }) => (Array.isArray(content) ? (content as Json[]) : []));

/** With a thinking budget, a turn that calls tools must start with its thinking. Otherwise thinking must be off. */
function expectThinkingFits(up: Json): void {
  if ((up["thinking"] as Json | undefined)?.["type"] !== "enabled") return;
  const turn = (up["messages"] as Json[]).findLast(({ role }) => role === "assistant");
  expect(turn?.["content"]).toMatchObject([{ type: "thinking" }, { type: "tool_use" }]);
}

const pairs = NAMES.flatMap((minter) => NAMES.map((target) => ({ minter, target })));

describe.each(Object.entries(CLIENTS))("%s client", (_name, client) => {
  describe.each([false, true])("stream %p", (stream) => {
    test.each(pairs)("$minter, then $target", async ({ minter, target }) => {
      const up = await secondTurn(client, { model: minter, next: target, target, stream });
      expectReadable(up, target, minter);
      if (minter === target && PROVIDERS[target]?.kind !== "openai") {
        expect(JSON.stringify(up)).toContain(sealOf(target));
      }
      // A provider that requires its reasoning back gets it unchanged.
      if (target === "deepseek" && minter === target) {
        expect(JSON.stringify(up)).toContain(`"reasoning_content":"${thoughtOf(minter)}"`);
      }
    });

    test.each(pairs.filter(({ minter, target }) => minter !== target))(
      "$minter, which fails, so $target",
      async ({ minter, target }) => {
        const model = `${minter}-then-${target}`;
        expectReadable(await secondTurn(client, { model, next: model, target, stream }), target, minter);
      },
    );
  });
});
