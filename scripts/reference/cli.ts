// The page of commands, generated from the program's list.

import type { Command } from "../../src/cli/command.ts";
import { COMMON_OPTIONS, type CommandOption } from "../../src/cli/flags.ts";
import { COMMANDS, DEFAULT_COMMAND } from "../../src/cli/index.ts";
import { table } from "../../src/docs/table.ts";

/** The page's text. */
export async function cliPage(): Promise<string> {
  const parts: string[] = [];
  for (const { name, summary, load } of COMMANDS) {
    const command = await load();
    const isDefault = name === DEFAULT_COMMAND ? " What runs when no command is named." : "";
    parts.push(`## ${name}\n\n${sentence(summary)}${isDefault}`);
    if (!("verbs" in command)) parts.push(...commandParts(name, command));
    else
      for (const [verb, one] of Object.entries(command.verbs))
        parts.push(`### ${name} ${verb}\n\n${sentence(one.summary)}`, ...commandParts(`${name} ${verb}`, one));
  }
  return `# Commands

<!-- Written by \`bun run generate\` from src/cli; change it there. -->

Exit codes: 0 done, 1 failed, 2 wrong arguments, 130 interrupted. Data goes to stdout, all else to stderr.

Options of every command:

${optionTable(COMMON_OPTIONS)}

${parts.join("\n\n")}
`;
}

function commandParts(name: string, { usage, details, options = [], examples = [] }: Command): string[] {
  return [
    `\`\`\`sh\nsallyport ${name}${usage === undefined ? "" : ` ${usage}`}\n\`\`\``,
    ...(details === undefined ? [] : [details.trim().replaceAll("<", "&lt;")]),
    ...(options.length === 0 ? [] : [optionTable(options)]),
    ...(examples.length === 0
      ? []
      : [`${examples.length === 1 ? "Example:" : "Examples:"}\n\n\`\`\`sh\n${examples.join("\n")}\n\`\`\``]),
  ];
}

function optionTable(options: readonly CommandOption[]): string {
  return table(
    ["option", ""],
    options.map(({ name, value, multiple, summary }) => [
      `\`--${name}${value === undefined ? "" : ` ${value}`}\`${multiple === true ? " (may be repeated)" : ""}`,
      summary,
    ]),
  );
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}
