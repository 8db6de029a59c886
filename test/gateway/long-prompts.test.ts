// A long prompt is sent whole though another prompt of its request has failed meanwhile.

import { afterAll, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { startTestApp } from "../support/app.ts";

const begun = Promise.withResolvers<Socket>();
const whole = Promise.withResolvers<void>();
const sockets: Socket[] = [];
const REFUSAL = '{"error":{"message":"no"}}';

/** Refuses the prompt of "a" when that of "b" has begun to arrive, of which it reads no more at first. */
const provider = createServer((socket) => {
  sockets.push(socket);
  let head = "";
  let left: number | undefined;
  socket.on("error", () => undefined);
  socket.on("data", (bytes) => {
    if (left === undefined) {
      head += bytes.toString("latin1");
      const body = head.indexOf("\r\n\r\n") + 4;
      if (body < 4 || head.length < body + 200) return;
      left = Number(/content-length: (\d+)/i.exec(head)?.[1]) - (head.length - body);
      if (head.includes("bbb")) {
        socket.pause();
        begun.resolve(socket);
      }
    } else left -= bytes.length;
    if (left !== 0) return;
    if (head.includes("bbb")) whole.resolve();
    else {
      const answer = `HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: ${REFUSAL.length}\r\n\r\n${REFUSAL}`;
      void begun.promise.then(() => socket.end(answer));
    }
  });
});
await new Promise<void>((resolve) => void provider.listen(0, "127.0.0.1", resolve));
const { port } = provider.address() as { port: number };
const app = await startTestApp({
  tier: "premium",
  config: {
    providers: {
      up: { kind: "openai", base_url: `http://127.0.0.1:${port}`, discover: false, retry: { attempts: 1 } },
    },
    models: [{ id: "m", context_length: 100_000_000, routes: [{ provider: "up", model: "theirs" }] }],
  },
});
afterAll(async () => {
  await app.stop();
  for (const socket of sockets) socket.destroy();
  provider.close();
});

test("a prompt that is being sent when another one fails", async () => {
  const prompt = ["a".repeat(3_000_000), "b".repeat(15_000_000)];
  const answer = await app.call("/v1/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", prompt }),
  });
  expect(answer.status).toBe(400);
  await answer.text();
  (await begun.promise).resume();
  await whole.promise;
});
