// `sallyport import litellm FILE`: builds a first configuration from another gateway's.

import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type Imported, importLitellm } from "../config/import/litellm.ts";
import { parseYaml } from "../config/yaml.ts";
import type { Command, CommandGroup } from "./command.ts";
import { failure } from "./workspace.ts";

/** No configuration is larger; prevents a wrong path from filling the memory. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;

const litellm: Command = {
  summary: "convert the configuration of a LiteLLM proxy",
  examples: ["sallyport import litellm config.yaml --out sallyport.yaml"],
  usage: "FILE [--out FILE]",
  args: [1, 1],
  options: [
    { name: "out", value: "FILE", summary: "write to this file instead of stdout; an existing file is not replaced" },
  ],
  details: `Reads model_list, fallbacks, aliases, prices, time limits, retries, cache, guardrails, mcp_servers and the names of environment
variables. What cannot be carried over, or only in part, is named on stderr and in comments at the top of the result.`,
  async run(context) {
    const source = context.args[0] ?? "";
    const out = context.flags.text("out");
    if (out !== undefined && existsSync(out)) throw failure(`${out} already exists: choose another name`);
    const made = importFile(source);
    const text = fileText(source, made);
    if (out !== undefined) writeNew(out, text);
    if (context.flags.has("json"))
      context.out(`${JSON.stringify({ ...made, ...(out === undefined ? {} : { file: out }) })}\n`);
    else {
      if (out === undefined) context.out(text);
      for (const note of made.notes) context.err(`not carried over: ${note}\n`);
      if (out !== undefined) context.err(`wrote ${out}; check it with: sallyport doctor --config ${out}\n`);
    }
    return 0;
  },
};

/** `sallyport import`. */
export const importCommand: CommandGroup = {
  summary: "convert the configuration of another gateway",
  verbs: { litellm },
};

function importFile(file: string): Imported {
  const parsed = parseYaml(readSmall(file));
  if ("problem" in parsed) throw failure(`${file}: ${parsed.problem}`);
  try {
    return importLitellm(parsed.value);
  } catch (error) {
    throw failure(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readSmall(file: string): string {
  try {
    if (statSync(file).size > FILE_BYTES_MAX) throw failure(`${file} is larger than ${FILE_BYTES_MAX} bytes`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error) throw failure(`cannot read ${file}: ${String(error.code)}`);
    throw error;
  }
}

function fileText(source: string, { config, notes }: Imported): string {
  const head = [`Made from ${source.replace(/\p{Cc}+/gu, " ")} by \`sallyport import litellm\`.`];
  if (notes.length > 0) head.push("Not carried over:", ...notes.map((note) => `- ${note}`));
  return `${head.map((line) => `# ${line}`).join("\n")}\n\n${Bun.YAML.stringify(config, null, 2)}\n`;
}

/** Writes a file that only its owner can read, since it may contain keys. */
function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw failure(`cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
