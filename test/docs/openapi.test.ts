// The OpenAPI document matches the program: it has every route and no other, and each endpoint answers the document's
// examples as described.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ENDPOINTS, openApi } from "../../src/app/endpoints.ts";
import { PATHS } from "../../src/app/paths.ts";
import { ERROR_HELP } from "../../src/base/error-help.ts";
import { ERRORS, type ErrorCode } from "../../src/base/errors.ts";
import { errorsOf } from "../../src/docs/errors.ts";
import type { ApiEndpoint } from "../../src/http/endpoint.ts";
import { WIRE_FORMATS } from "../../src/wire/index.ts";
import { CHAT } from "../gateway/parameters/chat.ts";
import { COMPLETIONS } from "../gateway/parameters/completions.ts";
import { MESSAGES } from "../gateway/parameters/messages.ts";
import { RESPONSES } from "../gateway/parameters/responses.ts";
import type { Row } from "../gateway/parameters/row.ts";
import { unservedEndpoints } from "../support/routes.ts";
import {
  type DocumentedGateway,
  endpointOf,
  errorOf,
  type Json,
  type Reply,
  startDocumentedGateway,
} from "./gateway.ts";
import { type Check, checker, operationOf } from "./schema.ts";

let gateway: DocumentedGateway;
let check: Check;

beforeAll(async () => {
  gateway = await startDocumentedGateway();
  check = checker(gateway.document);
});
afterAll(() => gateway.stop());

test("every route is described, and nothing else is", () => {
  const described = new Set(ENDPOINTS.map(({ method, path }) => `${method} ${path}`));
  expect(described.size).toBe(ENDPOINTS.length);
  expect(unservedEndpoints(gateway.app)).toEqual([]);
});

test("every description in a file of descriptions is an endpoint's", async () => {
  const ids = new Set(ENDPOINTS.flatMap(({ id, path }) => [id, path]));
  const root = join(import.meta.dir, "../../src");
  const lists = new Map<string, string[]>();
  for await (const path of new Bun.Glob("**/*.ts").scan(root)) {
    if (!/(^|\/)openapi/.test(path)) continue;
    for (const [name, texts] of Object.entries(await import(join(root, path)))) {
      if (name.endsWith("_TEXTS")) lists.set(`${path} ${name}`, Object.keys(texts as object));
    }
  }
  expect(lists.size).toBeGreaterThan(0);
  for (const [name, texts] of lists) expect([name, texts.filter((id) => !ids.has(id))]).toEqual([name, []]);
});

test("the document names the rate-limit headers of every answer that carries them", async () => {
  const names = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
  const counted = ENDPOINTS.filter(({ access }) => access === "counted");
  expect(counted.length).toBeGreaterThan(20);
  for (const endpoint of ENDPOINTS) {
    const { responses } = operationOf(gateway.document, endpoint) as { responses: Record<string, { headers: Json }> };
    const named = Object.entries(responses).flatMap(([status, { headers }]) =>
      names.every((name) => name in headers) ? [status] : [],
    );
    if (endpoint.access !== "counted") expect([endpoint.id, named]).toEqual([endpoint.id, []]);
    else {
      expect([endpoint.id, named]).toEqual([endpoint.id, expect.arrayContaining(["400", "429", "500"])]);
      expect([endpoint.id, named]).toEqual([endpoint.id, expect.not.arrayContaining(["401"])]);
    }
  }
  for (const endpoint of counted) {
    const refused = await gateway.ask(endpoint, {
      path: endpoint.path.replace(/:\w+|\*/g, "x"),
      ...(endpoint.method === "GET" ? {} : { body: "{" }),
    });
    const carried = names.filter((name) => refused.headers.has(name));
    expect([endpoint.id, refused.status < 500, carried]).toEqual([endpoint.id, true, names]);
  }
});

