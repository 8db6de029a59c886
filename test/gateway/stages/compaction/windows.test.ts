// The window that a provider reports when it refuses a prompt: it is learnt from any request, and the next conversation is shortened
// before it is sent.

import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { startUpstream } from "../../../support/upstream.ts";
import { tightUpstream } from "./tight-upstream.ts";

const upstream = startUpstream();
const app = await startTestApp({
  config: {
    providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
    // The windows of the models are not known.
    models: ["m", "unlearnt"].map((id) => ({ id, routes: [{ provider: "up", model: id }] })),
    tiers: { premium: { rpm: 1_000_000 } },
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

test("a refusal of a request without a thread is enough", async () => {
  const { seen, script } = tightUpstream({ window: 4000, say: () => ({ text: "Well said." }) });
  upstream.answer(script);
  const messages = Array.from({ length: 61 }, (_, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: `turn ${n}: ${"as was said before ".repeat(20)}`,
  }));
  const body = { model: "m", max_tokens: 100, messages };
  expect((await app.post("/v1/chat/completions", body)).status).toBe(400);
  expect(seen.refusals).toBe(1);
  const answer = await app.post("/v1/chat/completions", { ...body, thread_id: "t" });
  expect(answer.status).toBe(200);
  expect(seen.refusals).toBe(1);
});

test("a conversation that was shortened after a refusal stays so when the provider fails and is tried again", async () => {
  const { seen, script } = tightUpstream({ window: 4000, say: () => ({ text: "Well said." }) });
  let failures = 0;
  upstream.answer((received) => {
    const answer = script(received);
    const isTurn = answer.ok && seen.turns.at(-1) === received;
    return isTurn && failures++ === 0 ? new Response("{}", { status: 503 }) : answer;
  });
  const messages = Array.from({ length: 61 }, (_, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: `turn ${n}: ${"as was said before ".repeat(20)}`,
  }));
  const body = { model: "unlearnt", max_tokens: 100, messages, thread_id: "again" };
  expect((await app.post("/v1/chat/completions", body)).status).toBe(200);
  expect([seen.refusals, failures]).toEqual([1, 2]);
});
