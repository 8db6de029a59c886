// What `scrape`, `crawl`, `map` and `search` share: the server's tools, for the duration of the command.

import { systemClock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { asWebError, type WebFeature } from "../web/failure.ts";
import { createWebTools, type WebTools } from "../web/tools.ts";
import type { Context } from "./command.ts";
import { Interrupted, UsageError } from "./failure.ts";
import { failure } from "./workspace.ts";

/** Runs `work` with the tools and closes them. An error is one line. */
export async function withWebTools<T>(
  context: Context,
  feature: WebFeature,
  work: (tools: WebTools, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const config = context.config();
  const tools = createWebTools({
    config: () => config,
    clock: systemClock,
    warn: (message) => context.err(`sallyport: ${message}\n`),
  });
  const stop = new AbortController();
  const forget = context.onInterrupt(() => stop.abort(new Interrupted()));
  try {
    return await work(tools, stop.signal);
  } catch (error) {
    stop.signal.throwIfAborted();
    const told = asWebError(feature, error);
    if (told.apiCode === "invalid_request") throw new UsageError(withOptions(told.message));
    throw error instanceof ApiError || told.apiCode !== `${feature}_internal_error` ? failure(told.message) : error;
  } finally {
    forget();
    stop.abort();
    await tools.close();
  }
}

/** What a person typed for a field of the API. */
const OPTIONS = {
  categories: "--category",
  exclude_paths: "--exclude",
  formats: "--format",
  include_paths: "--include",
  language: "--language",
  prompt: "--prompt",
  schema: "--schema",
  search: "--search",
  system_prompt: "--system-prompt",
  text_query: "QUERY",
  url: "URL",
  urls: "URL",
};

/** A message that begins with the name of a field, in the words of the command line. */
function withOptions(message: string): string {
  const [field = "", name = ""] = /^'?([a-z_]+)'?(?:\[\d+\])?(?= )/.exec(message) ?? [];
  return name in OPTIONS ? `${OPTIONS[name as keyof typeof OPTIONS]}${message.slice(field.length)}` : message;
}

/** A scheme, which a port is not: "localhost:3000" has none. */
const SCHEME = /^[a-z][a-z\d+.-]*:(?!\d)/i;

/** An address as a person types it: without a scheme it is an https address, as in a browser. */
export function typedUrl(text: string): string {
  const address = `https://${text}`;
  if (SCHEME.test(text) || !URL.canParse(address)) return text;
  const { hostname } = new URL(address);
  // A single word is more likely a mistake than a host.
  return /[.:]/.test(hostname) || hostname === "localhost" ? address : text;
}

/** A progress line on a terminal, overwritten by the next. */
export interface ProgressLine {
  show(text: string): void;
  /** The last line, which stays: on stderr, where it also reaches the log of a job without a terminal. */
  sum(text: string): void;
  /** A permanent line on stderr. */
  note(text: string): void;
  /** A permanent line on stdout. */
  print(text: string): void;
  clear(): void;
}

/** Shows progress on a terminal; otherwise only permanent lines are written. */
export function progressLine(context: Context): ProgressLine {
  // One column less: a full line would wrap, and could not be overwritten.
  const width = (context.columns ?? 0) - 1;
  const clear = () => {
    if (width > 0) context.err(`\r${" ".repeat(width)}\r`);
  };
  return {
    clear,
    show: (text) => {
      if (width > 0) context.err(`\r${text.slice(0, width).padEnd(width)}`);
    },
    sum: (text) => {
      clear();
      context.err(`${text}\n`);
    },
    note: (text) => {
      clear();
      context.err(`${text}\n`);
    },
    print: (text) => {
      clear();
      context.out(`${text}\n`);
    },
  };
}
