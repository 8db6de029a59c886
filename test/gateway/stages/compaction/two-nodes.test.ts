// Two nodes that compact one conversation at the same time, over a real Redis and a store that both see: a stored conversation
// is summarised once, and nothing of any conversation is on Redis.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Flights } from "../../../../src/base/flights.ts";
import type { Compaction, CompactionStore } from "../../../../src/gateway/stages/compaction/memory.ts";
import { sharedFlights } from "../../../../src/shared-state/redis-flights.ts";
import { HAS_REDIS, joinRedis, type RedisNode, startRedis, type TestRedis } from "../../../support/redis.ts";
import { conversation, elementsOf, factKeeper, newCompactor, type Step } from "./fixture.ts";

/** What both nodes have in their database. */
function sharedStore(): CompactionStore {
  const rows = new Map<string, Compaction>();
  return {
    load: async () => [...rows.values()].map((row) => structuredClone(row)),
    save: async (_, compaction) => void rows.set(compaction.id, structuredClone(compaction)),
  };
}

describe.skipIf(!HAS_REDIS)("two nodes", () => {
  let redis: TestRedis;
  let nodes: RedisNode[];

  beforeAll(async () => {
    redis = await startRedis();
    nodes = [await joinRedis(redis.url), await joinRedis(redis.url)];
  });
  afterAll(async () => {
    for (const node of nodes ?? []) await node.redis.close();
    await redis?.stop();
  });

  /** Work shared by a node, which tells when it waits for another. */
  const sharing = ({ redis: own, node }: RedisNode, waits: () => void): Flights => {
    const run: typeof own.run = async (...given) => {
      const answer = await own.run(...given);
      if (Array.isArray(answer) && answer[0] === "wait") waits();
      return answer;
    };
    return sharedFlights({ redis: { ...own, run }, node });
  };

  /**
   * Both nodes shorten a conversation at once; returns their results and how many summaries were asked for. The summary of a
   * stored conversation is made when the other node waits for it.
   */
  async function both(threadId: string | undefined, share: (flights: Flights) => Flights = (flights) => flights) {
    const store = sharedStore();
    const keeper = factKeeper();
    const waiting = Promise.withResolvers<void>();
    if (threadId === undefined) waiting.resolve();
    const ask: typeof keeper.ask = async (...given) => {
      await waiting.promise;
      return keeper.ask(...given);
    };
    const made: Step[] = Array.from({ length: 60 }, (_, n) => ({
      kind: n % 2 === 0 ? "user" : "assistant",
      text: `fact-${n} is v${n}. ${"and so on ".repeat(60)}`,
    }));
    const work = { ask, window: 4000 };
    const given = conversation("openai-chat", elementsOf("openai-chat", made), { threadId, work });
    const compactors = nodes.map((node) => newCompactor(store, share(sharing(node, waiting.resolve))));
    const short = await Promise.all(compactors.map((compactor) => compactor.shorten(given)));
    const alone = factKeeper();
    await newCompactor().shorten({ ...given, threadId: undefined, work: { ...work, ask: alone.ask } });
    return { short, summaries: keeper.prompts.length / alone.prompts.length };
  }

  test("summarise a thread once", async () => {
    const { short, summaries } = await both("thread-1");
    expect(summaries).toBe(1);
    expect(short[0]?.record).toContain("fact-");
    expect(JSON.stringify(short[0]?.list)).toBe(JSON.stringify(short[1]?.list));
  });

  test("summarise a thread once even if word of the summary is lost on the way", async () => {
    // The node that has waited works itself, and finds what the other has stored.
    const late = (flights: Flights): Flights => ({
      share: async (key, make, options) => {
        let isOwn = false;
        const own = (hasWaited: boolean) => {
          isOwn = true;
          return make(hasWaited);
        };
        const flight = await flights.share(key, own, options);
        return isOwn ? flight : { value: await make(true), leftMs: 0 };
      },
    });
    const { short, summaries } = await both("thread-2", late);
    expect(summaries).toBe(1);
    expect(JSON.stringify(short[0]?.list)).toBe(JSON.stringify(short[1]?.list));
  });

  test("each summarise a conversation that is not stored", async () => {
    expect((await both(undefined)).summaries).toBe(2);
  });

  test("leave nothing of a conversation on Redis", async () => {
    const keys = (await redis.ask("KEYS", "*")) as string[];
    const values = await Promise.all(keys.map((key) => redis.ask("GET", key)));
    expect(JSON.stringify([keys, values])).not.toContain("fact");
    expect(JSON.stringify(keys)).not.toContain("thread-");
  });
});
