// The client chooses the version of Anthropic's API. The provider's own version is only the default.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../support/app.ts";
import { say } from "../support/fake-model.ts";
import { type FakeUpstream, startUpstream } from "../support/upstream.ts";

let upstream: FakeUpstream;
let app: TestApp;

beforeAll(async () => {
  upstream = startUpstream((received) =>
    received.path.endsWith("/count_tokens") ? Response.json({ input_tokens: 1 }) : say(received, { text: "hi" }),
  );
  const provider = { kind: "anthropic", base_url: upstream.baseUrl, api_key: "k", discover: false };
  app = await startTestApp({
    config: {
      providers: { plain: provider, pinned: { ...provider, headers: { "anthropic-version": "2024-12-24" } } },
      models: ["plain", "pinned"].map((id) => ({ id, routes: [{ provider: id, model: "up" }] })),
    },
  });
});
afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const messages = [{ role: "user", content: "hi" }];
const chat = (model: string) => ({ model, messages });
const message = (model: string) => ({ ...chat(model), max_tokens: 10 });
const streamed = (model: string) => ({ ...message(model), stream: true });

test.each<[string, (model: string) => unknown, string, string | undefined, string]>([
  ["/v1/messages", message, "plain", "2026-10-21", "2026-10-21"],
  ["/v1/messages", message, "plain", undefined, "2023-06-01"],
  ["/v1/messages", streamed, "plain", "2026-10-21", "2026-10-21"],
  ["/v1/messages/count_tokens", chat, "plain", "2026-10-21", "2026-10-21"],
  ["/v1/chat/completions", chat, "plain", undefined, "2023-06-01"],
  // The gateway's own bodies follow its own version.
  ["/v1/chat/completions", chat, "plain", "2026-10-21", "2023-06-01"],
  ["/v1/responses", (model) => ({ model, input: "hi" }), "plain", "2026-10-21", "2023-06-01"],
  // A version in the operator's configuration takes precedence.
  ["/v1/messages", message, "pinned", "2026-10-21", "2024-12-24"],
])("%s %p over %s: %p goes up as %s", async (path, body, model, version, sent) => {
  upstream.received.length = 0;
  const headers: Record<string, string> = version === undefined ? {} : { "anthropic-version": version };
  const answer = await app.post(path, body(model), headers);
  expect(answer.status).toBe(200);
  await answer.text();
  expect(upstream.received.map((one) => one.headers.get("anthropic-version"))).toEqual([sent]);
  expect(upstream.received[0]?.headers.get("x-api-key")).toBe("k");
});

test.each([
  ["2023-06-01", 400],
  ["2026-10-21", 200],
])("a system message among the messages with version %s: %i", async (version, status) => {
  const body = { ...message("plain"), messages: [...messages, { role: "system", content: "Be brief." }] };
  for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
    upstream.received.length = 0;
    const answer = await app.post(path, body, { "anthropic-version": version });
    expect([path, answer.status]).toEqual([path, status]);
    // Upstreams of the same format get the system message in its place.
    if (status === 200) expect(upstream.received[0]?.json?.["messages"]).toEqual(body.messages);
  }
});
