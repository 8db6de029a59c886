// `sallyport models …`: renews the public prices and limits of models without a new version of the program. A running gateway
// notices within a minute.

import { resolve } from "node:path";
import { fetchList, keepFile } from "../catalog/renewal.ts";
import type { Command, CommandGroup } from "./command.ts";
import { UsageError } from "./failure.ts";
import { failure, printRecord } from "./workspace.ts";

const refresh: Command = {
  summary: "read prices and limits anew",
  examples: ["sallyport models refresh", "sallyport models refresh --file model_prices_and_context_window.json"],
  usage: "[--file F]",
  options: [{ name: "file", value: "F", summary: "a list on this machine, in place of catalog.prices.url" }],
  details:
    "The list is LiteLLM's model_prices_and_context_window.json, or {models: [{vendor, id, context_length, max_output_tokens, prices}]} with the keys of `models` in the configuration. It is kept in the data directory and takes precedence over what the program knows. Prices in the configuration take precedence over both.",
  async run(context) {
    const config = context.config();
    const file = context.flags.text("file");
    const { url, file: configured } = config.catalog.prices;
    if (file === undefined && url === "") {
      throw new UsageError("there is no address to read from: set catalog.prices.url, or name a file with --file");
    }
    try {
      const { count } = file === undefined ? await fetchList(config) : keepFile(config, resolve(file));
      printRecord(context, { models: count, source: file ?? url });
      if (configured !== "") context.err(`sallyport: catalog.prices.file is set and takes precedence: ${configured}\n`);
      return 0;
    } catch (error) {
      throw failure(error instanceof Error ? error.message : String(error));
    }
  },
};

/** `sallyport models`. */
export const models: CommandGroup = { summary: "prices and limits of models", verbs: { refresh } };
