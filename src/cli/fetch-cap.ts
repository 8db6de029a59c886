// Behind a proxy, providers are called by `fetch`. Bun allows 256 concurrent requests per process and silently queues the rest. The
// limit is read from a variable before the program runs, so a server that was started without it replaces itself once with the same
// program and the variable: the process id stays, and nobody has to configure anything. (oven-sh/bun#12214)

import { environment } from "../config/load.ts";
import { namesProxy } from "../config/proxy-variables.ts";
import { commandName } from "./run.ts";

const VARIABLE = "BUN_CONFIG_MAX_HTTP_REQUESTS";
/** The maximum that Bun accepts. */
const CAP = "65336";
const SERVERS: ReadonlySet<string> = new Set(["serve", "up"]);

/** Replaces the process if the limit is not raised yet; returns if there is nothing to do or it is impossible. */
export function liftFetchCap(argv: readonly string[]): void {
  const env = environment();
  if (
    !namesProxy(env) ||
    env[VARIABLE] !== undefined ||
    !SERVERS.has(commandName(argv)) ||
    typeof process.execve !== "function"
  )
    return;
  const script = process.argv[1] ?? "";
  // A compiled program runs from a virtual file system; its file is the executable.
  const compiled = script.startsWith("/$bunfs/") || script.startsWith("B:/~BUN/");
  const args = compiled ? [...argv] : [...process.execArgv, script, ...argv];
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  process.execve(process.execPath, [process.execPath, ...args], { ...Object.fromEntries(defined), [VARIABLE]: CAP });
}
