import { expect, test } from "bun:test";
import { createListener, linkOf } from "../../src/http/listen.ts";
import { GOING_AWAY, takeSocket } from "../../src/http/web-socket.ts";

// The parser's timer has a resolution of four seconds.
test("idle connections are closed, running requests are not", async () => {
  const server = createListener({ host: "127.0.0.1", port: 0, idleSeconds: 4, proxyIdleSeconds: 16 });
  server.open();
  server.serve(async (request) => {
    if (request.url.endsWith("/slow")) await Bun.sleep(5500);
    server.release(request, request.url.endsWith("/proxied"));
    return new Response("ok");
  });
  const open = async (requests: string[], everyMs?: number) => {
    const closed = Promise.withResolvers<string>();
    const answered = Promise.withResolvers<void>();
    let text = "";
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port: server.port,
      socket: {
        data(_socket, data) {
          text += data.toString();
          if (text.includes("\r\n\r\nok")) answered.resolve();
        },
        close: () => closed.resolve(text),
        error() {},
      },
    });
    for (const request of requests) {
      socket.write(request);
      socket.flush();
      if (request !== requests.at(-1)) await answered.promise;
    }
    const drip = everyMs === undefined ? undefined : setInterval(() => socket.write("x"), everyMs);
    return closed.promise.finally(() => clearInterval(drip));
  };
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const answers = (text: string) => text.split("\r\n\r\nok").length - 1;
  const closings: string[] = [];
  const closed = (name: string, requests: string[], everyMs?: number) =>
    open(requests, everyMs).then((text) => {
      closings.push(name);
      return answers(text);
    });
  const begun = [get("/"), "GET / HTTP/1.1\r\nHo"];
  const [idle, half, slow, dripping, proxied] = await Promise.all([
    closed("idle", [get("/")]),
    closed("half", begun),
    closed("slow", [get("/"), get("/slow")]),
    // Headers that arrive letter by letter get no more time than a silent connection.
    closed("dripping", begun, 500),
    closed("proxied", [get("/proxied")]),
  ]);
  expect([idle, half, slow, dripping, proxied]).toEqual([1, 1, 2, 1, 1]);
  // Both connections became silent at the same time. When the slow one is closed depends on the time of its answer.
  expect(closings.indexOf("proxied")).toBeGreaterThan(closings.indexOf("idle"));
  expect(await server.stop(1000)).toBe(true);
}, 60_000);

test("a socket whose upgrade ends after the stop began is closed at once", async () => {
  const server = createListener({ host: "127.0.0.1", port: 0, idleSeconds: 4, proxyIdleSeconds: 16 });
  server.open();
  const arrived = Promise.withResolvers<void>();
  const admitted = Promise.withResolvers<void>();
  server.serve(async (request) => {
    arrived.resolve();
    await admitted.promise;
    return takeSocket(request, { opened() {}, ended() {} });
  });
  const closed = Promise.withResolvers<number>();
  const client = new WebSocket(`ws://127.0.0.1:${server.port}/`);
  client.addEventListener("close", ({ code }) => closed.resolve(code));
  await arrived.promise;
  const stopped = server.stop(60_000);
  admitted.resolve();
  expect(await closed.promise).toBe(GOING_AWAY);
  expect(await stopped).toBe(true);
});

test("a second listener on the port is refused", async () => {
  const first = createListener({ host: "127.0.0.1", port: 0 });
  first.open();
  const second = createListener({ host: "127.0.0.1", port: first.port });
  expect(() => second.open()).toThrow(expect.objectContaining({ code: "EADDRINUSE" }));
  await first.stop(0);
});

test("the listener's address is not known before it is open", async () => {
  const listener = createListener({ host: "127.0.0.1", port: 0 });
  expect(() => listener.link).toThrow("not open yet");
  expect(await listener.stop(0)).toBe(true);
  listener.open();
  listener.serve(() => new Response("ok"));
  expect(await (await fetch(listener.link)).text()).toBe("ok");
  await listener.stop(0);
  expect(await listener.stop(0)).toBe(true);
});

test("requests that arrive before serving starts wait", async () => {
  const listener = createListener({ host: "127.0.0.1", port: 0 });
  listener.open();
  const early = fetch(listener.link);
  listener.serve(() => new Response("served"));
  expect(await (await early).text()).toBe("served");
  await listener.stop(0);
});

test.each([
  ["127.0.0.1", "http://127.0.0.1:80"],
  ["0.0.0.0", "http://localhost:80"],
  ["::", "http://localhost:80"],
  ["::1", "http://[::1]:80"],
])("the address shown for %s is %s", (host, link) => {
  expect(linkOf(host, 80)).toBe(link);
});

test("a WebSocket whose peer is gone is closed, one that only listens is not", async () => {
  const server = createListener({ host: "127.0.0.1", port: 0, socketIdleSeconds: 8 });
  server.open();
  const gone = Promise.withResolvers<void>();
  const ended: string[] = [];
  server.serve((request) => {
    const { pathname } = new URL(request.url);
    return takeSocket(request, {
      opened() {},
      ended() {
        ended.push(pathname);
        if (pathname === "/gone") gone.resolve();
      },
    });
  });
  const listening = new WebSocket(`ws://127.0.0.1:${server.port}/listening`);
  // It answers no ping, as a peer whose machine was switched off.
  const peer = await Bun.connect({
    hostname: "127.0.0.1",
    port: server.port,
    socket: { data() {}, error() {} },
  });
  peer.write(
    "GET /gone HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n" +
      "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await gone.promise;
  expect([ended, listening.readyState]).toEqual([["/gone"], WebSocket.OPEN]);
  listening.close();
  await server.stop(0);
}, 60_000);
