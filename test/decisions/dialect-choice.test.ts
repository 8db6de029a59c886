// Models that a provider serves only by the Responses API can answer decisions too.

import { afterAll, expect, test } from "bun:test";
import { say } from "../support/fake-model.ts";
import { startUpstream } from "../support/upstream.ts";
import { startGateway } from "./support.ts";

const upstream = startUpstream();
const provider = { kind: "openai", preset: "openai", base_url: upstream.baseUrl, api_key: "k", discover: false };
const ofModel = (id: string, model: string) => ({
  id,
  backend: { kind: "verbalized", orders: 1, routes: [{ provider: "vendor", model }] },
});
const gateway = await startGateway({
  providers: { vendor: provider },
  decisions: {
    models: [
      ofModel("codex-1.0.0", "gpt-5.1-codex"),
      ofModel("pro-1.0.0", "gpt-5-pro"),
      ofModel("plain-1.0.0", "gpt-4.1"),
    ],
  },
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

test.each([
  ["codex-1.0.0", "/responses"],
  ["pro-1.0.0", "/responses"],
  ["plain-1.0.0", "/chat/completions"],
])("%s is called with %s", async (model, path) => {
  const paths: string[] = [];
  upstream.answer((received) => {
    paths.push(received.path);
    return say(received, { text: '{"1": 0.9, "2": 0.1}' });
  });
  const questions = { q: { type: "choice", criteria: { red: null, green: null } } };
  const answer = await gateway.post("/v1/systemone", { model, state: "Red.", questions }, await gateway.key());
  expect({ status: answer.status, body: answer.status === 200 ? "" : answer.body }).toEqual({ status: 200, body: "" });
  expect(Math.max(...(Object.values(answer.body.answers.q.probabilities) as number[]))).toBeCloseTo(0.9, 5);
  expect(paths).toHaveLength(1);
  expect(paths[0]).toEndWith(path);
});