test("documents of gateways at different addresses differ in their servers alone", () => {
  const { servers: here, ...one } = openApi("http://127.0.0.1:1");
  const { servers: there, ...other } = openApi("https://gateway.example");
  expect(here).not.toEqual(there);
  expect(one).toEqual(other);
});

test("each call has its own name", () => {
  const ids = ENDPOINTS.map(({ id }) => id);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test("every error code is in the document", () => {
  const text = JSON.stringify(gateway.document);
  expect(Object.keys(ERRORS).filter((code) => !text.includes(`"${code}"`))).toEqual([]);
});

test("what is said to people names no endpoint that there is not", () => {
  const said = [...Object.values(ERROR_HELP), JSON.stringify(gateway.document)].join("\n");
  const named = [...said.matchAll(/\b(GET|POST|DELETE) (\/[\w./{}-]*\w\}?)/g)].map(([, method, path]) => ({
    method,
    path: path as string,
  }));
  expect(named.length).toBeGreaterThan(5);
  const known = ENDPOINTS.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replace(/:\w+|\*/g, "[^/]+")}$`),
  }));
  const wrong = named.filter((one) => !known.some((k) => k.method === one.method && k.pattern.test(one.path)));
  expect(wrong).toEqual([]);
});

/** Parameters that the gateway reads before the formats. */
const ROUTING = ["models", "provider"];

test.each([
  ["createChatCompletion", CHAT],
  ["createResponse", RESPONSES],
  ["createMessage", MESSAGES],
  ["createCompletion", COMPLETIONS],
] as const)("%s documents the parameters that the format has", (id, rows: readonly Row[]) => {
  const { path, body } = endpointOf(id);
  const schema = body?.schema as unknown as { properties: Json };
  const documented = Object.keys(schema.properties);
  const named = rows.map(({ name }) => name.split(".")[0] as string).filter((name) => name !== "a_new_one");
  expect(named.filter((name) => !documented.includes(name))).toEqual([]);
  const fields = WIRE_FORMATS.find((format) => format.path === path)?.fields;
  const known = new Set([...named, ...(fields?.known ?? []), ...ROUTING]);
  expect(documented.filter((name) => !known.has(name))).toEqual([]);
});

/** Endpoints that cannot succeed here, with their answers. */
const REFUSED: Readonly<Record<string, ErrorCode>> = {
  ...Object.fromEntries(
    ["Get", "Post", "Put", "Patch", "Delete"].map((method) => [`passthrough${method}`, "permission_denied"] as const),
  ),
  openResponsesSocket: "upgrade_required",
  createModeration: "not_implemented",
  verifyEmail: "invalid_code",
  confirmPasswordReset: "invalid_code",
  startOauth: "oauth_provider_not_found",
  startOauthConnect: "oauth_provider_not_found",
  oauthCallback: "oauth_provider_not_found",
  exchangeOauthCode: "oauth_provider_not_found",
  unlinkOauth: "oauth_provider_not_found",
};

/** An endpoint with one of its examples. */
const ASKED = ENDPOINTS.flatMap((endpoint): [string, ApiEndpoint, unknown][] => {
  const examples = Object.entries(endpoint.body?.examples ?? {});
  if (examples.length === 0) return [[`${endpoint.method} ${endpoint.path}`, endpoint, undefined]];
  return examples.map(([name, body]) => [`${endpoint.method} ${endpoint.path}, ${name}`, endpoint, body]);
}).sort(([, a], [, b]) => Number(a.id === "deleteAccount") - Number(b.id === "deleteAccount"));

function headersOf(endpoint: ApiEndpoint, { headers, status }: Reply): string[] {
  const { answer, access } = endpoint;
  const wanted = ["x-request-id", ...(access === "counted" && status < 300 ? ["x-ratelimit-remaining"] : [])];
  const ours = [...headers.keys()].filter((name) => name.startsWith("x-sallyport-"));
  const documented = Object.keys(answer.headers ?? {}).map((name) => name.toLowerCase());
  return [
    ...wanted.filter((name) => !headers.has(name)).map((name) => `${name} is missing`),
    ...ours.filter((name) => !documented.includes(name)).map((name) => `${name} is not documented`),
  ];
}

function bodyProblem(endpoint: ApiEndpoint, reply: Reply): string | undefined {
  const { answer } = endpoint;
  const path = pathOf(endpoint);
  const place = (type: string) => [...path, "responses", String(reply.status), "content", type, "schema"];
  const type = reply.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) {
    const lines = reply.text.split("\n").filter((line) => line.startsWith("data: "));
    const events = lines.map((line) => line.slice(6)).filter((data) => data !== "[DONE]");
    if (events.length < 3) return `only ${events.length} events`;
    return events.map((data) => check(place("text/event-stream"), JSON.parse(data))).find((one) => one !== undefined);
  }
  if (reply.status < 400 && answer.schema === undefined) return undefined;
  if (!type.startsWith("application/json"))
    return type.startsWith((answer.type ?? "?").replace("*", "")) ? undefined : type;
  return check(place("application/json"), JSON.parse(reply.text));
}

function pathOf(endpoint: ApiEndpoint): string[] {
  const paths = gateway.document["paths"] as Record<string, Json>;
  const operation = operationOf(gateway.document, endpoint);
  const method = endpoint.method.toLowerCase();
  const path = Object.keys(paths).find((one) => paths[one]?.[method] === operation) as string;
  return ["paths", path, method];
}

describe("asked as the examples ask", () => {
  test.each(ASKED)("%s", async (_name, endpoint, example) => {
    const prepared = await gateway.prepare(endpoint);
    const body = prepared.body ?? (example === undefined ? undefined : gateway.here(example));
    const reply = await gateway.ask(endpoint, { ...prepared, body });
    const refused = REFUSED[endpoint.id];
    const status = refused === undefined ? (endpoint.answer.status ?? 200) : ERRORS[refused].status;
    expect([reply.status, reply.text.slice(0, 500)]).toEqual([status, expect.anything()]);
    if (refused !== undefined) expect(reply.json).toMatchObject({ error: { code: refused } });
    expect(headersOf(endpoint, reply)).toEqual([]);
    expect(bodyProblem(endpoint, reply)).toBeUndefined();
  });

  test("and an example is as its schema says", () => {
    let looked = 0;
    for (const endpoint of ENDPOINTS) {
      const type = endpoint.body?.type ?? "application/json";
      for (const [name, body] of Object.entries(endpoint.body?.examples ?? {})) {
        looked++;
        const place = [...pathOf(endpoint), "requestBody", "content", type, "schema"];
        expect([endpoint.id, name, check(place, body)]).toEqual([endpoint.id, name, undefined]);
      }
      const { example, status = 200 } = endpoint.answer;
      if (example === undefined) continue;
      const place = [...pathOf(endpoint), "responses", String(status), "content", "application/json", "schema"];
      expect([endpoint.id, check(place, example)]).toEqual([endpoint.id, undefined]);
    }
    expect(looked).toBeGreaterThan(15);
  });
});

test("without a credential, and without a body, endpoints fail as they say", async () => {
  let looked = 0;
  for (const endpoint of ENDPOINTS) {
    if (endpoint.access === "open") continue;
    const path = endpoint.path.replace(/:\w+|\*/g, "x");
    const refused = await gateway.ask({ ...endpoint, access: "open" }, { path });
    const documented = errorsOf(endpoint, PATHS.isClosable(endpoint.path));
    const code = errorOf(refused.json)?.["code"] as ErrorCode;
    expect([endpoint.id, refused.status, documented.get(refused.status)]).toEqual([
      endpoint.id,
      401,
      expect.arrayContaining([code]),
    ]);
    expect([endpoint.id, bodyProblem(endpoint, refused)]).toEqual([endpoint.id, undefined]);
    looked++;
  }
  expect(looked).toBeGreaterThan(30);
});
