// Detects a proxy in front of the gateway that the configuration does not list.

import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/schema.ts";
import { UNTRUSTED_PROXY, untrustedProxy } from "../status/untrusted-proxy.ts";
import { maybeDatabase, openDatabase } from "../store/engine/database.ts";
import { settingsStore } from "../store/settings.ts";
import type { Finding } from "./doctor-provider.ts";

/** One line if such a proxy was seen recently. */
export async function checkProxy(config: Config): Promise<Finding[]> {
  if (!maybeDatabase(config)) return [];
  const store = await openDatabase(config, { create: false });
  try {
    const peer = await untrustedProxy(settingsStore(store), systemClock, config.server.trustedProxies);
    return peer === undefined ? [] : [{ name: "proxy", status: "warning", message: `${peer}: ${UNTRUSTED_PROXY}` }];
  } finally {
    await store.close();
  }
}
