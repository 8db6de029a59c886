// What a command of the program is, and what it is handed. A command prints through its context only, reads no
// environment and returns its exit code; a wrong argument is a UsageError (exit 2), a failure a CommandError (exit 1).
import type { Flags } from "./flags.ts";

/** One `--name` of a command. */
export interface Option {
  readonly name: string;
  readonly summary: string;
  /** The placeholder of its value in the help, as `FILE`; absent: a switch without value. */
  readonly value?: string;
  /** May be given more than once. */
  readonly multiple?: boolean;
}

/** Where a command reads and writes; tests hand in their own. */
export interface Io {
  /** Writes to stdout, as it stands (no line end is added). */
  out(text: string): void;
  /** Writes to stderr, as it stands. */
  err(text: string): void;
  /** All of stdin as text. Throws a CommandError when it is larger than a mebibyte. */
  readStdin(): Promise<string>;
  /** Asks on the terminal and gives the line typed, without its end; undefined when the input ended. */
  ask(question: string): Promise<string | undefined>;
  /** stdin and stderr are a terminal: a person can be asked. */
  readonly interactive: boolean;
}

/** What `run` gets: the positional arguments, the flags, and the outside world. */
export interface Context extends Io {
  readonly args: readonly string[];
  readonly flags: Flags;
}

/** A command, or one verb of a group. */
export interface Command {
  /** One line for the list in `--help`. */
  readonly summary: string;
  /** What follows the command's name in the usage line, as `URL [--format F]`. */
  readonly usage?: string;
  /** Its own options; the common ones (`--config`, `--data-dir`, `--json`, `--help`) are everywhere. */
  readonly options?: readonly Option[];
  /** How many positional arguments it takes, [least, most]; absent: none. */
  readonly args?: readonly [number, number];
  /** Further text of its help. */
  readonly details?: string;
  run(context: Context): Promise<number>;
}

/** A command with verbs: `account create`, `account list`. */
export interface CommandGroup {
  readonly summary: string;
  readonly verbs: Readonly<Record<string, Command>>;
}

/** The arguments are wrong: exit 2 and this one line. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** The command failed: exit 1 and this text, one line a problem. */
export class CommandError extends Error {
  override name = "CommandError";
}

/** The options every command takes. */
export const COMMON_OPTIONS: readonly Option[] = [
  { name: "config", value: "FILE", summary: "configuration file (default: SALLYPORT_CONFIG, else ./sallyport.yaml)" },
  { name: "data-dir", value: "DIR", summary: "where the database and secrets live (default: data_dir of the config)" },
  { name: "json", summary: "print data as JSON" },
  { name: "help", summary: "show this help" },
];
