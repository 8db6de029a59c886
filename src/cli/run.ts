// Runs a command and returns its exit code: 0 done, 1 the command failed, 2 the arguments were wrong, 130 it was interrupted.
// Failures print one line (one per problem), never a stack.

import { KNOWN_NAMES } from "../app/names.ts";
import { LiveConfig } from "../config/live.ts";
import { type LoadOptions, loadConfig, surveyConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { nearest } from "../config/show.ts";
import type { Command, CommandGroup, Context, Io } from "./command.ts";
import { CommandError, Interrupted, UsageError } from "./failure.ts";
import { COMMON_OPTIONS, type Flags, parseArguments } from "./flags.ts";
import { commandHelp, groupHelp, programHelp } from "./help.ts";
import { COMMANDS, DEFAULT_COMMAND, type Listed } from "./index.ts";

/** The inputs of the command line apart from its arguments. */
export interface Program {
  readonly version: string;
  readonly io: Io;
  /** Makes the process trust the certificate authorities of `net.ca_file`, before anything is called. */
  trust?(config: Config): void;
  /** The commands; replaced in tests. */
  readonly commands?: readonly Listed[];
  /** Where configuration is read from; the process's own unless a test replaces it. */
  readonly surroundings?: Pick<LoadOptions, "env" | "cwd" | "renamed">;
}

/** Runs the program with `argv` (without the executable and script) and returns the exit code. */
export async function runCommandLine(argv: readonly string[], program: Program): Promise<number> {
  try {
    return await dispatch(argv, program);
  } catch (error) {
    if (error instanceof UsageError) {
      program.io.err(
        `sallyport: ${oneLine(error.message)} (see sallyport ${error.command === undefined ? "" : `${error.command} `}--help)\n`,
      );
      return 2;
    }
    if (error instanceof Interrupted) {
      program.io.err("sallyport: interrupted\n");
      return 130;
    }
    if (error instanceof CommandError) {
      program.io.err(`${error.message}\n`);
      return 1;
    }
    program.io.err(`sallyport: ${oneLine(error instanceof Error ? error.message : String(error))}\n`);
    return 1;
  }
}

async function dispatch(argv: readonly string[], program: Program): Promise<number> {
  const commands = program.commands ?? COMMANDS;
  const at = commandIndex(argv);
  const word = argv[at];
  if (word === "--version" || word === "-V") {
    program.io.out(`sallyport ${program.version}\n`);
    return 0;
  }
  if (word === "--help" || word === "-h" || (word === "help" && argv[at + 1] === undefined)) {
    program.io.out(programHelp(commands));
    return 0;
  }
  // `help account create` is `account create --help`.
  if (word === "help") return dispatch([...argv.slice(0, at), ...argv.slice(at + 1), "--help"], program);
  const named = word !== undefined && !word.startsWith("-");
  const name = named ? word : DEFAULT_COMMAND;
  const listed = commands.find((command) => command.name === name);
  if (listed === undefined) {
    const meant = nearest(
      name,
      commands.map((command) => command.name),
    );
    throw new UsageError(`unknown command "${name}"${meant === undefined ? "" : `, did you mean ${meant}?`}`);
  }
  const loaded = await listed.load();
  const rest = named ? [...argv.slice(0, at), ...argv.slice(at + 1)] : argv;
  if (!("verbs" in loaded)) return helped(name, () => runOne(loaded, { name, argv: rest, program }));
  return helped(name, () => runVerb(loaded, { name, argv: rest, program }));
}

/** Runs a command; a mistake in its arguments leads to its own help. */
async function helped(name: string, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UsageError) error.command ??= name;
    throw error;
  }
}

interface Call {
  readonly name: string;
  readonly argv: readonly string[];
  readonly program: Program;
}

