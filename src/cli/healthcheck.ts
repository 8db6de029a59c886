// `sallyport healthcheck`: for containers that have no other HTTP client.
import type { Command } from "./command.ts";
import { CommandError, UsageError } from "./failure.ts";

/** Longer than any healthy answer of `/livez`, shorter than a supervisor's patience. */
const ANSWER_TIMEOUT_MS = 5000;

/** Exits 0 when `/livez` answers 200. */
export const healthcheck: Command = {
  summary: "exit 0 when the gateway answers",
  usage: "[--url U]",
  options: [
    { name: "url", value: "U", summary: "the gateway's address (default: the one the configuration listens on)" },
  ],
  async run({ flags, config }) {
    const base = flags.text("url") ?? listeningAddress(config().server);
    if (!URL.canParse(base)) throw new UsageError(`--url: expected a URL, got "${base}"`);
    const url = new URL("/livez", base);
    let status: number;
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS), redirect: "error" });
      await response.body?.cancel();
      status = response.status;
    } catch (error) {
      throw new CommandError(`${url}: no answer (${error instanceof Error ? error.message : String(error)})`);
    }
    if (status !== 200) throw new CommandError(`${url}: answered ${status}`);
    return 0;
  },
};

/** Where a program on this machine reaches the gateway. */
function listeningAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  if (port === 0) throw new UsageError("--url is needed: the configuration leaves the port open (server.port: 0)");
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  const reachable = bare === "0.0.0.0" ? "127.0.0.1" : bare === "::" ? "::1" : bare;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}
