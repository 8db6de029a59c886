import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
const CHAT = { model: "demo-echo", messages: [{ role: "user", content: "hello out there" }] };
const MAX_BODY = 64 * 1024;

beforeAll(async () => {
  app = await startTestApp({ config: { server: { max_body: "64KiB" } } });
});
afterAll(() => app.stop());

/**
 * Sends the bytes of one HTTP request over a socket. Resolves when the answer's body is complete or the server closes the
 * connection.
 */
function raw(request: string): Promise<{ status: number; headers: Record<string, string>; body: string }> {
  return new Promise((resolve, reject) => {
    let text = "";
    const read = (ended: boolean) => {
      const [head = "", ...rest] = text.split("\r\n\r\n");
      const body = rest.join("\r\n\r\n");
      const [status = "", ...lines] = head.split("\r\n");
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
      );
      const length = Number(headers["content-length"] ?? Number.NaN);
      if (!ended && !(rest.length > 0 && body.length >= length)) return false;
      resolve({ status: Number(status.split(" ")[1]), headers, body });
      return true;
    };
    Bun.connect({
      hostname: "127.0.0.1",
      port: Number(new URL(app.url).port),
      socket: {
        open: (socket) => void socket.write(request),
        data(socket, data) {
          text += data.toString("latin1");
          if (read(false)) socket.end();
        },
        close: () => void read(true),
        error: (_socket, error) => reject(error),
      },
    }).catch(reject);
  });
}

const auth = () => `Authorization: Bearer ${app.key}\r\n`;
const envelope = (body: string) =>
  JSON.parse(body) as { error: { code: string; type: string; param: string | null; message: string } };

