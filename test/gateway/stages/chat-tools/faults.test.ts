// What happens around the tools of a chat: the client leaves, a budget ends, and guardrails look through what was found.

import { afterAll, expect, test } from "bun:test";
import { connect } from "../../endpoints/socket/fixture.ts";
import { type ModelRound, startToolsApp } from "./fixture.ts";

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

/** The queries that the engine was asked. */
async function queriesOf(ask: () => Promise<Response>): Promise<{ queries: string[]; text: string }> {
  const queries: string[] = [];
  site.answers("searxng", (request) => {
    queries.push(new URL(request.url).searchParams.get("q") ?? "");
    return Response.json({ results: [{ url: `${site.url}/rye`, title: "Rye" }] });
  });
  const response = await ask();
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return { queries, text };
}

const HOLDS = { name: "shape", check: { kind: "schema", schema: { minLength: 0 } }, apply: { models: ["m"] } };
const MAILS = { name: "mails", on: ["input"], check: { kind: "pii", find: ["email"] }, action: "mask" };

test.each([
  ["as it comes", false, []],
  ["as it comes", true, []],
  ["held as a whole", false, [HOLDS]],
  ["held as a whole", true, [HOLDS]],
] as const)("what is masked stays so in a search: the answer is %s, stream %p", async (_, stream, more) => {
  await app.reconfigure(config({ guardrails: [MAILS, ...more] }));
  plays(search(`who is [EMAIL_1] ${stream} ${more.length}`), { say: '"It is [EMAIL_1]."' });
  const messages = [{ role: "user", content: "Who is ada@example.com?" }];
  const { queries, text } = await queriesOf(() => app.post("/v1/chat/completions", { ...BODY, messages, stream }));
  expect(queries).toEqual([`who is [EMAIL_1] ${stream} ${more.length}`]);
  expect(JSON.stringify(upstream.received.map(({ json }) => json))).not.toContain("ada@");
  const said = stream
    ? [...text.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)]
        .map(([, piece]) => JSON.parse(`"${piece}"`) as string)
        .join("")
    : text;
  expect(said).toContain("It is ada@example.com.");
});

test.each([false, true])("a schema judges the answer, not what is said before a search (stream %p)", async (stream) => {
  const shape = { name: "shape", check: { kind: "schema", schema: { type: "object", required: ["a"] } } };
  await app.reconfigure(config({ guardrails: [shape] }));
  const ask = async (...rounds: readonly ModelRound[]) => {
    plays(...rounds);
    const response = await app.post("/v1/chat/completions", { ...BODY, stream });
    return response.text();
  };
  const before = { say: "Let me look.", calls: search(`shape ${stream}`).calls };
  const fits = await ask(before, { say: '{"a":1}' });
  expect(fits).toContain('"finish_reason":"stop"');
  expect(upstream.received.length).toBe(2);
  const other = await ask(before, { say: '{"b":1}' });
  expect(other).toContain('"finish_reason":"content_filter"');
  // No round follows a call of the client's tool: that is an answer.
  const tools = [{ type: "function", function: { name: "mine", parameters: { type: "object" } } }];
  plays({ say: "Let me look.", calls: [{ name: "mine", input: {} }] });
  const mine = await (await app.post("/v1/chat/completions", { ...BODY, tools, stream })).text();
  expect(mine).toContain('"finish_reason":"content_filter"');
});

test("new input that stops a later round tells what all rounds have used", async () => {
  await app.reconfigure(config());
  site.lists("searxng", [{ url: `${site.url}/rye`, title: "Rye" }]);
  plays(search("rye, but steered"), { say: "Rye is", hangs: true }, { say: "Done." });
  const socket = connect(app);
  const begun = socket.when(({ type }) => type === "response.output_text.delta");
  socket.send({ type: "response.create", model: "m", input: "What is rye?", tools: [{ type: "web_search" }] });
  await begun;
  const idOf = ({ response }: Record<string, unknown>) => (response as { id: string }).id;
  const created = socket.events.find(({ type }) => type === "response.created") ?? {};
  const stopped = socket.when(({ type }) => type === "response.incomplete");
  const end = socket.when(({ type }) => type === "response.completed");
  socket.send({ type: "response.steer", previous_response_id: idOf(created), input: "Shorter" });
  const { usage } = (await stopped)["response"] as { usage: Record<string, number> };
  await end;
  await app.flushLogs();
  const second = app.logs.findLast((line) => line["client_gone"] === true);
  expect(usage["input_tokens"]).toBe(10 + Number(second?.["input_tokens"]));
  expect(usage["output_tokens"]).toBe(4 + Number(second?.["output_tokens"]));
  socket.close();
});
