import { expect, test } from "bun:test";
import { createListener, linkOf } from "../../src/http/listen.ts";

// The parser counts in steps of four seconds.
test("idle connections are closed, running requests are not", async () => {
  const server = createListener({ host: "127.0.0.1", port: 0, idleSeconds: 4 });
  server.open(async (request) => {
    if (request.url.endsWith("/slow")) await Bun.sleep(5500);
    server.release(request);
    return new Response("ok");
  });
  const open = async (requests: string[]) => {
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
    return closed.promise;
  };
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const answers = (text: string) => text.split("\r\n\r\nok").length - 1;
  const [idle, half, slow] = await Promise.all([
    open([get("/")]),
    open([get("/"), "GET / HTTP/1.1\r\nHo"]),
    open([get("/"), get("/slow")]),
  ]);
  expect([idle, half, slow].map(answers)).toEqual([1, 1, 2]);
  expect(await server.stop(1000)).toBe(true);
}, 30_000);

test("a second listener on the port is refused", async () => {
  const fetch = () => new Response("ok");
  const first = createListener({ host: "127.0.0.1", port: 0 });
  first.open(fetch);
  const second = createListener({ host: "127.0.0.1", port: first.port });
  expect(() => second.open(fetch)).toThrow(expect.objectContaining({ code: "EADDRINUSE" }));
  await first.stop(0);
});

test("where it listens is not known before it is open", async () => {
  const listener = createListener({ host: "127.0.0.1", port: 0 });
  expect(() => listener.link).toThrow("not open yet");
  listener.open(() => new Response("ok"));
  expect(await (await fetch(listener.link)).text()).toBe("ok");
  await listener.stop(0);
});

test.each([
  ["127.0.0.1", "http://127.0.0.1:80"],
  ["0.0.0.0", "http://localhost:80"],
  ["::", "http://localhost:80"],
  ["::1", "http://[::1]:80"],
])("people reach %s at %s", (host, link) => {
  expect(linkOf(host, 80)).toBe(link);
});
