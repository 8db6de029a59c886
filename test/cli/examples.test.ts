// Every command's help has an example, and each example has only options that the command knows.

import { expect, test } from "bun:test";
import type { Command } from "../../src/cli/command.ts";
import { COMMON_OPTIONS, parseArguments } from "../../src/cli/flags.ts";
import { commandHelp, groupHelp } from "../../src/cli/help.ts";
import { COMMANDS } from "../../src/cli/index.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { typedUrl } from "../../src/cli/web-tools.ts";
import { FakeTerminal } from "../support/terminal.ts";

const commands: (readonly [name: string, command: Command])[] = [];
for (const { name, load } of COMMANDS) {
  const loaded = await load();
  if ("verbs" in loaded)
    commands.push(...Object.entries(loaded.verbs).map(([verb, one]) => [`${name} ${verb}`, one] as const));
  else commands.push([name, loaded]);
}

test.each(commands)("the examples of a command are ones that it accepts, and are in its help: %s", (name, command) => {
  const examples = command.examples ?? [];
  expect(examples.length).toBeGreaterThan(0);
  for (const line of examples) {
    expect(line).toStartWith(`sallyport ${name}`);
    const words = (line.replace(/ [<>] \S+$/, "").match(/'[^']*'|\S+/g) ?? []).slice(1 + name.split(" ").length);
    const { args } = parseArguments(words, [...(command.options ?? []), ...COMMON_OPTIONS]);
    const [least, most] = command.args ?? [0, 0];
    expect([line, args.length >= least && args.length <= most]).toEqual([line, true]);
    expect(commandHelp(name, command)).toContain(`  ${line}`);
  }
});

/** Options that are measured or counted and have no default: without them nothing is set. */
const WITHOUT_DEFAULT = ["account set-budget --usd", "key create --budget"];

test("every option that is a number or a time says its default", () => {
  const silent = commands.flatMap(([name, { options = [] }]) =>
    options
      .filter(({ value, summary }) => /^(N|USD|TIME|ISO)$/.test(value ?? "") && !summary.includes("(default"))
      .filter(({ name: option }) => !(name === "key create" && option === "name"))
      .map((option) => `${name} --${option.name}`),
  );
  expect(silent).toEqual(WITHOUT_DEFAULT);
});

test.each([
  ["example.com", "https://example.com"],
  ["example.com/a?b=c:d", "https://example.com/a?b=c:d"],
  ["localhost:3000/x", "https://localhost:3000/x"],
  ["http://example.com", "http://example.com"],
  ["mailto:ada@example.com", "mailto:ada@example.com"],
  ["nonsense", "nonsense"],
  ["", ""],
  ["a b", "a b"],
])("the address %j is read as %j", (typed, address) => expect(typedUrl(typed)).toBe(address));

test("the help of a group lists how each of its verbs is called", async () => {
  const listed = COMMANDS.find(({ name }) => name === "key");
  const group = await listed?.load();
  if (group === undefined || !("verbs" in group)) throw new Error("key has no verbs");
  expect(groupHelp("key", group)).toContain("--account EMAIL --name N");
});

test.each([
  [["serve", "--prot", "1"], "unknown option --prot, did you mean --port? (see sallyport serve --help)"],
  [["--prot", "1"], "unknown option --prot, did you mean --port? (see sallyport serve --help)"],
  [["account", "lst"], 'unknown verb "lst" of account, did you mean list? (see sallyport account --help)'],
  [
    ["key", "create", "--acount", "x"],
    "unknown option --acount, did you mean --account? (see sallyport key create --help)",
  ],
  [
    ["scrape"],
    "scrape needs URL [--format F]… [--full-page] [--timeout-ms N] [--out FILE] (see sallyport scrape --help)",
  ],
  [["scrpe"], 'unknown command "scrpe", did you mean scrape? (see sallyport --help)'],
])("wrong arguments are answered with the command that helps: %j", async (argv, message) => {
  const io = new FakeTerminal();
  expect(await runCommandLine(argv, { version: "1", io })).toBe(2);
  expect(io.stderr).toBe(`sallyport: ${message}\n`);
});
