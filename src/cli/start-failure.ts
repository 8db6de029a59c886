// Why the gateway could not start, in words for its operator. Loaded when it has failed.

import { isUnwritable, unwritable } from "../base/unwritable.ts";
import type { Config } from "../config/schema.ts";

/** What a start can fail of. */
type Failing = Pick<Config, "dataDir"> & { readonly server: Pick<Config["server"], "host" | "port"> };

/** The message for an operator about a failed start: what was impossible, and the setting that it came from. */
export function startFailure(error: unknown, { server: { host, port }, dataDir }: Failing): string {
  const at = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const { code, syscall, path } = error as { code?: string; syscall?: string; path?: string };
  if (code === "EADDRINUSE")
    return `the address ${at} is in use: stop what listens there, or choose another port with --port`;
  if (syscall === "listen" && code === "EACCES")
    return `cannot listen on ${at}: this user may not use that port (--port or server.port)`;
  // Everything else that fails while listening is about the host; its number depends on kernel, resolver and runtime.
  if (syscall === "listen" || code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `cannot listen on ${at}: this machine has no address "${host}" (--host or server.host)`;
  if (code === "ENOENT" && syscall === "mkdir")
    return `cannot create the data directory ${path ?? dataDir} (--data-dir or data_dir)`;
  if (code === "EEXIST" || code === "ENOTDIR")
    return `cannot use ${path ?? dataDir} as the data directory: it is not a directory (--data-dir or data_dir)`;
  if (isUnwritable(error)) return `cannot write to ${path ?? dataDir}: ${unwritable(error)} (--data-dir or data_dir)`;
  return error instanceof Error ? error.message : String(error);
}
