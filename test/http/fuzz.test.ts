// Every registered endpoint receives requests that no client would send. None of them may cause an internal error.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { ENDPOINTS } from "../../src/app/endpoints.ts";
import { PATHS } from "../../src/app/paths.ts";
import { errorsOf } from "../../src/docs/errors.ts";
import { accountStore } from "../../src/store/access/accounts.ts";
import { openStore } from "../../src/store/engine/open.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
/** A session of the dashboard, so that its endpoints read what they receive. */
let cookie = "";
/** The same for the endpoints of accounts. */
let token = "";
const ACCOUNT = { email: "fuzz@example.com", username: "fuzz", password: "a long enough pass phrase" };

/** Hashing is not part of this test. */
const QUICK = { hash: async () => "any", verify: async () => true };

beforeAll(async () => {
  app = await startTestApp({ config: { web: { render: "never" } }, hasher: QUICK });
  const store = openStore({ dataDir: app.dataDir });
  const { email, username } = ACCOUNT;
  const account = await accountStore(store).createAccount({
    email,
    username,
    passwordHash: "any",
    admin: true,
    tier: "free",
  });
  store.close();
  expect(account).not.toHaveProperty("refused");
  const post = async (path: string, body: object) => {
    const answer = await fetch(app.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    return answer;
  };
  const { password } = ACCOUNT;
  const session = await post("/dashboard/api/login", { username_or_email: email, password });
  cookie = session.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const pair = await post("/v1/auth/token", { email, password });
  token = ((await pair.json()) as { access_token: string }).access_token;
});
afterAll(() => app.stop());

/** The status of endpoints that are not implemented. */
const NOT_IMPLEMENTED = 501;

/** A valid JSON body, and one body for each kind of error. */
const BODIES: Readonly<Record<string, { body: string; type: string }>> = {
  nothing: { body: "", type: "application/json" },
  "an empty object": { body: "{}", type: "application/json" },
  "no object": { body: "[[]]", type: "application/json" },
  "no JSON": { body: '{"model":', type: "application/json" },
  "lone surrogates": {
    body: '{"model":"\\ud800","messages":[{"role":"user","content":"\\udfff"}]}',
    type: "application/json",
  },
  "nulls everywhere": {
    body: '{"model":null,"messages":null,"input":null,"questions":null,"url":null,"state":null,"email":null}',
    type: "application/json",
  },
  "wrong kinds everywhere": {
    body: '{"model":1,"messages":{"a":1},"input":[1,null,[]],"questions":[1],"url":{},"state":1,"email":[],"name":{},"prompt":[[1],"x"]}',
    type: "application/json",
  },
  prototypes: {
    body: '{"__proto__":{"model":"x"},"constructor":{"prototype":1},"model":"__proto__","messages":[{"role":"constructor","content":"x"}],"questions":{"__proto__":{"type":"toString"}},"url":"http://__proto__/"}',
    type: "application/json",
  },
  "deep nesting": { body: `{"model":"m","messages":${"[".repeat(900)}${"]".repeat(900)}}`, type: "application/json" },
  "numbers beyond all bounds": {
    body: '{"model":"demo-echo","messages":[{"role":"user","content":"x"}],"max_tokens":1e999,"temperature":-1e308,"n":1e99,"limit":1e21,"timeout_ms":-1,"url":"http://127.0.0.1"}',
    type: "application/json",
  },
  "a form": { body: "model=m&messages=x", type: "application/x-www-form-urlencoded" },
  "a form without a boundary": { body: "--x\r\n\r\n", type: "multipart/form-data" },
  "a part without a name": {
    body: '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; filename="a.png"\r\n\r\nx\r\n--b--\r\n',
    type: "multipart/form-data; boundary=b",
  },
  "a file without a name": {
    body: '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n\x89PNG\r\n--b\r\nContent-Disposition: form-data; name="purpose"; filename="x"\r\n\r\nvision\r\n--b--\r\n',
    type: "multipart/form-data; boundary=b",
  },
  "a form that ends early": {
    body: '--b\r\nContent-Disposition: form-data; name="file"; fil',
    type: "multipart/form-data; boundary=b",
  },
  "no charset there is": { body: "{}", type: "application/json; charset=utf-99" },
};

/** The values that replace the parameters of a path. */
const PARAMETERS = [
  "%ff",
  "%",
  "%00",
  "%2e%2e%2f",
  "..%5c",
  "a%2fb",
  "x".repeat(3000),
  "%ed%a0%80",
  "__proto__",
  "%F0%9F%98%80",
  "'",
  "-1",
  "1e999",
];

const paths = (path: string, parameter: string) => path.replace(/:[^/]+/g, parameter).replace(/\*/g, parameter);

/** Sends it with the credentials that the endpoint accepts. */
async function send(method: string, path: string, given?: { body: string; type: string }): Promise<[number, string]> {
  const response = await fetch(app.url + path, {
    // Routes for all methods accept this one too.
    method: method === "ALL" ? "POST" : method,
    headers: {
      authorization: `Bearer ${path.startsWith("/v1/auth/") ? token : app.key}`,
      ...(path.startsWith("/dashboard") ? { cookie } : {}),
      ...(given === undefined ? {} : { "content-type": given.type }),
    },
    ...(given === undefined ? {} : { body: given.body }),
    redirect: "manual",
    signal: AbortSignal.timeout(60_000),
  });
  // The streams of the demo model are short.
  const text = await response.text();
  return [response.status, text];
}

/** The number of failures that were looked up in the documentation. */
let looked = 0;

/** A complaint if the documentation does not list this status and code for the endpoint. */
function undocumented({ method, path }: { method: string; path: string }, status: number, text: string): string[] {
  const endpoint = ENDPOINTS.find((one) => one.method === method && one.path === path);
  // The API of the dashboard and unsupported endpoints are not documented. Pages of the manual are not JSON.
  if (endpoint === undefined || status < 400 || path.startsWith("/docs")) return [];
  // Errors of the MCP protocol have numbers.
  if (path === "/mcp" && text.startsWith('{"jsonrpc":"2.0"')) return [];
  looked++;
  // Google's envelope has the code as the reason in its details.
  const [, code = ""] = /"(?:code|reason)":"(\w+)"/.exec(text) ?? [];
  // These errors come from the router, for any endpoint, because a parameter may lead to another path.
  if (code === "route_not_found" || code === "method_not_allowed") return [];
  const codes: readonly string[] = errorsOf(endpoint, PATHS.isClosable(path)).get(status) ?? [];
  return codes.includes(code) ? [] : [`${method} ${path} is not documented to answer ${status} ${code}`];
}

function complaint(status: number, text: string, what: string): string[] {
  if (status < 500 || status === NOT_IMPLEMENTED) return [];
  // An unreachable page is the fault of the page, and a decision without a model is due to the configuration.
  if (/"code":"(?:[a-z]+_upstream_error|[a-z]+_unavailable|[a-z]+_timeout)"/.test(text)) return [];
  return [`${what}: ${status} ${text.slice(0, 200)}`];
}

test("no path parameter causes an internal error", async () => {
  const complaints: string[] = [];
  let sent = 0;
  for (const { method, path } of app.routes()) {
    if (!/[:*]/.test(path)) continue;
    for (const parameter of PARAMETERS) {
      const [status, text] = await send(
        method,
        paths(path, parameter),
        method === "GET" ? undefined : BODIES["an empty object"],
      );
      sent++;
      complaints.push(...undocumented({ method, path }, status, text));
      complaints.push(...complaint(status, text, `${method} ${path} with ${parameter.slice(0, 20)}`));
      if (status === 200 && path.startsWith("/v1/"))
        complaints.push(`${method} ${path} answers 200 to ${parameter.slice(0, 20)}`);
    }
  }
  expect(sent).toBeGreaterThan(100);
  expect(looked).toBeGreaterThan(200);
  expect([...new Set(complaints)]).toEqual([]);
}, 120_000);

test("no body causes an internal error", async () => {
  const complaints: string[] = [];
  let sent = 0;
  for (const { method, path } of app.routes()) {
    if (method === "GET" || method === "HEAD" || method === "OPTIONS") continue;
    // These endpoints would end the session that all following requests use.
    if (/logout$|end-others$|account\/delete$|^\/v1\/auth\/(?:me|sessions)$/.test(path)) continue;
    for (const [name, given] of Object.entries(BODIES)) {
      const [status, text] = await send(method, paths(path, "none"), given);
      sent++;
      complaints.push(...undocumented({ method, path }, status, text));
      complaints.push(...complaint(status, text, `${method} ${path} with ${name}`));
    }
  }
  expect(sent).toBeGreaterThan(300);
  expect(looked).toBeGreaterThan(200);
  expect([...new Set(complaints)]).toEqual([]);
}, 120_000);
