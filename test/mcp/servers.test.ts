// Other MCP servers behind the gateway's own: over HTTP and as programs, with their tools under unique names.

import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { ServerConnection } from "../../src/mcp/servers/connection.ts";
import { keyStore } from "../../src/store/access/keys.ts";
import { startTestApp } from "../support/app.ts";
import { sampleServer } from "./sample-tools.ts";
import { CLIENTS, olderRequest, withClient } from "./support.ts";

const handler = createMcpHandler(() => sampleServer());
const seen: (string | null)[] = [];
const http = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    seen.push(request.headers.get("authorization"));
    if ((await request.clone().text()).includes('"too":"long"')) return new Response("too long", { status: 413 });
    if (new URL(request.url).pathname === "/closed") return new Response("who are you", { status: 401 });
    return handler.fetch(request);
  },
});
const url = `http://127.0.0.1:${http.port}/mcp`;
const stdio = { command: [process.execPath, join(import.meta.dir, "sample-server.ts")], env: { OWN: "yes" } };
const config = (servers: Record<string, object>) => ({ mcp: { servers } });
const app = await startTestApp({
  tier: "pro",
  config: config({
    web: { url, headers: { authorization: "Bearer mine" }, timeout: "300ms" },
    program: { ...stdio, tools: ["echo", "die", "environment", "much"] },
    premium: { url, tiers: ["premium"] },
    gone: { url: "http://127.0.0.1:9/mcp" },
    closed: { url: `http://127.0.0.1:${http.port}/closed` },
  }),
});
afterAll(async () => {
  await app.stop();
  await handler.close();
  await http.stop(true);
});

const client = await Object.values(CLIENTS)[0]!(app);
afterAll(() => client.close());
const text = ({ content }: { content: { text?: string }[] }) => content[0]?.text ?? "";

test("the list has the tools of all servers that answer, for the plan of the key, with legal names", async () => {
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names.filter((name) => name.startsWith("program__"))).toEqual([
    "program__echo",
    "program__die",
    "program__much",
    "program__environment",
  ]);
  const web = names.filter((name) => name.startsWith("web__"));
  expect(web.length).toBe(110);
  expect(web.filter((name) => !/^[A-Za-z0-9_.-]{1,128}$/.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => /^(premium|gone|closed)__/.test(name))).toEqual([]);
  expect(names).toContain("search");
});

test("arguments and results pass unchanged, and names are mapped back", async () => {
  for (const name of ["web__echo", "program__echo"]) {
    const result = await client.call(name, { a: [1, { b: "ü" }] });
    expect(result).toMatchObject({ content: [{ text: '{"a":[1,{"b":"ü"}]}' }], structuredContent: { name: "echo" } });
  }
  const { tools } = await client.listTools();
  for (const [begin, own] of [
    ["web__ttt", "t".repeat(200)],
    ["web__odd", "odd name!"],
  ] as const) {
    const { name = "" } = tools.find((tool) => tool.name.startsWith(begin)) ?? {};
    expect((await client.call(name)).structuredContent).toEqual({ name: own });
  }
  expect(seen).toContain("Bearer mine");
});

test("a key has the servers that it was made for, and no others", async () => {
  const store = await app.openStore();
  const { key } = await keyStore(store).createKey({ accountId: app.accountId, name: "one", mcpServers: ["program"] });
  await store.close();
  await withClient({ url: app.url, key }, async (own) => {
    const names = (await own.listTools()).tools.map(({ name }) => name).filter((name) => name.includes("__"));
    expect(names.every((name) => name.startsWith("program__"))).toBe(true);
    expect(names.length).toBe(4);
    await expect(own.call("web__echo")).rejects.toThrow("web__echo");
  });
});

