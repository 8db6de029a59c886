// The texts of `--help`.

import type { Command, CommandGroup } from "./command.ts";
import { COMMON_OPTIONS, type CommandOption } from "./flags.ts";
import { DEFAULT_COMMAND, type Listed } from "./index.ts";

/** `sallyport --help`. */
export function programHelp(commands: readonly Listed[]): string {
  return text([
    "Usage: sallyport [COMMAND] [OPTIONS]",
    "",
    "Commands:",
    ...table(
      commands.map(({ name, summary }) => [name, name === DEFAULT_COMMAND ? `${summary} (the default)` : summary]),
    ),
    "",
    "Options of every command:",
    ...optionTable(COMMON_OPTIONS),
    ...table([["--version", "print the version"]]),
    "",
    "`sallyport COMMAND --help` describes one command.",
  ]);
}

/** `sallyport COMMAND --help`. */
export function commandHelp(name: string, command: Command): string {
  const options = command.options ?? [];
  return text([
    `Usage: sallyport ${name}${command.usage === undefined ? "" : ` ${command.usage}`}`,
    "",
    sentence(command.summary),
    ...(command.details === undefined ? [] : ["", command.details.trim()]),
    ...(options.length === 0 ? [] : ["", "Options:", ...optionTable(options)]),
    "",
    "Options of every command:",
    ...optionTable(COMMON_OPTIONS),
    ...examplesOf(command),
  ]);
}

/** `sallyport GROUP --help`. */
export function groupHelp(name: string, group: CommandGroup): string {
  const verbs = Object.entries(group.verbs);
  return text([
    `Usage: sallyport ${name} VERB [OPTIONS]`,
    "",
    sentence(group.summary),
    "",
    "Verbs:",
    ...verbs.flatMap(([verb, { summary, usage }]) => [
      `  ${verb}${usage === undefined ? "" : ` ${usage}`}`,
      `      ${summary}`,
    ]),
    "",
    `\`sallyport ${name} VERB --help\` describes one verb.`,
  ]);
}

function examplesOf({ examples = [] }: Command): string[] {
  if (examples.length === 0) return [];
  return ["", examples.length === 1 ? "Example:" : "Examples:", ...examples.map((line) => `  ${line}`)];
}

function optionTable(options: readonly CommandOption[]): string[] {
  return table(
    options.map(({ name, value, multiple, summary }) => [
      `--${name}${value === undefined ? "" : ` ${value}`}${multiple === true ? " …" : ""}`,
      summary,
    ]),
  );
}

function table(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length), 18);
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

function text(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}
