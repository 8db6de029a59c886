// Anthropic's tool runner with upstreams of other protocols, which have no threads: it reads the refusal and sends the whole
// history.

import { afterAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { startTestApp } from "../support/app.ts";
import { DIALECTS, KINDS, say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";

const upstream = startUpstream();
const others = DIALECTS.filter((name) => name !== "anthropic-messages");
const app = await startTestApp({
  config: {
    providers: Object.fromEntries(
      others.map((name) => [
        name,
        { kind: KINDS[name], base_url: upstream.baseUrl, api_key: "k", discover: false, retry: { attempts: 1 } },
      ]),
    ),
    models: others.map((id) => ({ id, routes: [{ provider: id, model: "up-model" }] })),
  },
});
afterAll(async () => {
  await app.stop();
  upstream.stop();
});

test.each(others)("the tool runner keeps its history over %s", async (model) => {
  upstream.received.length = 0;
  upstream.answer((received) => {
    const isFirst = upstream.received.length === 1;
    return say(received, isFirst ? { calls: [{ id: "c_1", name: "look", args: {} }] } : { text: "Seen." });
  });
  const anthropic = new Anthropic({ baseURL: app.url, apiKey: app.key, maxRetries: 0 });
  const inputSchema = { type: "object" as const, properties: {} };
  const look = betaTool({ name: "look", description: "Looks", inputSchema, run: () => "a mountain" });
  const messages = [{ role: "user" as const, content: "What is there?" }];
  const last = await anthropic.beta.messages.toolRunner({ model, max_tokens: 100, messages, tools: [look] });
  expect(last.content).toMatchObject([{ type: "text", text: "Seen." }]);
  expect(upstream.received).toHaveLength(2);
  for (const said of ["What is there?", "a mountain"]) expect(upstream.received[1]?.text).toContain(said);
});
