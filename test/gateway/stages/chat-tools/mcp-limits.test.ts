// What chats with tools of MCP servers must not do: be kept as less than they are, call without a limit, or stand in the way of what a
// client asked for.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { sampleServer } from "../../../mcp/sample-tools.ts";
import { startToolsApp } from "./fixture.ts";

const handler = createMcpHandler(() => sampleServer());
let calls = 0;
/** While it is pending, the server says nothing. */
let held: Promise<void> | undefined;
const http = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const sent = (await request
      .clone()
      .json()
      .catch(() => ({}))) as { method?: string };
    if (sent.method === "tools/call") calls++;
    await held;
    return handler.fetch(request);
  },
});
const files = { url: `http://127.0.0.1:${http.port}/mcp`, tools: ["echo"] };
const servers = { files };
const AUTO = { mcp: { servers: { files: { ...files, auto: true } } } };
const { app, upstream, config, plays, stop } = await startToolsApp({ mcp: { servers } });
afterAll(async () => {
  await stop();
  await handler.close();
  await http.stop(true);
});
beforeEach(() => {
  calls = 0;
});

type Json = Record<string, unknown>;
const ECHO = { calls: [{ name: "files__echo", input: { a: 1 } }] };
const FILES = { type: "mcp", server_label: "files", allowed_tools: ["echo"] };

test("answers for which the gateway runs tools are not kept: they are more than their last round", async () => {
  const ask = async (path: string, more: Json) => {
    plays({ say: "Wait. ", ...ECHO }, { say: "Done." });
    const response = await app.post(path, { model: "m", temperature: 0, ...more });
    expect([response.status, response.headers.get("x-sallyport-cache")]).toEqual([200, null]);
    return response.json() as Promise<Json>;
  };
  await app.reconfigure(config({ mcp: { servers }, cache: { mode: "on" } }));
  for (const tool of [FILES, { type: "web_search" }]) {
    for (let n = 0; n < 2; n++) await ask("/v1/responses", { input: "Hi", tools: [tool] });
  }
  await app.reconfigure(config({ ...AUTO, cache: { mode: "on" } }));
  for (let n = 0; n < 2; n++) {
    const { choices } = await ask("/v1/chat/completions", { messages: [{ role: "user", content: "Hi" }] });
    expect(choices).toMatchObject([{ message: { content: "Wait. Done." } }]);
  }
  await app.reconfigure(config({ mcp: { servers } }));
});

test("approved calls count among those of an answer, and are answered without their server too", async () => {
  const approvals = (count: number) => {
    const ids = Array.from({ length: count }, (_, n) => `mcpr_${n}`);
    const asked = { type: "mcp_approval_request", server_label: "files", name: "echo", arguments: "{}" };
    return [
      { role: "user", content: "Hi" },
      ...ids.map((id) => ({ ...asked, id })),
      ...ids.map((id) => ({ type: "mcp_approval_response", approval_request_id: id, approve: true })),
    ];
  };
  const ask = async (count: number, tools: Json[]) => {
    const body = { model: "m", input: approvals(count), store: false, tools };
    return ((await (await app.post("/v1/responses", body)).json()) as { output: Json[] }).output;
  };
  plays(ECHO, { say: "Done." });
  const failed = (await ask(103, [FILES])).filter(({ type, status }) => type === "mcp_call" && status === "failed");
  expect([failed.length, calls]).toEqual([4, 100]);
  plays({ say: "Done." });
  await ask(1, []);
  const messages = upstream.received[0]!.json!["messages"] as Json[];
  expect(messages.at(-1)).toMatchObject({ role: "tool", content: expect.stringContaining("not available any more") });
});

test("tools that a client does not know of do not change what it asked for", async () => {
  await app.reconfigure(config(AUTO));
  const tools = [{ type: "function", function: { name: "mine", parameters: { type: "object" } } }];
  const json = { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } };
  const ask = async (more: Json) => {
    const body = { model: "m", messages: [{ role: "user", content: "Hi" }], ...more };
    const { choices } = (await (await app.post("/v1/chat/completions", body)).json()) as { choices: Json[] };
    const sent = (upstream.received[0]!.json!["tools"] ?? []) as { function: { name: string } }[];
    return { ...choices[0], sent: sent.map(({ function: { name } }) => name) };
  };
  plays({ say: "{}" });
  for (const [more, names] of [
    [{}, ["files__echo"]],
    [{ response_format: json }, []],
    [{ response_format: { type: "json_object" } }, []],
    [{ tools, tool_choice: "required" }, ["mine"]],
    [{ tools, tool_choice: "none" }, ["mine"]],
  ] as const) {
    upstream.received.length = 0;
    expect((await ask(more)).sent).toEqual(names as never);
  }
  // What came of the call would be lost, and the model would make it again.
  plays({ calls: [...ECHO.calls, { name: "mine", input: {} }] });
  expect(await ask({ tools })).toMatchObject({ message: { tool_calls: [{ function: { name: "mine" } }] } });
  expect(calls).toBe(0);
  await app.reconfigure(config({ ...AUTO, chat_tools: { max_rounds: 1 } }));
  plays({ say: "Done." });
  expect((await ask({})).sent).toEqual([]);
  const many = Array.from({ length: 21 }, (_, n) => [`files${n}`, { ...files, auto: true }]);
  await app.reconfigure(config({ mcp: { servers: Object.fromEntries(many) } }));
  plays({ say: "Done." });
  expect((await ask({})).sent).toHaveLength(20);
  await app.reconfigure(config({ mcp: { servers } }));
});