test("the health check names servers that failed, and stays healthy", async () => {
  await client.listTools();
  const response = await fetch(`${app.url}/health`);
  const { subsystems } = (await response.json()) as { subsystems: Record<string, { status: string; down: string[] }> };
  expect([response.status, subsystems["mcp"]?.status]).toEqual([200, "degraded"]);
  expect(subsystems["mcp"]!.down.sort()).toEqual(["closed", "gone"]);
});

test("a program has the environment that is configured, and not the gateway's", async () => {
  process.env["SALLYPORT_TEST_SECRET"] = "secret";
  const environment = JSON.parse(text(await client.call("program__environment"))) as Record<string, string>;
  delete process.env["SALLYPORT_TEST_SECRET"];
  expect(environment).toMatchObject({ OWN: "yes" });
  expect(environment["SALLYPORT_TEST_SECRET"]).toBeUndefined();
});

test("a result of nine megabytes is cut with a note, and progress is passed on", async () => {
  const long = text(await client.call("program__much"));
  expect(long.length).toBeLessThan(500_200);
  expect(long).toContain("[Cut after 500000 of 9000000 characters.]");
  const told: unknown[] = [];
  await client.call("web__progress", {}, { onprogress: (progress) => told.push(progress) });
  expect(told).toMatchObject([{ progress: 1, total: 2, message: "half" }]);
});

describe("a failure is a result in words", () => {
  test("of a tool that is too slow; the server goes on", async () => {
    const slow = await client.call("web__slow");
    expect([slow.isError, text(slow)]).toEqual([true, "The tool did not answer in time."]);
    expect(text(await client.call("web__echo", { a: 1 }))).toBe('{"a":1}');
  });

  test("of a call that the server refuses by its status; calls of others go on", async () => {
    const other = client.call("web__slow");
    expect(text(await client.call("web__echo", { too: "long" }))).toBe(
      "The server refused the call with the status 413.",
    );
    expect(text(await other)).toBe("The tool did not answer in time.");
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("web__echo");
  });

  test("of a program that ends in a call; the next call starts it again", async () => {
    const died = await client.call("program__die");
    expect([died.isError, text(died)]).toMatchObject([true, expect.stringContaining("mcp_server_unavailable")]);
    expect(text(await client.call("program__echo", { b: 2 }))).toBe('{"b":2}');
  });

  test("of a server that cannot be reached, or wants a token", async () => {
    const gone = await client.call("gone__echo");
    expect([gone.isError, text(gone)]).toMatchObject([true, expect.stringContaining("cannot be reached")]);
    expect(text(await client.call("closed__echo"))).toContain("mcp.servers.closed.headers");
  });

  test("of a tool that there is not", async () => {
    await expect(client.call("web__nothing")).rejects.toThrow("Unknown tool");
    await expect(client.call("premium__echo")).rejects.toThrow("Unknown tool");
  });
});

test("a call counts once against the limit of the key, and lists do not", async () => {
  const remaining = async () => {
    const params = { name: "web__echo", arguments: {} };
    const response = await fetch(
      `${app.url}/mcp`,
      olderRequest(app, { jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    );
    await response.text();
    return Number(response.headers.get("x-ratelimit-remaining"));
  };
  const first = await remaining();
  await client.listTools();
  expect(await remaining()).toBe(first - 1);
});

test("a connection that was closed starts no program again", async () => {
  const settings = { url: "", headers: {}, ...stdio, tools: ["*"], tiers: [], timeoutMs: 60_000 };
  const connection = new ServerConnection("own", settings, { nowMs: () => 0, warn() {} });
  const [tool] = await connection.tools("call");
  await connection.close();
  const call = { signal: new AbortController().signal, progress: undefined };
  await expect(connection.call(tool!.name, {}, call)).rejects.toThrow("no longer configured");
});

test("a server without an address or a program, and a name with two underscores, are refused", async () => {
  await expect(app.reconfigure(config({ bad__name: { url } }))).rejects.toThrow("'__'");
  await expect(app.reconfigure(config({ both: {} }))).rejects.toThrow("either url or command");
});
