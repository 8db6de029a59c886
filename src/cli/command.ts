// Defines a command of the program and its context. A command prints through its context only, reads no environment and
// returns its exit code; a wrong argument is a UsageError (exit 2), a failure a CommandError (exit 1).

import type { Readable, Writable } from "node:stream";
import type { LiveConfig } from "../config/live.ts";
import type { Survey } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { CommandOption, Flags } from "./flags.ts";

/** The streams between this program and the one that started it. */
export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Where a command reads and writes; tests pass their own. */
export interface Io {
  /** Writes to stdout unchanged (no line end is added). */
  out(text: string): void;
  /** Writes to stderr unchanged. */
  err(text: string): void;
  /** All of stdin as text. Throws a CommandError if it is larger than a mebibyte. */
  readStdin(): Promise<string>;
  /** stdin and stdout for a program that communicates until its end. */
  streams(): Streams;
  /** Asks on the terminal and returns the line typed, without its end; undefined if the input ended. */
  ask(question: string): Promise<string | undefined>;
  /** Whether stdin and stderr are a terminal: a person can be asked. */
  readonly interactive: boolean;
  /** Width of the terminal on stderr; undefined if stderr is not a terminal. */
  readonly columns: number | undefined;
  /** Width of the terminal on stdout; undefined if stdout is not a terminal. */
  readonly outColumns: number | undefined;
  /**
   * Calls `stop` on Ctrl-C or SIGTERM instead of ending immediately; a second signal ends immediately. The result undoes
   * this.
   */
  onInterrupt(stop: () => void): () => void;
}

/** The argument of `run`: the positional arguments, the flags, and the context. */
export interface Context extends Io {
  readonly args: readonly string[];
  readonly flags: Flags;
  /** The file and the variables that a configuration would be built from. */
  survey(): Survey;
  /** The configuration of `--config` and `--data-dir`. Throws a CommandError with every problem, one per line. */
  config(): Config;
  /**
   * The same for a program that stays: it can be reloaded. These values override the file at every reload. The caller tells its
   * warnings, a server in its log.
   */
  liveConfig(overrides?: { host?: string | undefined; port?: number | undefined }): LiveConfig;
}

/** A command, or one verb of a group. */
export interface Command {
  /** One line for the list in `--help`. */
  readonly summary: string;
  /** Lines to paste, the simplest first; shown in its help and its reference. Each has at least one. */
  readonly examples?: readonly string[];
  /** What follows the command's name in the usage line, such as `URL [--format F]`. */
  readonly usage?: string;
  /** Its own options; the common ones (`--config`, `--data-dir`, `--json`, `--help`) apply everywhere. */
  readonly options?: readonly CommandOption[];
  /** Number of positional arguments, [least, most]; absent: none. */
  readonly args?: readonly [number, number];
  /**
   * True if it talks to providers: their variables and secret files must then be there. Without it a missing one is only
   * warned of, since a service's variables are often not those of the shell beside it.
   */
  readonly usesProviders?: boolean;
  /** Further help text. */
  readonly details?: string;
  run(context: Context): Promise<number>;
}

/** A command with verbs: `account create`, `account list`. */
export interface CommandGroup {
  readonly summary: string;
  readonly verbs: Readonly<Record<string, Command>>;
}
