// Plain chats, which go from the body to the answer by plain calls: what one holds while it waits for its provider.

import { heapStats } from "bun:jsc";
import { afterAll, expect, test } from "bun:test";
import { connect, createServer, type Socket } from "node:net";
import { startTestApp } from "../support/app.ts";

/** A provider over plain sockets, so that no promise of the test is among those that are counted. */
const calls: Socket[] = [];
let called = () => {};
const provider = createServer((socket) => {
  socket.on("error", () => {});
  socket.on("data", () => {
    calls.push(socket);
    called();
  });
});
await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
const { port } = provider.address() as { port: number };

const app = await startTestApp({
  tier: "premium",
  config: {
    providers: { up: { kind: "openai", base_url: `http://127.0.0.1:${port}/v1`, api_key: "k", discover: false } },
    models: [{ id: "m", routes: [{ provider: "up", model: "up-model" }] }],
  },
});
const at = new URL(app.url);
afterAll(async () => {
  for (const socket of calls) socket.destroy();
  await app.stop();
  provider.close();
});

const ANSWER = JSON.stringify({
  id: "x",
  object: "chat.completion",
  created: 1,
  model: "up-model",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

const frame = (choice: object) =>
  `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "up-model", choices: [{ index: 0, ...choice }] })}\n\n`;
const STREAM = `${frame({ delta: { role: "assistant", content: "Hi" } })}${frame({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`;

/** Sends requests at once, and looks at the heap while all of them wait. */
async function whileWaiting(stream: boolean, count: number, look: () => void): Promise<readonly string[]> {
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }], stream });
  const answer = stream ? STREAM : ANSWER;
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${at.host}\r\nAuthorization: Bearer ${app.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const answers: string[] = [];
  calls.length = 0;
  const all = new Promise<void>((resolve) => {
    called = () => void (calls.length === count && resolve());
  });
  const over = Promise.withResolvers<void>();
  const clients = Array.from({ length: count }, () => {
    const client = connect(Number(at.port), at.hostname, () => client.write(head + body));
    client.on("data", (bytes) => {
      answers.push(bytes.toString());
      client.destroy();
      if (answers.length === count) over.resolve();
    });
    return client;
  });
  await all;
  look();
  for (const socket of calls) socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`);
  await over.promise;
  for (const client of clients) client.destroy();
  return answers;
}

/** The promises that are alive. */
function promises(): number {
  Bun.gc(true);
  return heapStats().objectTypeCounts["Promise"] ?? 0;
}

test.each([{ stream: false }, { stream: true }])("one that waits holds one promise: $stream", async ({ stream }) => {
  await whileWaiting(stream, 20, () => {});
  let held = 0;
  const before = promises();
  const answers = await whileWaiting(stream, 100, () => {
    held = (promises() - before) / 100;
  });
  for (const answer of answers) expect(answer).toStartWith("HTTP/1.1 200 OK");
  // That of the edge.
  expect(held).toBeLessThan(2);
});

/** The objects that were made for what functions capture, as far as no collection has freed them. */
function captured(): number {
  return heapStats().objectTypeCounts["JSLexicalEnvironment"] ?? 0;
}

test("what few chats wait for costs the others no object", async () => {
  await whileWaiting(false, 100, () => undefined);
  Bun.gc(true);
  const before = captured();
  let made = 0;
  await whileWaiting(false, 100, () => {
    made = (captured() - before) / 100;
  });
  // All of them are the client's and the provider's: 18. A closure on the way, even if it is not made, adds one or two to each chat.
  expect(made).toBeLessThan(20);
});

test("a stream listens once to its client's connection", async () => {
  // The first one loads what answers.
  await whileWaiting(true, 1, () => undefined);
  const { addEventListener } = EventTarget.prototype;
  let listens = 0;
  EventTarget.prototype.addEventListener = function (this: EventTarget, ...given) {
    if (this instanceof AbortSignal) listens++;
    return addEventListener.apply(this, given);
  };
  try {
    await whileWaiting(true, 20, () => undefined);
  } finally {
    EventTarget.prototype.addEventListener = addEventListener;
  }
  expect(listens).toBe(20);
});
