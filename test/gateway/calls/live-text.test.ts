// What an answer that is being streamed holds in memory between two reads.

import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { openLive } from "../../../src/gateway/calls/open-stream.ts";
import type { RouteAttempt } from "../../../src/gateway/calls/route-call.ts";
import { configureProvider } from "../../../src/upstream/configure.ts";
import type { FrameRelay } from "../../../src/upstream/dialect.ts";
import { OutputText } from "../../../src/upstream/output-text.ts";
import type { Provider } from "../../../src/upstream/provider.ts";

const STREAMS = 60;
const FRAME = `data: ${"a".repeat(48 * 1024)}\n\n`;

/** A relay that keeps a short piece of each frame, or none. */
function keeper(isKept: boolean): FrameRelay {
  const output = new OutputText();
  let isBegun = false;
  return {
    output,
    get committed() {
      return isBegun;
    },
    finished: false,
    fault: undefined,
    usage: undefined,
    push(block) {
      if (block !== "") isBegun = true;
      if (isBegun && isKept) output.add(block.slice(10, 30));
      return "";
    },
    end: () => "",
  };
}

function heldBytes(): number {
  Bun.gc(true);
  return heapStats().extraMemorySize;
}

test("a stream does not hold what arrived to keep its text", async () => {
  using server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket) => void socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${FRAME}`),
    },
  });
  const provider = configureProvider({
    name: "up",
    kind: "openai",
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    apiKeys: ["k"],
    headers: {},
    quirks: {},
    timeoutMs: { connect: 60_000, firstByte: 60_000, idle: 60_000 },
    retry: { attempts: 1, baseMs: 1, maxMs: 1 },
  } as unknown as Parameters<typeof configureProvider>[0]) as Provider;
  const request = { path: "/chat/completions", headers: {}, body: "{}", dropped: [] };
  const options = {
    signal: new AbortController().signal,
    secret: "k",
    begun: () => undefined,
    whole: () => keeper(false),
  };
  const open = (relay: FrameRelay) => openLive({ provider } as RouteAttempt, request, relay, options);
  const held = async (isKept: boolean) => {
    const before = heldBytes();
    const lives = [];
    for (let i = 0; i < STREAMS; i++) lives.push(await open(keeper(isKept)));
    const bytes = heldBytes() - before;
    const text = lives.map(({ relay }) => relay.output.toString()).join("");
    expect(text).toBe(isKept ? "a".repeat(20 * STREAMS) : "");
    for (const live of lives) live.cancel();
    return bytes;
  };
  const without = await held(false);
  // All frames together have almost 3 MB.
  expect((await held(true)) - without).toBeLessThan((FRAME.length * STREAMS) / 4);
});