test("an address that is none is refused by its place", async () => {
  await app.reconfigure(config({ mcp: { servers, clients_may_name: true } }));
  plays({ say: "Done." });
  for (const url of ["nowhere", "http://", "ftp://example.com/mcp"]) {
    for (const [path, param, body] of [
      ["/v1/responses", "tools[0]", { input: "Hi", tools: [{ type: "mcp", server_label: "theirs", server_url: url }] }],
      [
        "/v1/messages",
        "mcp_servers[0]",
        {
          max_tokens: 9,
          messages: [{ role: "user", content: "Hi" }],
          mcp_servers: [{ type: "url", name: "theirs", url }],
        },
      ],
    ] as const) {
      const response = await app.post(path, { model: "m", ...body });
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(param)]);
    }
  }
  await app.reconfigure(config({ mcp: { servers } }));
});

test("a choice of allowed tools allows those of the servers that it names", async () => {
  await app.reconfigure(config({ mcp: { servers: { files, more: files, hidden: { ...files, auto: true } } } }));
  const tools = ["files", "more"].map((server_label) => ({ type: "mcp", server_label }));
  const ask = async (...allowed: Json[]) => {
    plays({ say: "Done." });
    const tool_choice = { type: "allowed_tools", mode: "auto", tools: allowed };
    await app.post("/v1/responses", { model: "m", input: "Hi", store: false, tools, tool_choice });
    return JSON.stringify(upstream.received[0]!.json!["tool_choice"]);
  };
  const named = await ask({ type: "mcp", server_label: "more" });
  expect(named).toContain("more__echo");
  expect(named).not.toMatch(/files__|hidden__/);
  expect(await ask({ type: "mcp", server_label: "more", name: "other" })).toBe('"none"');
  await app.reconfigure(config({ mcp: { servers } }));
});

test("what a server says is looked through before the client sees it, under the name of its tool", async () => {
  const mail = "ada@example.org";
  const guard = (on: string, action: string) => ({
    ...{ name: "mail", on: [on], action, apply: { models: ["files__*"] } },
    check: { kind: "pii", find: ["email"] },
  });
  const ask = async (input: unknown, guardrail: Json) => {
    await app.reconfigure(config({ mcp: { servers }, guardrails: [guardrail] }));
    plays({ calls: [{ name: "files__echo", input: { a: mail } }] }, { say: "Done." });
    const body = { model: "m", input, store: false, tools: [FILES] };
    const { output } = (await (await app.post("/v1/responses", body)).json()) as { output: Json[] };
    return output.find(({ type }) => type === "mcp_call");
  };
  expect(await ask("Hi", guard("output", "mask"))).toMatchObject({ output: '{"a":"[EMAIL_1]"}' });
  // The model has it whole.
  expect(JSON.stringify(upstream.received[1]!.json!["messages"])).toContain(mail);
  const denied = await ask("Hi", guard("output", "deny"));
  expect(denied).toMatchObject({ status: "failed", output: null });
  expect(JSON.stringify(denied!["error"])).not.toContain(mail);
  const approved = [
    { role: "user", content: "Hi" },
    { type: "mcp_approval_request", id: "a", server_label: "files", name: "echo", arguments: `{"a":"${mail}"}` },
    { type: "mcp_approval_response", approval_request_id: "a", approve: true },
  ];
  expect(await ask(approved, guard("input", "mask"))).toMatchObject({ output: '{"a":"[EMAIL_1]"}' });
  await app.reconfigure(config({ mcp: { servers } }));
});

test("a server that hangs does not hold up a chat whose client did not ask for it", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  // Under another name, so that nothing is known of it.
  await app.reconfigure(config({ mcp: { servers: { hanging: { ...files, auto: true, timeout: "10m" } } } }));
  plays({ say: "Done." });
  const asked = app.post("/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "Hi" }] });
  expect(((await (await asked).json()) as { choices: Json[] }).choices).toMatchObject([
    { message: { content: "Done." } },
  ]);
  expect(upstream.received[0]!.json!["tools"]).toBeUndefined();
  resolve();
  held = undefined;
  await app.reconfigure(config({ mcp: { servers } }));
});
