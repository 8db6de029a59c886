// Bodies made to cost more than they weigh: the work must grow with what was sent, not with its square.

import { expect, spyOn, test } from "bun:test";
import { createServer } from "node:net";
import { createFetch } from "../../src/net/fetch.ts";
import { createGuard } from "../../src/net/guard.ts";
import { createResolve } from "../../src/net/resolve.ts";

const get = createFetch(createGuard({ allowPrivateNetworks: true, allowHosts: [], ports: [] }, createResolve()));

test("a body in chunks of one byte copies little more than it holds", async () => {
  const bytes = 50_000;
  const wire = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(bytes)}0\r\n\r\n`;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end(wire);
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", () => listening.resolve());
  await listening.promise;
  const { port } = server.address() as { port: number };
  let copied = 0;
  const { concat } = Buffer;
  const spy = spyOn(Buffer, "concat").mockImplementation((parts, total) => {
    const whole = concat.call(Buffer, parts, total) as Buffer<ArrayBuffer>;
    copied += whole.length;
    return whole;
  });
  try {
    const page = await get(`http://127.0.0.1:${port}/`, { bytesMax: bytes, timeoutMs: 30_000 });
    expect(page.body.byteLength).toBe(bytes);
    expect(copied).toBeLessThan(wire.length * 10);
  } finally {
    spy.mockRestore();
    server.close();
  }
});
