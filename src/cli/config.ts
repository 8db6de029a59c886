// `sallyport config`: the effective configuration, each value with its origin. Secrets are hidden.

import type { ConfigSource, ConfigValue } from "../config/origin.ts";
import type { Command } from "./command.ts";

/** `sallyport config`. */
export const configCommand: Command = {
  summary: "print the loaded configuration with the source of each value",
  examples: ["sallyport config --changed", "sallyport config providers.openai"],
  usage: "[KEY] [--changed]",
  args: [0, 1],
  options: [{ name: "changed", summary: "only values that are not defaults" }],
  details: "KEY: only keys that contain this text, such as `server` or `providers.openai`. Secrets are not shown.",
  async run(context) {
    const [part = ""] = context.args;
    const live = context.liveConfig();
    for (const warning of live.warnings()) context.err(`sallyport: ${warning}\n`);
    const { file, values } = live.describe();
    const shown = values.filter(
      ({ key, source }) => key.includes(part) && (!context.flags.has("changed") || source.kind !== "default"),
    );
    if (context.flags.has("json")) {
      context.out(`${JSON.stringify({ file: file ?? null, values: shown })}\n`);
      return 0;
    }
    if (shown.length === 0) {
      const changed = context.flags.has("changed") ? "changed " : "";
      const keys = part === "" ? `${changed}key` : `${changed}key that contains "${part}"`;
      context.err(`The configuration is valid and has no ${keys}. Without KEY every key is printed.\n`);
    }
    const width = Math.max(0, ...shown.map(({ key }) => key.length));
    for (const { key, value, source } of shown)
      context.out(`${key.padEnd(width)}  ${shownValue(value)}  (${sourceText(source)})\n`);
    return 0;
  },
};

function shownValue(value: ConfigValue["value"]): string {
  return value === null ? "[hidden]" : value === "" ? "[not set]" : value.replaceAll("\n", "\\n");
}

function sourceText({ kind, name, line, through }: ConfigSource): string {
  const from = kind === "default" ? kind : kind === "file" ? `${name}${line === null ? "" : `:${line}`}` : name;
  const word = kind === "preset" ? `preset ${from}` : from;
  return through.length === 0 ? `${word}` : `${word}, ${through.join(", ")}`;
}
