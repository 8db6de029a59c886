// Some settings of the runtime are variables that it reads before the program runs. A program that needs one replaces itself once
// with the same program and the variable: the process id stays, and nobody has to configure anything.

import { environment } from "../config/load.ts";
import { namesProxy } from "../config/proxy-variables.ts";
import { commandName } from "./run.ts";

const CAP_VARIABLE = "BUN_CONFIG_MAX_HTTP_REQUESTS";
/** The maximum that Bun accepts. */
const CAP = "65336";
const SERVERS: ReadonlySet<string> = new Set(["serve", "up"]);

/**
 * Behind a proxy, providers are called by `fetch`. Bun allows 256 concurrent requests per process and silently queues the rest.
 * Replaces the process if the limit is not raised yet; returns if there is nothing to do or it is impossible. (oven-sh/bun#12214)
 */
export function liftFetchCap(argv: readonly string[]): void {
  const env = environment();
  if (!namesProxy(env) || env[CAP_VARIABLE] !== undefined || !SERVERS.has(commandName(argv))) return;
  restart(argv, { [CAP_VARIABLE]: CAP });
}

/** Starts the program anew in this process. Returns only where a process cannot replace itself. */
export function restart(argv: readonly string[], variables: Readonly<Record<string, string>>): void {
  if (typeof process.execve !== "function") return;
  const script = process.argv[1] ?? "";
  // A compiled program runs from a virtual file system; its file is the executable.
  const compiled = script.startsWith("/$bunfs/") || script.startsWith("B:/~BUN/");
  const args = compiled ? [...argv] : [...process.execArgv, script, ...argv];
  const defined = Object.entries(environment()).filter((entry): entry is [string, string] => entry[1] !== undefined);
  process.execve(process.execPath, [process.execPath, ...args], { ...Object.fromEntries(defined), ...variables });
}
