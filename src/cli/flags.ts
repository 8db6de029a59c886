// Parses a command's arguments by its options. Every mistake is a UsageError of one line that names the argument.

import { nearest } from "../config/show.ts";
import { UsageError } from "./failure.ts";

/** One `--name` of a command. */
export interface CommandOption {
  readonly name: string;
  readonly summary: string;
  /** The placeholder of its value in the help, such as `FILE`; absent: a switch without value. */
  readonly value?: string;
  /** May be given several times. */
  readonly multiple?: boolean;
}

/** The options of every command. */
export const COMMON_OPTIONS: readonly CommandOption[] = [
  { name: "config", value: "FILE", summary: "configuration file (default: SALLYPORT_CONFIG, else ./sallyport.yaml)" },
  {
    name: "data-dir",
    value: "DIR",
    summary: "directory of the database and secrets (default: data_dir of the config)",
  },
  { name: "json", summary: "print data as JSON" },
  { name: "help", summary: "show this help" },
];

/** The given options. Asking for an option that the command does not declare is a programming error and throws. */
export class Flags {
  readonly #declared: ReadonlySet<string>;
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(declared: readonly CommandOption[], values: ReadonlyMap<string, readonly string[]>) {
    this.#declared = new Set(declared.map((option) => option.name));
    this.#values = values;
  }

  /** Whether the switch was given. */
  has(name: string): boolean {
    return this.all(name).length > 0;
  }

  /** The option's value. */
  text(name: string): string | undefined {
    return this.all(name).at(-1);
  }

  /** The option's value; a UsageError if it was not given. */
  required(name: string): string {
    const value = this.text(name);
    if (value === undefined || value === "") throw new UsageError(`--${name} is required`);
    return value;
  }

  /** The values of an option that may be given several times, in order. */
  all(name: string): readonly string[] {
    if (!this.#declared.has(name)) throw new Error(`The command does not declare --${name}.`);
    return this.#values.get(name) ?? [];
  }

  /** The option as a whole number within [least, most]. */
  integer(name: string, least: number, most = Number.MAX_SAFE_INTEGER): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new UsageError(`--${name}: expected a whole number ${range}, got "${text}"`);
  }
}

/** A parsed argument list. */
export interface ParsedArguments {
  readonly flags: Flags;
  readonly args: readonly string[];
}

/** Parses `--name value`, `--name=value`, switches, `-h`, and positional arguments; everything after `--` is positional. */
export function parseArguments(argv: readonly string[], options: readonly CommandOption[]): ParsedArguments {
  const values = new Map<string, string[]>();
  const args: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? "";
    if (word === "--") {
      args.push(...argv.slice(at + 1));
      break;
    }
    // A lone dash conventionally means stdin, so it is an argument.
    if (!word.startsWith("-") || word === "-") {
      args.push(word);
      continue;
    }
    const [name, inline] = splitFlag(word);
    const option = options.find((candidate) => candidate.name === name);
    if (option === undefined) throw unknownOption(word.split("=", 1)[0] ?? "", options);
    let value = inline;
    if (option.value === undefined) {
      if (inline !== undefined) throw new UsageError(`--${name} takes no value`);
      value = "true";
    } else if (value === undefined) {
      value = argv[++at];
      // `--host --port 1` is a forgotten value, not a host named --port.
      if (value === undefined || value.startsWith("--")) throw new UsageError(`--${name} needs a value`);
    }
    const before = values.get(option.name);
    if (before !== undefined && option.multiple !== true && option.value !== undefined) {
      throw new UsageError(`--${name} was given twice`);
    }
    values.set(option.name, [...(before ?? []), value ?? ""]);
  }
  return { flags: new Flags(options, values), args };
}

function unknownOption(word: string, options: readonly CommandOption[]): UsageError {
  const meant = nearest(
    word.replace(/^-+/, ""),
    options.map(({ name }) => name),
  );
  return new UsageError(`unknown option ${word}${meant === undefined ? "" : `, did you mean --${meant}?`}`);
}

function splitFlag(word: string): [name: string, inline: string | undefined] {
  if (word === "-h") return ["help", undefined];
  const equals = word.indexOf("=");
  // Options have two dashes: the name keeps a single one and is not found.
  const bare = word.startsWith("--") ? 2 : 0;
  return equals < 0 ? [word.slice(bare), undefined] : [word.slice(bare, equals), word.slice(equals + 1)];
}
