// Decisions of guardrails count against the budgets of the caller who pays for them, also those that are made at the same time.

import { afterAll, expect, test } from "bun:test";
import { startTestApp } from "../../../support/app.ts";
import { chatAnswer, type Received, startUpstream } from "../../../support/upstream.ts";

const upstream = startUpstream();
const question = { instructions: "Is it harmful?" };
const decided = (name: string, more: object, others: object = {}) => ({
  name,
  on: ["input"],
  timeout: "1h",
  check: { kind: "decision", model: "judge", question, at_least: 0.7, ...more },
  apply: { models: [name] },
  ...others,
});
const app = await startTestApp({
  key: { budgetMicros: 1_000_000 },
  config: {
    providers: { up: { kind: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false } },
    models: ["beside", "before", "lenient"].map((id) => ({ id, routes: [{ provider: "up", model: "m" }] })),
    decisions: {
      models: [
        {
          id: "judge",
          // Each decision of a few dozen tokens may cost more than half of the budget.
          prices: { input: 20_000 },
          backend: { kind: "systemone", routes: [{ provider: "up", model: "j" }] },
        },
      ],
    },
    guardrails: [
      decided("beside", {}),
      decided("before", { beside: false }),
      decided("lenient", { beside: false }, { on_error: "pass" }),
    ],
  },
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const isDecision = ({ path }: Received) => path.endsWith("/systemone");
const allowed = () =>
  Response.json({ model: "j", answers: { asked: { type: "noul", noul: 0 } }, usage: { input_tokens: 1 } });
const ask = (model: string) =>
  app.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "word ".repeat(30) }] });

test.each(["beside", "before", "lenient"])("a second one at the same time is refused: %s", async (model) => {
  upstream.received.length = 0;
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<Response>();
  upstream.answer((received) => {
    if (!isDecision(received)) return chatAnswer({ content: "Hi." });
    asked.resolve();
    return gate.promise;
  });
  const first = ask(model);
  await asked.promise;
  const second = await ask(model);
  expect(await second.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
  expect(second.headers.get("retry-after")).toBe("2");
  expect(upstream.received.filter(isDecision)).toHaveLength(1);
  gate.resolve(allowed());
  expect((await first).status).toBe(200);
  // Nothing stays reserved.
  upstream.answer((received) => (isDecision(received) ? allowed() : chatAnswer({ content: "Hi." })));
  expect((await ask(model)).status).toBe(200);
});
