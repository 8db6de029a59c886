// Detects a proxy in front of the gateway that the configuration does not list.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/schema.ts";
import { UNTRUSTED_PROXY, untrustedProxy } from "../status/untrusted-proxy.ts";
import { DATABASE_FILE, openStore } from "../store/engine/open.ts";
import { settingsStore } from "../store/settings.ts";
import type { Finding } from "./doctor-provider.ts";

/** One line if such a proxy was seen recently. */
export async function checkProxy({ dataDir, server }: Config): Promise<Finding[]> {
  if (!existsSync(join(dataDir, DATABASE_FILE))) return [];
  const store = openStore({ dataDir, create: false });
  try {
    const peer = await untrustedProxy(settingsStore(store), systemClock, server.trustedProxies);
    return peer === undefined ? [] : [{ name: "proxy", status: "warning", message: `${peer}: ${UNTRUSTED_PROXY}` }];
  } finally {
    store.close();
  }
}
