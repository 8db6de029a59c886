import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import {
  createWireClient,
  type WireCall,
  type WireClient,
  type WireClientOptions,
} from "../../../src/upstream/connection/client.ts";
import { BrokenAnswer, NoConnection } from "../../../src/upstream/connection/failures.ts";
import { OwnAnswer } from "../../../src/upstream/connection/own-answer.ts";
import { ownTransport } from "../../../src/upstream/connection/transport.ts";
import { closedPort, startBlackhole, startPlain } from "../../support/raw-upstream.ts";
import { EXPIRED_CERT, LOCALHOST_CERT, LOCALHOST_KEY, TEST_CERT, TEST_KEY } from "../../support/tls.ts";

let ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends) await end();
  ends = [];
});

const late = () => new Error("late");

function clientWith(options: WireClientOptions = {}): WireClient {
  const client = createWireClient(options);
  ends.push(() => client.close());
  return client;
}

function callOf(url: string, more: Partial<WireCall> = {}): WireCall {
  return { method: "POST", url, headers: {}, body: "{}", connectMs: 5000, firstByteMs: 5000, late, ...more };
}

const ask = async (client: WireClient, call: WireCall) => new OwnAnswer(await client.call(call).answer).asResponse();
const failureOf = async (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A server that runs the script for each request, with the number of its connection. */
function serve(script: (write: (text: string) => void, end: () => void, request: string, connection: number) => void) {
  let count = 0;
  let open = 0;
  const server = Bun.listen<{ at: number; text: string }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        open++;
        socket.data = { at: ++count, text: "" };
      },
      data(socket, bytes) {
        socket.data.text += String(bytes);
        if (!/\r\n\r\n/.test(socket.data.text)) return;
        const { text, at } = socket.data;
        socket.data.text = "";
        script(
          (piece) => void socket.write(piece),
          () => socket.end(),
          text,
          at,
        );
      },
      close() {
        open--;
      },
      error() {},
    },
  });
  ends.push(() => server.stop(true));
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    connections: () => count,
    open: () => open,
  };
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

test("a connection carries one request after the other", async () => {
  const up = serve((write) => write(OK));
  const client = clientWith();
  for (let at = 0; at < 3; at++) expect(await (await ask(client, callOf(up.url))).text()).toBe("ok");
  expect(up.connections()).toBe(1);
  expect(client.state).toEqual({ open: 1, idle: 1 });
});

test("no more connections stay idle than allowed, and none for longer", async () => {
  const up = serve((write) => write(OK));
  const client = clientWith({ idleMaxEach: 2, idleMs: 30 });
  await Promise.all(Array.from({ length: 5 }, async () => (await ask(client, callOf(up.url))).text()));
  expect(client.state).toEqual({ open: 2, idle: 2 });
  while (client.state.open > 0) await Bun.sleep(1);
  while (up.open() > 0) await Bun.sleep(1);
});

