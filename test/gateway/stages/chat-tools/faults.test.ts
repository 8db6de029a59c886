// What happens around the tools of a chat: the client leaves, a budget ends, and guardrails look through what was found.

import { afterAll, expect, test } from "bun:test";
import { startToolsApp } from "./fixture.ts";

const { app, site, upstream, config, plays, stop } = await startToolsApp();
afterAll(stop);

const search = (query: string) => ({ calls: [{ name: "web_search", input: { query } }] });
const BODY = { model: "m", messages: [{ role: "user", content: "What is rye?" }], web_search_options: {} };

test.each([false, true])(
  "a client that leaves in a search ends it, and no further round begins (stream %p)",
  async (stream) => {
    const asked = Promise.withResolvers<Request>();
    site.answers("searxng", (request) => {
      asked.resolve(request);
      return new Promise(() => undefined);
    });
    plays(search(`leaving ${stream}`), { say: "late" });
    const leaving = new AbortController();
    const answer = app
      .call("/v1/chat/completions", {
        method: "POST",
        body: JSON.stringify({ ...BODY, stream }),
        signal: leaving.signal,
        headers: { "content-type": "application/json" },
      })
      .then((response) => response.text())
      .catch(() => "left");
    const { signal } = await asked.promise;
    const ended = new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    leaving.abort();
    expect(await answer).toBe("left");
    await ended;
    expect(upstream.received.length).toBe(1);
    site.lists("searxng", [{ url: `${site.url}/rye`, title: "Rye" }]);
  },
);

test("guardrails mask what was found before the model sees it", async () => {
  const guardrail = { name: "mails", on: ["input"], check: { kind: "pii", find: ["email"] }, action: "mask" };
  await app.reconfigure(config({ guardrails: [guardrail] }));
  site.set("/rye", () => {
    const text = "<main><h1>Rye</h1><p>Write to baker@example.org for rye of the best kind.</p></main>";
    return new Response(`<html><body>${text}</body></html>`, { headers: { "content-type": "text/html" } });
  });
  plays(search("rye by mail"), { say: "Good [1]." });
  const response = await app.post("/v1/chat/completions", BODY);
  expect(response.status).toBe(200);
  const told = JSON.stringify(upstream.received[1]?.json);
  expect(told).toContain("[EMAIL_1] for rye");
  expect(told).not.toContain("baker@example.org");
});
