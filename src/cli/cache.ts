// `sallyport cache …`: the answers that are kept for equal requests.

import { cachedAnswerStore } from "../store/work/cached-answers.ts";
import type { Command, CommandGroup } from "./command.ts";
import { printRecord, withStore } from "./workspace.ts";

const clear: Command = {
  summary: "delete kept answers",
  examples: ["sallyport cache clear", "sallyport cache clear --model gpt-5.2"],
  usage: "[--model ID]",
  options: [{ name: "model", value: "ID", summary: "only those of one model" }],
  details: "A running gateway need not be stopped for it.",
  async run(context) {
    const model = context.flags.text("model");
    return await withStore(context, { create: false }, async (store) => {
      printRecord(context, { deleted: await cachedAnswerStore(store).clearCache(model) });
      return 0;
    });
  },
};

/** `sallyport cache`. */
export const cacheCommand: CommandGroup = { summary: "answers kept for equal requests", verbs: { clear } };