test("bytes that arrive without a request close the connection", async () => {
  const up = serve((write) => {
    write(OK);
    setTimeout(() => write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"), 5);
  });
  const client = clientWith();
  await (await ask(client, callOf(up.url))).text();
  while (client.state.open > 0) await Bun.sleep(1);
  expect(await (await ask(client, callOf(up.url))).text()).toBe("ok");
  expect(up.connections()).toBe(2);
});

describe("a connection that ends before the first byte of an answer", () => {
  const once = (isReused: boolean) =>
    serve((write, end, _request, at) => {
      if (at === 1 && seen++ === Number(isReused)) end();
      else write(OK);
    });
  let seen = 0;
  test("is replaced if it was idle for a while", async () => {
    seen = 0;
    const up = once(true);
    const client = clientWith({ staleMs: 0 });
    await (await ask(client, callOf(up.url))).text();
    expect(await (await ask(client, callOf(up.url))).text()).toBe("ok");
    expect(up.connections()).toBe(2);
  });
  test("is an error if it was in use just before", async () => {
    seen = 0;
    const client = clientWith({ staleMs: 60_000 });
    const up = once(true);
    await (await ask(client, callOf(up.url))).text();
    expect(await failureOf(ask(client, callOf(up.url)))).toBeInstanceOf(BrokenAnswer);
  });
  test("is an error if it was new", async () => {
    seen = 0;
    const client = clientWith({ staleMs: 0 });
    expect(await failureOf(ask(client, callOf(once(false).url)))).toBeInstanceOf(BrokenAnswer);
  });
});

test("the body comes as it arrives, and a reader that does not read makes the server wait", async () => {
  let sent = 0;
  const server: Server = createServer((_request, response) => {
    const piece = Buffer.alloc(64 * 1024, 120);
    const more = () => {
      while (sent < 64 * 1024 * 1024) {
        sent += piece.length;
        if (!response.write(piece)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  ends.push(() => server.close());
  const client = clientWith();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const wire = await client.call(callOf(url)).answer;
  let before = -1;
  while (sent !== before) {
    before = sent;
    // Nobody tells when all buffers between the two are full, so that the server cannot send any more.
    await Bun.sleep(50);
  }
  expect(sent).toBeLessThan(32 * 1024 * 1024);
  let size = 0;
  for (let part = await wire.read(); part !== undefined; part = await wire.read()) size += part.byteLength;
  expect(size).toBe(64 * 1024 * 1024);
  // The connection is not paused any more.
  expect(client.state).toEqual({ open: 1, idle: 1 });
}, 60_000);

describe("an upload", () => {
  const bodyOf = (parts: readonly string[], length?: number) => {
    let at = 0;
    const next = async () => (at < parts.length ? Buffer.from(parts[at++]!) : undefined);
    return { type: "text/plain", length, next };
  };
  const heard = async (parts: readonly string[], length?: number) => {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => new Response(await request.text()),
    });
    ends.push(() => server.stop(true));
    const call = callOf(`http://127.0.0.1:${server.port}/`, { body: undefined, upload: bodyOf(parts, length) });
    return (await ask(clientWith(), call)).text();
  };
  test("of known length", async () => expect(await heard(["ab", "", "cde"], 5)).toBe("abcde"));
  test("of unknown length", async () => expect(await heard(["ab", "", "x".repeat(300_000)])).toHaveLength(300_002));
  test("longer or shorter than stated is not sent", async () => {
    expect(await failureOf(heard(["abc"], 2))).toBeInstanceOf(Error);
    expect(await failureOf(heard(["abc"], 4))).toBeInstanceOf(Error);
  });
});

test("a long body arrives whole, whatever its characters", async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => new Response(await request.text()),
  });
  ends.push(() => server.stop(true));
  const body = `ä→😀${"x".repeat(9_000_000)}ü`;
  const call = callOf(`http://127.0.0.1:${server.port}/`, { body, headers: { "x-name": "ü" } });
  expect((await (await ask(clientWith(), call)).text()) === body).toBe(true);
});

test.each(["before the connection is there", "before all of it was taken"])(
  "a body that is freed %s ends the call, and its connection",
  async (when) => {
    const reading = Promise.withResolvers<Socket>();
    const server = createTcpServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        socket.pause();
        reading.resolve(socket);
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    ends.push(() => server.close());
    const body = Array.from({ length: 20 }, () => Buffer.allocUnsafeSlow(1024 * 1024).fill("a"));
    const client = clientWith();
    const failure = failureOf(client.call(callOf(`http://127.0.0.1:${port}/v1`, { body })).answer);
    const socket = when === "before the connection is there" ? undefined : await reading.promise;
    for (const { buffer } of body) buffer.transfer(0);
    socket?.resume();
    expect(await failure).toBeInstanceOf(BrokenAnswer);
    expect(client.state.open).toBe(0);
  },
);

test("the form of `fetch` sends texts, bytes and streams", async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => new Response(`${request.method} ${await request.text()}`),
  });
  ends.push(() => server.stop(true));
  const send = ownTransport(clientWith(), 5000);
  const url = `http://127.0.0.1:${server.port}/`;
  const asked = async (body: NonNullable<BunFetchRequestInit["body"]>) =>
    (await send(url, { method: "PUT", body })).text();
  expect(await asked("ä")).toBe("PUT ä");
  expect(await asked(Buffer.from("bytes"))).toBe("PUT bytes");
  expect(await asked(new Blob(["stream"]).stream())).toBe("PUT stream");
  expect(await (await send(url, {})).text()).toBe("GET ");
  expect(await failureOf(send(url, { method: "POST", body: new FormData() }))).toBeInstanceOf(TypeError);
});

