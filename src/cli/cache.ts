// `sallyport cache …`: the answers that are kept for equal requests.

import type { Config } from "../config/schema.ts";
import { cachedAnswerStore } from "../store/work/cached-answers.ts";
import type { Command, CommandGroup } from "./command.ts";
import { failure, nowMs, printRecord, withStore } from "./workspace.ts";

const clear: Command = {
  summary: "delete kept answers",
  examples: ["sallyport cache clear", "sallyport cache clear --model gpt-5.2"],
  usage: "[--model ID]",
  options: [{ name: "model", value: "ID", summary: "only those of one model" }],
  details: "A running gateway need not be stopped for it.",
  async run(context) {
    const model = context.flags.text("model");
    return await withStore(context, { create: false }, async (store, config) => {
      const shared = config.redis.url === "" ? 0 : await clearShared(config, model);
      printRecord(context, { deleted: shared + (await cachedAnswerStore(store).clearCache(model)) });
      return 0;
    });
  },
};

/** Deletes those that nodes share through Redis. */
async function clearShared({ redis: { url }, cache }: Config, model: string | undefined): Promise<number> {
  const { connectRedis } = await import("../shared-state/redis.ts");
  const { sharedAnswers } = await import("../shared-state/redis-answers.ts");
  const redis = connectRedis({ url, changed: () => undefined, problem: () => undefined });
  try {
    await redis.settled();
    if (!redis.isUp()) throw failure("redis.url cannot be reached, where the answers are kept");
    return await sharedAnswers({ redis, now: nowMs, bytesMax: () => cache.maxSizeBytes }).clearCache(model);
  } finally {
    await redis.close();
  }
}

/** `sallyport cache`. */
export const cacheCommand: CommandGroup = { summary: "answers kept for equal requests", verbs: { clear } };
