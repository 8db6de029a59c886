// What connections cost that do nothing, and what a client gets that sends without reading.

import { afterAll, expect, test } from "bun:test";
import { ResponsesConnection } from "../../../../src/gateway/endpoints/socket/connection.ts";
import { createHolder } from "../../../../src/gateway/endpoints/socket/held-answers.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";

const app: TestApp = await startTestApp({ key: { rpm: 10_000 } });
afterAll(() => app.stop());

const upgrade = (key: string) =>
  `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
  "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/** The program that opens connections from outside, so that its memory is not counted. */
const CLIENT = `
const [port, key, count] = [Number(process.argv[1]), process.argv[2], Number(process.argv[3])];
const open = () => new Promise((resolve) => Bun.connect({ hostname: "127.0.0.1", port, socket: {
  open: (socket) => void socket.write(key), data: (socket, data) => resolve(data.toString().split(" ")[1]), error() {} } }));
let left = count;
let opened = 0;
await Promise.all(Array.from({ length: 20 }, async () => { while (left-- > 0) if ((await open()) === "101") opened++; }));
console.log(opened);
setInterval(() => {}, 1000);
`;

/** Opens so many connections, and leaves them open until it is stopped. */
async function openMany(count: number): Promise<{ opened: number; stop(): void }> {
  const args = [process.execPath, "-e", CLIENT, "--", String(new URL(app.url).port), upgrade(app.key), String(count)];
  const child = Bun.spawn(
    args.filter((arg) => arg !== "--"),
    { stdout: "pipe" },
  );
  for await (const chunk of child.stdout)
    return { opened: Number(new TextDecoder().decode(chunk)), stop: () => child.kill() };
  throw new Error("The client said nothing.");
}

test("a thousand connections that do nothing take less than 30 MB", async () => {
  const used = () => {
    Bun.gc(true);
    return process.memoryUsage.rss();
  };
  // What the first connections load is not theirs.
  const first = await openMany(50);
  first.stop();
  const before = used();
  const { opened, stop } = await openMany(1000);
  expect(opened).toBe(1000);
  const megabytes = (used() - before) / 1e6;
  stop();
  expect(megabytes).toBeLessThan(30);
});

test("a client that sends wrong messages and reads no answer is cut off", () => {
  const connection = new ResponsesConnection("http://x/v1/responses", [], {
    held: createHolder()({ chars: 0 }),
    texts: { account: { chars: 0 }, all: { chars: 0 } },
    steers: { chars: 0 },
    stillAllowed: () => Promise.resolve(true),
  });
  const codes: number[] = [];
  let unsent = 0;
  connection.opened({
    send: (text) => {
      unsent += text.length;
    },
    close: (code) => void codes.push(code),
    buffered: () => unsent,
    ask: () => new Response(),
    closed: new AbortController().signal,
  });
  for (let sent = 0; codes.length === 0 && sent < 100_000; sent++) connection.message('{"type":"none"}');
  expect(codes).toEqual([1008]);
  expect(unsent).toBeLessThan(1.1 * 1024 * 1024);
  connection.ended();
});