test("compressed answers, for which only the operator can ask, are decompressed", async () => {
  const packed = Bun.gzipSync(Buffer.from("hello"));
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) =>
      request.headers.get("accept-encoding") === "gzip"
        ? new Response(packed, { headers: { "content-encoding": "gzip" } })
        : new Response("plain"),
  });
  ends.push(() => server.stop(true));
  const url = `http://127.0.0.1:${server.port}/`;
  const client = clientWith();
  expect(await (await ask(client, callOf(url))).text()).toBe("plain");
  expect(await (await ask(client, callOf(url, { headers: { "accept-encoding": "gzip" } }))).text()).toBe("hello");
});

describe("no connection", () => {
  test("refused", async () => {
    const error = await failureOf(ask(clientWith(), callOf(`http://127.0.0.1:${closedPort()}/`)));
    expect(error).toBeInstanceOf(NoConnection);
    expect(error).toMatchObject({ code: "ECONNREFUSED", isLate: false });
  });
  test("in time", async () => {
    const hole = await startBlackhole();
    ends.push(() => hole.stop());
    const client = clientWith();
    const error = await failureOf(ask(client, callOf(`http://127.0.0.1:${hole.port}/`, { connectMs: 20 })));
    expect(error).toMatchObject({ isLate: true });
    expect(client.state.open).toBe(0);
  });
  test("no TLS", async () => {
    const plain = startPlain();
    ends.push(() => plain.stop());
    expect(await failureOf(ask(clientWith(), callOf(`https://127.0.0.1:${plain.port}/`)))).toBeInstanceOf(NoConnection);
  });
});

describe("certificates", () => {
  const asked = async (cert: string, key: string, { ca, host = "localhost" }: { ca?: string; host?: string }) => {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: { cert, key },
      fetch: () => new Response("secret"),
    });
    ends.push(() => server.stop(true));
    const client = clientWith({ ca });
    const url = `https://${host}:${server.port}/`;
    const answer = await failureOf(
      ask(client, callOf(url))
        .then((response) => response.text())
        .then((text) => text),
    );
    if (answer === undefined) return `${await (await ask(client, callOf(url))).text()}, ${client.state.open} open`;
    expect(answer).toBeInstanceOf(NoConnection);
    return (answer as NoConnection).code;
  };
  test("the right name of a trusted authority", async () => {
    expect(await asked(LOCALHOST_CERT, LOCALHOST_KEY, { ca: LOCALHOST_CERT })).toBe("secret, 1 open");
  });
  test("another name", async () => {
    expect(await asked(TEST_CERT, TEST_KEY, { ca: TEST_CERT })).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  });
  test("a name for an address", async () => {
    const code = await asked(LOCALHOST_CERT, LOCALHOST_KEY, { ca: LOCALHOST_CERT, host: "127.0.0.1" });
    expect(code).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  });
  test("self-signed", async () => {
    expect(await asked(LOCALHOST_CERT, LOCALHOST_KEY, {})).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
  });
  test("expired", async () => {
    expect(await asked(EXPIRED_CERT, LOCALHOST_KEY, { ca: EXPIRED_CERT })).toBe("CERT_HAS_EXPIRED");
  });
});

test("a call that is stopped closes its connection at once, before and after the head", async () => {
  const up = serve((write, _end, request) => {
    if (request.includes("/head")) write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
  });
  const client = clientWith();
  const reason = new Error("left");
  const silent = client.call(callOf(`${up.url}/silent`));
  while (up.connections() < 1) await Bun.sleep(1);
  silent.stop(reason);
  expect(await failureOf(silent.answer)).toBe(reason);
  const begun = client.call(callOf(`${up.url}/head`));
  const wire = await begun.answer;
  expect(String(await wire.read())).toBe("ab");
  const next = wire.read();
  begun.stop(reason);
  expect(await failureOf(Promise.resolve(next))).toBe(reason);
  while (up.open() > 0) await Bun.sleep(1);
  expect(client.state.open).toBe(0);
});

test("an answer that does not begin in time is given up", async () => {
  const up = serve(() => {});
  const error = await failureOf(ask(clientWith(), callOf(up.url, { firstByteMs: 20 })));
  expect(error).toMatchObject({ message: "late" });
});