async function runVerb(group: CommandGroup, call: Call): Promise<number> {
  const at = commandIndex(call.argv);
  const verb = call.argv[at];
  const verbs = Object.keys(group.verbs).join(", ");
  if (verb === "--help" || verb === "-h") {
    call.program.io.out(groupHelp(call.name, group));
    return 0;
  }
  if (verb === undefined || verb.startsWith("-")) throw new UsageError(`${call.name} needs a verb: ${verbs}`);
  const command = Object.hasOwn(group.verbs, verb) ? group.verbs[verb] : undefined;
  if (command === undefined) {
    const meant = nearest(verb, Object.keys(group.verbs));
    const hint = meant === undefined ? `: expected ${verbs}` : `, did you mean ${meant}?`;
    throw new UsageError(`unknown verb "${verb}" of ${call.name}${hint}`);
  }
  const name = `${call.name} ${verb}`;
  const argv = [...call.argv.slice(0, at), ...call.argv.slice(at + 1)];
  return helped(name, () => runOne(command, { name, argv, program: call.program }));
}

async function runOne(command: Command, call: Call): Promise<number> {
  const options = [...(command.options ?? []), ...COMMON_OPTIONS];
  const { flags, args } = parseArguments(call.argv, options);
  if (flags.has("help")) {
    call.program.io.out(commandHelp(call.name, command));
    return 0;
  }
  const [least, most] = command.args ?? [0, 0];
  const surplus = args[most];
  if (surplus !== undefined) throw new UsageError(`${call.name}: unexpected argument "${surplus}"`);
  if (args.length < least) {
    throw new UsageError(`${call.name} needs ${command.usage ?? `${least} argument${least === 1 ? "" : "s"}`}`);
  }
  // Not spread: a command that does not ask about the terminal never opens it.
  return command.run(
    Object.assign(
      ioOf(call.program.io),
      { args, flags },
      configOf(call.program, flags, command.usesProviders === true),
    ),
  );
}

function ioOf(io: Io): Io {
  return {
    get interactive() {
      return io.interactive;
    },
    get columns() {
      return io.columns;
    },
    get outColumns() {
      return io.outColumns;
    },
    onInterrupt: (stop) => io.onInterrupt(stop),
    out: (text) => io.out(text),
    err: (text) => io.err(text),
    readStdin: () => io.readStdin(),
    streams: () => io.streams(),
    ask: (question) => io.ask(question),
  };
}

function configOf(
  { surroundings, io, trust }: Program,
  flags: Flags,
  usesProviders: boolean,
): Pick<Context, "survey" | "config" | "liveConfig"> {
  const options: LoadOptions = {
    names: KNOWN_NAMES,
    providers: usesProviders ? "used" : "unused",
    ...surroundings,
    file: flags.text("config"),
    dataDir: flags.text("data-dir"),
  };
  const load = (more: LoadOptions) => {
    const result = loadConfig({ ...options, ...more });
    if (!result.ok) throw new CommandError(result.problems.join("\n"));
    if (result.config.net.caFile !== "") trust?.(result.config);
    return result;
  };
  let isWarned = false;
  return {
    survey: () => surveyConfig(options),
    config: () => {
      const { config, warnings } = load({});
      if (!isWarned) for (const warning of warnings) io.err(`sallyport: ${warning}\n`);
      isWarned = true;
      return config;
    },
    liveConfig: (overrides = {}) =>
      new LiveConfig(load(overrides), (file = options.file) => loadConfig({ ...options, ...overrides, file })),
  };
}

/**
 * The command named by an argument list, known or not; flags such as `--version` in its place are handled elsewhere.
 */
export function commandName(argv: readonly string[]): string {
  const word = argv[commandIndex(argv)];
  return word === undefined || (word.startsWith("-") && word !== "--help" && word !== "-h") ? DEFAULT_COMMAND : word;
}

/** The index of the command's name: common options may precede it, as in `--config FILE account list`. */
function commandIndex(argv: readonly string[]): number {
  let at = 0;
  for (;;) {
    const word = argv[at];
    const option = COMMON_OPTIONS.find(({ name }) => name !== "help" && word?.split("=", 1)[0] === `--${name}`);
    if (word === undefined || option === undefined) return at;
    at += option.value !== undefined && !word.includes("=") ? 2 : 1;
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, "; ");
}
