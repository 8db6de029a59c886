// `sallyport healthcheck`: for containers without another HTTP client.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/schema.ts";
import { originOf } from "../http/listen.ts";
import { DATABASE_FILE, openForUpgrade } from "../store/engine/open.ts";
import { isServing } from "../store/engine/serve-lock.ts";
import { LISTENING_SETTING, settingsStore } from "../store/settings.ts";
import type { Command } from "./command.ts";
import { CommandError, UsageError } from "./failure.ts";

/** Longer than any healthy answer of `/livez`, shorter than a supervisor's timeout. */
const ANSWER_TIMEOUT_MS = 5000;

/** Exits 0 if `/livez` answers 200. */
export const healthcheckCommand: Command = {
  summary: "exit 0 if the gateway answers",
  examples: ["sallyport healthcheck --url http://127.0.0.1:8787"],
  usage: "[--url U]",
  options: [
    {
      name: "url",
      value: "U",
      summary: "the gateway's address (default: that of the running gateway, otherwise the configured one)",
    },
  ],
  async run({ flags, config }) {
    const base = flags.text("url") ?? (await runningAddress(config())) ?? listeningAddress(config().server);
    if (!URL.canParse(base)) throw new UsageError(`--url: expected a URL, got "${base}"`);
    const url = new URL("/livez", base);
    let status: number;
    try {
      const response = await fetch(url, {
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
        redirect: "error",
        // The certificate is for the public name, while this asks the address. Nothing secret is sent.
        tls: { rejectUnauthorized: false },
      });
      await response.body?.cancel();
      status = response.status;
    } catch (error) {
      const { name, code = name } = error as { name?: string; code?: string };
      throw new CommandError(`No gateway answers at ${url} (${code}). Is it running on another port?`);
    }
    if (status !== 200) throw new CommandError(`${url}: answered ${status}`);
    return 0;
  },
};

/** Where the server on the data directory listens, which may differ from the configuration: `serve --port`. */
async function runningAddress({ dataDir, database }: Config): Promise<string | undefined> {
  // Only the configuration says which of the nodes runs here.
  if (database.url !== "") return undefined;
  if (!existsSync(join(dataDir, DATABASE_FILE)) || !isServing(dataDir)) return undefined;
  // The value is not validated, since a server of another version may have written it.
  const { store } = openForUpgrade({ dataDir, clock: systemClock });
  try {
    const url = await settingsStore(store).readSetting(LISTENING_SETTING);
    return typeof url === "string" ? url : undefined;
  } finally {
    store.close();
  }
}

/** The gateway's address for a program on this machine. */
function listeningAddress({ host, port, tls }: Config["server"]): string {
  if (port === 0) throw new UsageError("--url is required: the configuration does not fix the port (server.port: 0)");
  return originOf(host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host, port, tls.cert !== "");
}
