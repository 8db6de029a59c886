// What the runtime does with a request that arrives before the one ahead of it was answered (docs/decisions/0013). When this
// test fails because both are answered, the runtime has been mended: remove the record's reservations and this file.

import { expect, test } from "bun:test";

const post = "POST /first HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\nhi";
const get = "GET /second HTTP/1.1\r\nhost: x\r\n\r\n";

/** Both requests in one write: what the client receives, and whether the first handler heard that its client is gone. */
async function pipelined({ isSlow }: { isSlow: boolean }): Promise<{ received: string; wasAborted: boolean }> {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let wasAborted = false;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      request.signal.addEventListener("abort", () => {
        wasAborted = true;
      });
      if (request.method === "POST") await request.text();
      started.resolve();
      if (isSlow) await new Promise((resolve) => setImmediate(resolve));
      return new Response(`answer to ${pathname}`);
    },
  });
  let received = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: server.port as number,
    socket: {
      data(_socket, bytes) {
        received += bytes.toString();
        if (received.includes("answer to /second")) ended.resolve();
      },
      close: () => ended.resolve(),
    },
  });
  socket.write(post + get);
  await Promise.all([started.promise, ended.promise]);
  socket.end();
  await server.stop(true);
  return { received, wasAborted };
}

test("a request behind an answered one is answered", async () => {
  const { received } = await pipelined({ isSlow: false });
  expect([...received.matchAll(/answer to \/(?:first|second)/g)].flat()).toEqual([
    "answer to /first",
    "answer to /second",
  ]);
});

test("a request behind an unanswered one closes the connection, and the first handler hears of it", async () => {
  expect(await pipelined({ isSlow: true })).toEqual({ received: "", wasAborted: true });
});
