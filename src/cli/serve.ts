// `sallyport serve`: runs the gateway until it is stopped. Stdout gets exactly one line, when it is ready; logs go to stderr.

import { startApp } from "../app/start.ts";
import { systemClock } from "../base/clock.ts";
import { lazily } from "../base/lazily.ts";
import type { LiveConfig } from "../config/live.ts";
import { environment, secretsOf } from "../config/load.ts";
import { createLogger, type Logger, logFormat } from "../telemetry/log.ts";
import { descriptorSink } from "../telemetry/log-sink.ts";
import { isSecretName } from "../telemetry/redact.ts";
import { isEmbedded } from "../vendors/protocols.ts";
import type { Command } from "./command.ts";
import { CommandError, UsageError } from "./failure.ts";
import type { CommandOption, Flags } from "./flags.ts";
import { createIdleMemory } from "./idle-memory.ts";
import { isTerminal } from "./terminal.ts";
import { ONLY_DEMO } from "./workspace.ts";

const openLogFile = lazily(() => {
  const { logFile }: typeof import("./log-file.ts") = require("./log-file.ts");
  return logFile;
});

/** Options of `serve` and `up`. */
export const LISTEN_OPTIONS: readonly CommandOption[] = [
  { name: "host", value: "H", summary: "address to listen on (default: server.host)" },
  { name: "port", value: "N", summary: "port to listen on, 0 for a free one (default: server.port)" },
];

export const serveCommand: Command = {
  summary: "run the gateway",
  examples: ["sallyport serve --host 0.0.0.0 --port 9000 --data-dir /var/lib/sallyport"],
  usage: "[--host H] [--port N]",
  options: LISTEN_OPTIONS,
  usesProviders: true,
  async run(context) {
    const live = context.liveConfig(listenFlags(context.flags));
    const { log, reopen } = openLog(live);
    const app = await start(live, log);
    if (app.setupLink !== undefined) context.err(`There is no account yet. The first sign-up: ${app.setupLink}\n`);
    context.out(`sallyport listening on ${app.url}\n`);
    return await untilStopped(app, live, { log, reopen });
  },
};

/** `--host` and `--port`; a UsageError if the port is invalid. */
export function listenFlags(flags: Flags): { host?: string; port?: number } {
  const host = flags.text("host");
  const text = flags.text("port");
  if (text !== undefined && !(/^\d{1,5}$/.test(text) && Number(text) <= 65_535)) {
    throw new UsageError(`--port: expected a number from 0 to 65535, got "${text}"`);
  }
  return { ...(host === undefined ? {} : { host }), ...(text === undefined ? {} : { port: Number(text) }) };
}

/** The log of a server. */
export interface ServerLog {
  readonly log: Logger;
  /** Opens the file of `log.file` anew; nothing without one. */
  reopen(): void;
}

/** A logger as configured, on stderr or a file. Throws a CommandError if the file cannot be opened. */
export function openLog(live: LiveConfig): ServerLog {
  const { level, format, file } = live.get().log;
  const terminal = file === "" && isTerminal();
  // https://no-color.org: any non-empty value turns colours off.
  const noColour = (environment()["NO_COLOR"] ?? "") !== "";
  const sink = file === "" ? { ...descriptorSink(2), reopen: () => undefined } : openLogFile()(file);
  const log = createLogger({
    level,
    format: logFormat(format, terminal),
    colour: terminal && !noColour,
    clock: systemClock,
    secrets: secretsOf(live.get()),
    ...sink,
  });
  tellWarnings(live, log);
  return { log, reopen: sink.reopen };
}

function tellWarnings(live: LiveConfig, log: Logger): void {
  for (const warning of live.warnings()) log.warn(`configuration: ${besideSecrets(warning)}`);
}

/**
 * A line about the configuration for the log, which hides what follows `api_key:`. After the name of a key stands what is wrong with
 * it, and never its value.
 */
export function besideSecrets(line: string): string {
  const after = (name: string) => `${name}${isSecretName(name) ? " - " : ": "}`;
  return line.replace(/^(.*?): ([\w.[\]-]+): /, (_, source: string, path: string) => after(source) + after(path));
}

/** Starts the gateway; throws a CommandError of one line if it cannot. */
export async function start(live: LiveConfig, log: Logger) {
  try {
    const app = await startApp(live, log);
    if (live.get().providers.every(isEmbedded)) log.info(ONLY_DEMO);
    return app;
  } catch (error) {
    const { startFailure } = await import("./start-failure.ts");
    throw new CommandError(`sallyport: ${startFailure(error, live.get())}`);
  }
}

type Running = Awaited<ReturnType<typeof start>>;

/**
 * Serves until SIGTERM or SIGINT, then drains and returns the exit code; a second signal ends immediately. SIGHUP reloads, and opens
 * the log's file anew.
 */
export async function untilStopped(app: Running, live: LiveConfig, { log, reopen }: ServerLog): Promise<number> {
  const isSupervised = (environment()["NOTIFY_SOCKET"] ?? "") !== "";
  const tell = isSupervised ? (await import("./notify.ts")).supervisor() : () => undefined;
  tell("READY=1");
  createIdleMemory().start();
  process.on("SIGHUP", () => {
    tell("RELOADING=1");
    reopenLog(log, reopen);
    reload(app, live, log);
    tell("READY=1");
  });
  // No request may end the process; an error that got this far is a bug and is logged as such.
  process.on("unhandledRejection", (error) => log.error("unhandled rejection", { error }));
  process.on("uncaughtException", (error) => log.error("uncaught exception", { error }));
  await new Promise<void>((resolve) => {
    let asked = false;
    const stop = () => {
      if (asked) process.exit(1);
      asked = true;
      resolve();
    };
    process.on("SIGTERM", stop);
    process.on("SIGINT", stop);
  });
  tell("STOPPING=1");
  log.info("stopping: open requests may finish");
  await app.stop(live.get().server.drainTimeoutMs);
  return 0;
}

/** First of all, so that what the reload says stands in the new file. */
function reopenLog(log: Logger, reopen: () => void): void {
  try {
    reopen();
  } catch (error) {
    log.error("the log's file cannot be opened anew; the old one stays in use", { error });
  }
}

function reload(app: Running, live: LiveConfig, log: Logger): void {
  const result = live.reload();
  if (!result.ok) {
    for (const problem of result.problems) log.error(`configuration not reloaded: ${besideSecrets(problem)}`);
    return;
  }
  tellWarnings(live, log);
  app.reconfigured();
  const later = result.needRestart.length > 0 ? { need_restart: result.needRestart.join(", ") } : {};
  log.info("configuration reloaded", later);
}
