// Checks where alerts go: the webhook is sent one that says it is a test.

import { systemClock } from "../base/clock.ts";
import { isoTime } from "../base/iso-time.ts";
import type { Config } from "../config/schema.ts";
import { createAddressGuard } from "../net/address-guard.ts";
import { createFetch } from "../net/fetch.ts";
import { createResolve } from "../net/resolve.ts";
import { postSigned } from "../net/signed-webhook.ts";
import type { Finding } from "./doctor-provider.ts";

/** One line if `alerts.webhook` is set. */
export async function checkAlerts({ alerts, web }: Pick<Config, "alerts" | "web">): Promise<Finding[]> {
  const { webhook: url, webhookSecret: secret } = alerts;
  if (url === "") return [];
  const name = "alerts";
  const guard = createAddressGuard({ allowPrivateNetworks: true, allowHosts: [], ports: [] }, createResolve(web.dns));
  const nowMs = systemClock.now();
  const body = JSON.stringify({ type: "test", at: isoTime(nowMs), subject: "doctor", details: {} });
  try {
    await postSigned(createFetch(guard), { url, body, secret, nowSeconds: Math.floor(nowMs / 1000) });
    return [{ name, status: "ok", message: "alerts.webhook took a test alert" }];
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it failed";
    const message = `${new URL(url).host} (alerts.webhook) did not take a test alert: ${reason}`;
    return [{ name, status: "failed", message }];
  }
}
