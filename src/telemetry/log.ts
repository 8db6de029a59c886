// Structured logs: levels, one wide line per request, no secrets. Lines are collected and written together, so that a line
// costs the request a few microseconds; warnings and errors are written immediately.

import type { Clock } from "../base/clock.ts";
import { jsonLine, type LogFields, type LogLevel, noKnownMembers, prettyLine } from "./log-line.ts";
import { makeRedactor } from "./redact.ts";

/** The logger's interface for the rest of the program. Fields named as secrets are hidden; an Error is written with its stack. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The one wide line at the end of a request, with the fields of both objects; a 5xx `status` makes it a warning. */
  request(fields: LogFields, more?: LogFields): void;
  /** Resolves when everything logged so far is written, or the sink gave up. */
  flush(): Promise<void>;
  setLevel(level: LogLevel): void;
  /** Replaces the exact secrets that are hidden besides those of known shape. */
  setSecrets(secrets: readonly string[]): void;
}

export interface LoggerOptions {
  level: LogLevel;
  format: "json" | "pretty";
  /** Takes whole lines; must not block and not throw. */
  write: (text: string) => void;
  /** Resolves when everything written has left the process. */
  drain?: () => Promise<void>;
  clock: Clock;
  secrets: readonly string[];
  /** Colours in the pretty format. */
  colour?: boolean;
}

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** How long a line waits for others. */
const GATHER_MS = 20;
/** A longer text is written immediately: bounds the logger's own memory. */
const GATHER_CHARS_MAX = 64 * 1024;

/** Creates a logger. No value makes it throw. */
export function createLogger(options: LoggerOptions): Logger {
  let rank = RANK[options.level];
  let redact = makeRedactor(options.secrets);
  let known = noKnownMembers();
  let gathered = "";
  let timer: ReturnType<typeof setTimeout> | undefined;

  const hand = () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered === "") return;
    const text = gathered;
    gathered = "";
    options.write(text);
  };

  const log = (level: LogLevel, message: string, fields?: LogFields, more?: LogFields) => {
    if (RANK[level] < rank) return;
    const record = { timeMs: options.clock.now(), level, message, fields, more };
    gathered +=
      options.format === "json"
        ? jsonLine(record, redact, known)
        : prettyLine(record, redact, { colour: options.colour ?? false });
    if (RANK[level] >= RANK.warn || gathered.length >= GATHER_CHARS_MAX) hand();
    else if (timer === undefined) {
      timer = setTimeout(hand, GATHER_MS);
      // A waiting line must not keep a finished command alive: whoever ends the program flushes.
      timer.unref();
    }
  };

  return {
    debug: (message, fields) => log("debug", message, fields),
    info: (message, fields) => log("info", message, fields),
    warn: (message, fields) => log("warn", message, fields),
    error: (message, fields) => log("error", message, fields),
    request: (fields, more) => {
      const status = fields["status"];
      log(typeof status === "number" && status >= 500 ? "warn" : "info", "request", fields, more);
    },
    flush: async () => {
      hand();
      await options.drain?.();
    },
    setLevel: (level) => {
      rank = RANK[level];
    },
    setSecrets: (secrets) => {
      redact = makeRedactor(secrets);
      known = noKnownMembers();
    },
  };
}

/** The meaning of `log.format: auto`: text on a terminal, JSON lines elsewhere. */
export function logFormat(format: "auto" | "json" | "pretty", isTerminal: boolean): "json" | "pretty" {
  return format === "auto" ? (isTerminal ? "pretty" : "json") : format;
}
