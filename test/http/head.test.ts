// HEAD and OPTIONS at every GET route, also where the answer to GET is a stream that never ends.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { responseStore } from "../../src/store/work/responses.ts";
import { type AccountsApp, freshAddress, PASSWORD, startAccountsApp } from "../accounts/support.ts";
import { type DashboardClient, dashboardClient } from "../dashboard/support.ts";
import { servedRoutes } from "../support/routes.ts";

let app: AccountsApp;
let boss: DashboardClient;
let key: string;
const LONG_RESPONSE = "resp_long";
const asked: string[] = [];
const provider = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: ({ method, url }) => {
    asked.push(`${method} ${new URL(url).pathname}`);
    return new Response("an answer", { headers: { "x-made-by": "the provider" } });
  },
});

beforeAll(async () => {
  const fake = { kind: "openai", base_url: `http://127.0.0.1:${provider.port}/v1`, api_key: "k", discover: false };
  app = await startAccountsApp({ config: { providers: { fake } } });
  const { id: accountId } = await app.addAccount("boss", { admin: true });
  await responseStore(app.store).saveResponse({
    ...{ id: LONG_RESPONSE, accountId, model: "m", previousId: null, expiresAtMs: app.clock.now() + 3_600_000 },
    ...{
      provider: null,
      upstreamId: null,
      input: [],
      body: { id: LONG_RESPONSE, object: "response", output: [], text: "é".repeat(10_000) },
    },
  });
  boss = dashboardClient(app);
  await boss.post("/login", { username_or_email: "boss", password: PASSWORD });
  ({ key } = (await boss.post("/keys", { name: "laptop", passthrough: true })).json);
});
afterAll(async () => {
  await app.stop();
  await provider.stop(true);
});

/** Sends the session to the dashboard, and the key to all others. */
function ask(method: string, path: string, signal?: AbortSignal): Promise<Response> {
  const who = path.startsWith("/dashboard") ? { cookie: boss.cookie } : { authorization: `Bearer ${key}` };
  return fetch(app.app.url + path, {
    ...{ method, redirect: "manual" },
    headers: { ...who, "x-forwarded-for": freshAddress() },
    ...(signal === undefined ? {} : { signal }),
  });
}

const getPaths = () =>
  new Set(
    servedRoutes(app.app)
      .filter(({ method }) => method === "GET")
      .map(({ path }) => path.replace(/:\w+/g, "none").replace("*", "none")),
  );

function headOf(path: string): string {
  const who = path.startsWith("/dashboard") ? `Cookie: ${boss.cookie}` : `Authorization: Bearer ${key}`;
  return `HEAD ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${freshAddress()}\r\n${who}\r\n\r\n`;
}

/** What GET says, without its body. */
async function beginningOf(path: string): Promise<Response> {
  const stopping = new AbortController();
  const answer = await ask("GET", path, stopping.signal);
  stopping.abort();
  return answer;
}

test("every GET route answers HEAD with the status and type of GET, and OPTIONS", async () => {
  const paths = getPaths();
  expect(paths.size).toBeGreaterThan(100);
  const wrong: string[] = [];
  for (const path of paths) {
    const said = await beginningOf(path);
    const head = await ask("HEAD", path);
    const options = await ask("OPTIONS", path);
    const brief = (answer: Response) => `${answer.status} ${answer.headers.get("content-type")}`;
    if (brief(head) !== brief(said)) wrong.push(`${path}: ${brief(said)}, HEAD ${brief(head)}`);
    if ((await head.text()) !== "") wrong.push(`${path}: HEAD with a body`);
    if (![204, 403, 405].includes(options.status)) wrong.push(`${path}: OPTIONS ${options.status}`);
    await options.text();
  }
  expect(wrong).toEqual([]);
});

test("a connection goes on after HEAD of every GET route, with nothing of a body in between", async () => {
  const paths = ["/v1/models", ...getPaths(), "/dashboard/api/log/live", "/livez"];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let said = "";
  let count = 0;
  const client = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(app.app.url).port),
    socket: {
      data(socket, data) {
        said += data.toString("latin1");
        const heads = said.split("\r\n\r\n").length - 1;
        if (heads > count) next(socket);
      },
      close: () => reject(new Error(`the connection ended after ${paths[count]}`)),
    },
  });
  function next(socket: Pick<typeof client, "write">): void {
    const path = paths[++count];
    if (path === undefined) resolve();
    else socket.write(headOf(path));
  }
  client.write(headOf(paths[0] as string));
  await promise;
  const answers = said.split("\r\n\r\n");
  expect(answers.pop()).toBe("");
  expect(answers.filter((answer) => !/^HTTP\/1\.1 \d{3} [^\n]*(?:\r\n[\w-]+: [^\r\n]*)+$/.test(answer))).toEqual([]);
  expect(answers.length).toBe(paths.length);
  client.end();
});

test.each([["/log/live"], ["/admin/log/live"]])("HEAD opens no live view: %s", async (path) => {
  // More than an account may open.
  for (let i = 0; i < 8; i++) {
    const head = await ask("HEAD", `/dashboard/api${path}`);
    expect([head.status, head.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  }
  expect((await beginningOf(`/dashboard/api${path}`)).status).toBe(200);
});

test.each([
  ["/v1/models", 10],
  [`/v1/responses/${LONG_RESPONSE}`, 20_000],
])("HEAD has the length of a body that is at hand: %s", async (path, bytesMin) => {
  const said = await ask("GET", path);
  const length = said.headers.get("content-length");
  expect(Number(length)).toBe((await said.arrayBuffer()).byteLength);
  expect(Number(length)).toBeGreaterThan(bytesMin);
  const head = await ask("HEAD", path);
  expect(head.headers.get("content-length")).toBe(length);
});

test("HEAD of a provider's own path goes up as HEAD", async () => {
  asked.length = 0;
  const head = await ask("HEAD", "/v1/upstream/fake/models");
  expect([head.status, head.headers.get("x-made-by"), asked]).toEqual([200, "the provider", ["HEAD /v1/models"]]);
});

test("HEAD with an upgrade is answered, and plans no WebSocket", async () => {
  const upgrade = { connection: "upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const head = await fetch(`${app.app.url}/v1/responses`, {
    method: "HEAD",
    headers: { ...upgrade, "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", authorization: `Bearer ${key}` },
  });
  expect(head.status).toBe(426);
});
