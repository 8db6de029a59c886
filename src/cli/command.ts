// What a command of the program is, and what it is handed. A command prints through its context only, reads no
// environment and returns its exit code; a wrong argument is a UsageError (exit 2), a failure a CommandError (exit 1).

import type { Readable, Writable } from "node:stream";
import type { LiveConfig } from "../config/live.ts";
import type { Survey } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { CommandOption, Flags } from "./flags.ts";

/** The two ways between this program and the one that started it. */
export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Where a command reads and writes; tests hand in their own. */
export interface Io {
  /** Writes to stdout, as it stands (no line end is added). */
  out(text: string): void;
  /** Writes to stderr, as it stands. */
  err(text: string): void;
  /** All of stdin as text. Throws a CommandError when it is larger than a mebibyte. */
  readStdin(): Promise<string>;
  /** stdin and stdout for a program that is spoken with until its end. */
  streams(): Streams;
  /** Asks on the terminal and gives the line typed, without its end; undefined when the input ended. */
  ask(question: string): Promise<string | undefined>;
  /** stdin and stderr are a terminal: a person can be asked. */
  readonly interactive: boolean;
  /** Width of the terminal on stderr; undefined when stderr is not a terminal. */
  readonly columns: number | undefined;
  /** Calls `stop` at Ctrl-C or SIGTERM instead of ending at once, which the second one does. The result takes that back. */
  onInterrupt(stop: () => void): () => void;
}

/** What `run` gets: the positional arguments, the flags, and the outside world. */
export interface Context extends Io {
  readonly args: readonly string[];
  readonly flags: Flags;
  /** The file and the keys that a configuration would be made from. */
  survey(): Survey;
  /** The configuration that `--config` and `--data-dir` name. Throws a CommandError that holds every problem, one a line. */
  config(): Config;
  /** The same for a program that stays: can be reloaded. What is given here wins over the file at every reload. */
  liveConfig(overrides?: { host?: string | undefined; port?: number | undefined }): LiveConfig;
}

/** A command, or one verb of a group. */
export interface Command {
  /** One line for the list in `--help`. */
  readonly summary: string;
  /** What follows the command's name in the usage line, as `URL [--format F]`. */
  readonly usage?: string;
  /** Its own options; the common ones (`--config`, `--data-dir`, `--json`, `--help`) are everywhere. */
  readonly options?: readonly CommandOption[];
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