describe("requests that the parser accepts", () => {
  test("HTTP/1.0 without Host", async () => {
    expect((await raw("GET /livez HTTP/1.0\r\n\r\n")).status).toBe(200);
  });
  test("two Host headers: 400, with envelope and id", async () => {
    const answer = await raw("GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    expect(answer.status).toBe(400);
    expect(envelope(answer.body).error.code).toBe("invalid_request");
    expect(answer.headers["x-request-id"]).toBeTruthy();
  });
  test("a host name of one letter", async () => {
    expect((await raw("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")).status).toBe(200);
  });
  test("HEAD has the headers and no body", async () => {
    const answer = await raw("HEAD /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    expect(answer.status).toBe(200);
    expect(answer.body).toBe("");
  });
  test.each([
    ["TRACE /livez HTTP/1.1", 405],
    ["CONNECT example.org:443 HTTP/1.1", 404],
  ])("%s", async (line, status) => {
    const answer = await raw(`${line}\r\nHost: localhost\r\n\r\n`);
    expect(answer.status).toBe(status);
    expect(answer.headers["x-request-id"]).toBeTruthy();
  });
});

describe("X-Request-ID", () => {
  test.each(["abc", "with spaces  inside", "a".repeat(5000), '{"json":1}', "caf\u00c3\u00a9"])(
    "is echoed: %p",
    async (id) => {
      const answer = await raw(`GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\nX-Request-ID: ${id}\r\n\r\n`);
      expect(answer.status).toBe(404);
      // Text that was written as UTF-8 is returned as the same bytes.
      expect(Buffer.from(answer.headers["x-request-id"] ?? "", "latin1")).toEqual(Buffer.from(id, "utf8"));
    },
  );
  test("is created, and unique, if the client sent none", async () => {
    const ids = await Promise.all([1, 2].map(async () => (await app.call("/livez")).headers.get("x-request-id")));
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(ids[0]).not.toBe(ids[1]);
  });
  test("is cut and escaped in logs", async () => {
    await app.call("/v1/nothing", { headers: { "x-request-id": `log-test-${"x".repeat(500)}` } });
    await app.post("/v1/chat/completions", CHAT);
    await app.flushLogs();
    const ids = app.logs.map((line) => String(line["request_id"] ?? ""));
    expect(ids.filter((id) => id.startsWith("log-test-")).length).toBe(1);
    for (const id of ids) expect(id.length).toBeLessThanOrEqual(201);
  });
});

describe("errors of the HTTP layer", () => {
  test.each<[string, string, RequestInit & { headers?: Record<string, string> }, number, string]>([
    ["unknown route", "/v1/nothing", {}, 404, "route_not_found"],
    ["unknown root", "/nothing", { method: "POST", body: "x" }, 404, "route_not_found"],
    ["known path, wrong method", "/v1/chat/completions", {}, 405, "method_not_allowed"],
    ["wrong method on a pattern", "/v1/models/some/id", { method: "DELETE" }, 405, "method_not_allowed"],
    [
      "malformed JSON",
      "/v1/chat/completions",
      { method: "POST", body: "{", headers: { "content-type": "application/json" } },
      400,
      "invalid_json",
    ],
    [
      "an empty body",
      "/v1/chat/completions",
      { method: "POST", body: "", headers: { "content-type": "application/json" } },
      400,
      "invalid_json",
    ],
    [
      "not an object",
      "/v1/chat/completions",
      { method: "POST", body: "[]", headers: { "content-type": "application/json" } },
      400,
      "invalid_request",
    ],
    [
      "wrong content type",
      "/v1/chat/completions",
      { method: "POST", body: "{}", headers: { "content-type": "text/plain" } },
      400,
      "invalid_request",
    ],
    [
      "unknown coding",
      "/v1/chat/completions",
      { method: "POST", body: "{}", headers: { "content-type": "application/json", "content-encoding": "lzma" } },
      400,
      "invalid_request",
    ],
    [
      "a lie about the coding",
      "/v1/chat/completions",
      { method: "POST", body: "{}", headers: { "content-type": "application/json", "content-encoding": "gzip" } },
      400,
      "invalid_request",
    ],
    [
      "a body beyond the limit",
      "/v1/chat/completions",
      { method: "POST", body: " ".repeat(MAX_BODY + 1), headers: { "content-type": "application/json" } },
      413,
      "request_too_large",
    ],
    ["moderations", "/v1/moderations", { method: "POST", body: "{}" }, 501, "not_implemented"],
  ])("%s", async (_name, path, init, status, code) => {
    const answer = await app.call(path, init);
    expect(answer.status).toBe(status);
    const body = envelope(await answer.text());
    expect(body.error.code).toBe(code);
    expect(Object.keys(body.error).sort()).toEqual(["code", "message", "param", "type"]);
    expect(answer.headers.get("x-request-id")).toBeTruthy();
  });

  test("405 names the allowed methods", async () => {
    expect((await app.call("/v1/chat/completions")).headers.get("allow")).toBe("POST");
    expect((await app.call("/v1/models", { method: "POST" })).headers.get("allow")).toBe("GET, HEAD");
  });

  test("a declared length beyond the limit is refused at once", async () => {
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n${auth()}Content-Type: application/json\r\n`;
    const answer = await raw(`${head}Content-Length: 99999999999\r\n\r\n{`);
    expect(answer.status).toBe(413);
    expect(answer.headers["x-request-id"]).toBeTruthy();
  });

  test("a chunked body beyond the limit", async () => {
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n${auth()}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answer = await raw(`${head}${`8000\r\n${" ".repeat(0x8000)}\r\n`.repeat(3)}0\r\n\r\n`);
    expect(answer.status).toBe(413);
    expect(envelope(answer.body).error.code).toBe("request_too_large");
  });

  test("the messages endpoint adds a top-level type", async () => {
    const answer = await app.post("/v1/messages", {});
    expect(await answer.json()).toMatchObject({ type: "error", error: { code: "invalid_request", param: "model" } });
  });
});

describe("keys", () => {
  const post = (path: string, headers: Record<string, string>, body = "{") =>
    fetch(app.url + path, { method: "POST", headers, body });
  test.each<[string, string, () => Record<string, string>, number, string]>([
    ["none", "/v1/chat/completions", () => ({}), 401, "missing_api_key"],
    ["empty bearer", "/v1/chat/completions", () => ({ authorization: "Bearer " }), 401, "invalid_api_key"],
    ["another scheme", "/v1/chat/completions", () => ({ authorization: "Basic abc" }), 401, "invalid_api_key"],
    [
      "an unknown key",
      "/v1/chat/completions",
      () => ({ authorization: `Bearer sk-${"a".repeat(48)}` }),
      401,
      "invalid_api_key",
    ],
    [
      "a JWT",
      "/v1/chat/completions",
      () => ({ authorization: "Bearer eyJhbGciOiJIUzI1NiJ9.e30.x" }),
      401,
      "invalid_api_key",
    ],
    ["x-api-key elsewhere", "/v1/chat/completions", () => ({ "x-api-key": app.key }), 401, "missing_api_key"],
    [
      "x-api-key on a path that begins alike",
      "/v1/messages2",
      () => ({ "x-api-key": app.key }),
      404,
      "route_not_found",
    ],
    ["x-api-key on messages", "/v1/messages?beta=true", () => ({ "x-api-key": app.key }), 400, "invalid_json"],
    [
      "both: Authorization decides",
      "/v1/messages",
      () => ({ "x-api-key": app.key, authorization: "Bearer sk-no" }),
      401,
      "invalid_api_key",
    ],
    ["lower-case scheme", "/v1/chat/completions", () => ({ authorization: `bearer ${app.key}` }), 400, "invalid_json"],
  ])("%s, before the body is looked at", async (_name, path, headers, status, code) => {
    const answer = await post(path, headers());
    expect(answer.status).toBe(status);
    expect(envelope(await answer.text()).error.code).toBe(code);
  });
});

describe("compressed bodies", () => {
  const text = JSON.stringify(CHAT);
  test.each([
    ["gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
    ["zstd", zstdCompressSync(text)],
    ["identity", Buffer.from(text)],
  ])("%s", async (coding, bytes) => {
    const answer = await app.call("/v1/chat/completions", {
      method: "POST",
      body: new Uint8Array(bytes),
      headers: { "content-type": "application/json; charset=utf-8", "content-encoding": coding },
    });
    expect(answer.status).toBe(200);
  });
  test("a decompression bomb is stopped at the limit of decompressed bytes", async () => {
    const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024, 32));
    expect(bomb.byteLength).toBeLessThan(MAX_BODY);
    const answer = await app.call("/v1/chat/completions", {
      method: "POST",
      body: new Uint8Array(bomb),
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
    });
    expect(answer.status).toBe(413);
  });
});

describe("browsers", () => {
  test("preflights are answered without a key", async () => {
    const answer = await fetch(`${app.url}/v1/chat/completions`, {
      method: "OPTIONS",
      headers: {
        origin: "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-allow-headers")).toBe("authorization,content-type");
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  });
  test("answers and errors can be read, with the gateway's headers", async () => {
    for (const answer of [await app.post("/v1/chat/completions", CHAT), await app.call("/v1/nothing")]) {
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      const exposed = (answer.headers.get("access-control-expose-headers") ?? "").toLowerCase();
      for (const name of ["x-request-id", "retry-after", "x-ratelimit-remaining", "x-sallyport-dropped"])
        expect(exposed).toContain(name);
    }
  });
});
