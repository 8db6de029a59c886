// The memory of messages that have not fully arrived: the more connections are open, the shorter is the longest message of each.

import { afterAll, expect, test } from "bun:test";
import { connect as connectTcp, type Socket } from "node:net";
import { createMessageShare } from "../../../../src/http/message-share.ts";
import { startTestApp, type TestApp } from "../../../support/app.ts";
import { connect } from "./fixture.ts";

const KIB = 1024;
/** Of all unfinished messages together: four times the budget. */
const ALL = 4 * KIB * KIB;
const app: TestApp = await startTestApp({
  key: { rpm: 10_000 },
  config: { server: { max_body: "2MiB", body_budget: "1MiB" } },
});
afterAll(() => app.stop());

/** A connection that sends bytes as they are. */
async function rawSocket(): Promise<Socket> {
  const { hostname, port } = new URL(app.url);
  const socket = connectTcp(Number(port), hostname);
  socket.write(
    `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.key}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
      "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await new Promise((resolve) => socket.once("data", resolve));
  return socket;
}

/** Frames of a message that does not end. `opcode` 0 continues it. */
function fragment(opcode: number, bytes: number): Buffer {
  const head = Buffer.alloc(14);
  head[0] = opcode;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(bytes), 2);
  return Buffer.concat([head, Buffer.alloc(bytes, 0x20)]);
}

const wrong = (chars: number) => ({ type: "none", input: "x".repeat(chars) });

test("the longest message is shorter while many connections are open, and a longer one ends its connection", async () => {
  const first = connect(app);
  const refused = first.when(({ type }) => type === "error");
  first.send(wrong(1.5 * KIB * KIB));
  expect(await refused).toMatchObject({ error: { param: "type" } });

  const slow = await rawSocket();
  slow.write(fragment(1, 1.5 * KIB * KIB));
  const others = await Promise.all(Array.from({ length: 14 }, rawSocket));
  // Sixteen are open, each with a sixteenth.
  const ended = new Promise<void>((resolve) => slow.once("close", () => resolve()));
  slow.on("error", () => undefined);
  slow.write(fragment(0, KIB));
  slow.resume();
  await ended;
  const short = first.when(({ type }) => type === "error");
  first.send(wrong(ALL / 16 - KIB));
  expect(await short).toMatchObject({ error: { param: "type" } });
  first.send(wrong(ALL / 16));
  expect(await first.closed).toBe(1009);
  for (const other of others) other.destroy();
  // With the others gone it is long again.
  for (;;) {
    const last = connect(app);
    const said = last.when(({ type }) => type === "error");
    last.send(wrong(1.5 * KIB * KIB));
    const end = await Promise.race([said, last.closed]);
    last.close();
    if (typeof end !== "number") break;
  }
});

test("no more connections are opened than can send a short message each", async () => {
  const sockets = await Promise.all(Array.from({ length: ALL / (64 * KIB) }, rawSocket));
  const { hostname, port } = new URL(app.url);
  const late = connectTcp(Number(port), hostname);
  late.write(
    `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.key}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
      "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  const answer = String(await new Promise((resolve) => late.once("data", resolve)));
  expect(answer).toStartWith("HTTP/1.1 503");
  expect(answer).toContain("server_busy");
  expect(answer).toMatch(/x-request-id: \S+/i);
  for (const socket of [...sockets, late]) socket.destroy();
});

test("the limit of one message falls by halves, and rises late", () => {
  const share = createMessageShare({ one: 20, all: () => 100 * 64 * KIB });
  expect([share.changes(5), share.bytes()]).toEqual([false, 20]);
  const large = createMessageShare({ one: 21 << 20, all: () => 512 << 20 });
  const steps: [open: number, mebibytes: number][] = [
    [16, 21],
    [17, 16],
    [32, 16],
    [33, 8],
    [1000, 0.5],
    [300, 0.5],
    [255, 2],
    [1, 21],
  ];
  for (const [open, mebibytes] of steps) {
    large.changes(open);
    expect([open, large.bytes() / (1 << 20)]).toEqual([open, mebibytes]);
  }
  expect([large.isFull(8191), large.isFull(8192)]).toEqual([false, true]);
});
