// Bun lets a process have 256 upstream requests in progress and silently queues the rest. The cap is read from a
// variable before the program runs, so a server that was started without it replaces itself, once, by the same program
// with it: the process id stays, no one has to set anything. (oven-sh/bun#12214)

import { environment } from "../config/load.ts";
import { commandName } from "./run.ts";

const VARIABLE = "BUN_CONFIG_MAX_HTTP_REQUESTS";
/** The most that Bun accepts. */
const CAP = "65336";
const SERVERS: ReadonlySet<string> = new Set(["serve", "up"]);

/** Replaces the process when the cap is not lifted yet; returns when there is nothing to do or it cannot be done. */
export function liftFetchCap(argv: readonly string[]): void {
  const env = environment();
  if (env[VARIABLE] !== undefined || !SERVERS.has(commandName(argv)) || typeof process.execve !== "function") return;
  const script = process.argv[1] ?? "";
  // A compiled program runs from a virtual file system; its own file is the executable.
  const compiled = script.startsWith("/$bunfs/") || script.startsWith("B:/~BUN/");
  const args = compiled ? [...argv] : [...process.execArgv, script, ...argv];
  const defined = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  process.execve(process.execPath, [process.execPath, ...args], { ...Object.fromEntries(defined), [VARIABLE]: CAP });
}
