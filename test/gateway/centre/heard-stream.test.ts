// An answer that stages hear is settled once, whenever its client leaves.

import { expect, test } from "bun:test";
import { Stop } from "../../../src/base/stop-signal.ts";
import type { ChatEvent } from "../../../src/chat/event.ts";
import type { GatewayDeps } from "../../../src/gateway/centre/deps.ts";
import { openHeard } from "../../../src/gateway/centre/hearing/heard-stream.ts";
import type { ProviderStream } from "../../../src/gateway/centre/live.ts";
import type { ChatTurn, StageRun } from "../../../src/gateway/centre/stage.ts";
import { chatCompletionsFormat } from "../../../src/wire/chat-completions/format.ts";

const ROUND: readonly ChatEvent[] = [
  { type: "start", id: "a", model: "m" } as ChatEvent,
  { type: "text-start", choice: 0, id: "t" },
  { type: "text-delta", choice: 0, id: "t", text: "Hi" },
  { type: "text-end", choice: 0, id: "t" },
  { type: "finish", choice: 0, reason: "stop" },
];

/** A provider's stream of which nothing was read yet. */
const LIVE = (turn: ChatTurn) =>
  ({
    turn,
    attempt: { end: () => undefined, provider: { dialect: {} }, route: { provider: "p", model: "m" } },
    relay: { usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0, reasoningTokens: 0, cacheWriteTokens: 0 } },
    cancel: () => undefined,
    next: async () => undefined,
  }) as unknown as ProviderStream;

test.each(["before it", "while a stage works for it", "while it is asked"] as const)(
  "a client that leaves before a further round is there: %s",
  async (when) => {
    const settled: number[] = [];
    const work = Promise.withResolvers<void>();
    const working = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<ProviderStream>();
    const run: StageRun = {
      async next() {
        working.resolve();
        await work.promise;
        return { why: "again" };
      },
      settle: ({ rounds }) => void settled.push(rounds.length),
    };
    const turn = {
      origin: "client",
      exchange: { log: {}, headers: {}, startedMs: 0, requestId: "r", failedRoutes: [] },
      chat: { model: "m", messages: [], stream: true, includeUsage: false, tools: [], extra: {} },
      caller: {},
      model: { id: "m", known: {} },
      format: chatCompletionsFormat,
      text: "",
      body: {},
    } as unknown as ChatTurn;
    const deps = {
      stages: { client: [], row: [], inner: [] },
      clock: { now: () => 0 },
      record: () => undefined,
    } as unknown as GatewayDeps;
    const made = { why: "made", answer: async () => ({ events: ROUND }) };
    const stream = await openHeard(
      deps,
      { turn, runs: [run], made, madeBy: 1 },
      {
        stop: new Stop(),
        isShort: false,
        open() {
          asked.resolve();
          return opened.promise;
        },
      },
    );
    const leave = () => {
      stream.cancel();
      stream.settle(true);
    };
    await stream.next();
    if (when === "before it") {
      leave();
      await stream.next();
      expect(settled).toEqual([1]);
      return;
    }
    await stream.next();
    const last = stream.next();
    await working.promise;
    if (when === "while a stage works for it") leave();
    work.resolve();
    await asked.promise;
    if (when === "while it is asked") leave();
    opened.resolve(LIVE(turn));
    await last;
    await stream.next();
    // The cost of the round that nobody read is told too.
    expect(settled).toEqual([2]);
  },
);
