// Clients of Ollama's format without a key: only from listed addresses, only at its endpoints, and never for a page of another site.

import { afterAll, expect, test } from "bun:test";
import { startTestApp, type TestApp } from "../../support/app.ts";

const compat = (anonymous: readonly string[]) => ({ compat: { ollama: { anonymous } } });
const app: TestApp = await startTestApp({ config: compat(["127.0.0.0/8"]) });
afterAll(() => app.stop());

const body = { model: "demo-echo", messages: [{ role: "user", content: "Hi" }], stream: false };
const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(app.url + path, {
    method: path === "/api/tags" ? "GET" : "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(path === "/api/tags" ? {} : { body: JSON.stringify(body) }),
  });

test("a listed address needs no key, and counts as one account of the free tier", async () => {
  expect((await ask("/api/tags")).status).toBe(200);
  const answers = [await ask("/api/chat"), await ask("/api/chat", { origin: "app://obsidian.md" })];
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  await app.flushLogs();
  const owners = new Set(app.logs.filter(({ path }) => path === "/api/chat").map((line) => line["account_id"]));
  expect(owners.size).toBe(1);
  expect([...owners][0]).not.toBe(app.accountId);
});

test("other endpoints, pages of other sites, wrong keys and unnamed proxies are refused", async () => {
  const refused: [path: string, headers?: Record<string, string>][] = [
    ["/v1/chat/completions"],
    ["/v1/responses"],
    ["/api/chat", { origin: "https://evil.example" }],
    ["/api/chat", { authorization: "Bearer sk-wrong" }],
    ["/api/chat", { "x-forwarded-for": "1.2.3.4" }],
  ];
  for (const [path, headers] of refused)
    expect([path, headers, (await ask(path, headers)).status]).toEqual([path, headers, 401]);
});

test("without a list, and from other addresses, a key is needed", async () => {
  for (const list of [["10.0.0.0/8"], []]) {
    await app.reconfigure(compat(list));
    expect((await ask("/api/chat")).status).toBe(401);
  }
});
