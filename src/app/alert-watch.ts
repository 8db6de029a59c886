// What is looked at in intervals, to tell people of it: keys that expire soon, and providers that are down. Wiring only.

import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/schema.ts";
import type { Fleet } from "../gateway/providers.ts";
import { createKeyExpiry } from "../jobs/key-expiry.ts";
import { createProviderDown } from "../status/provider-down.ts";
import type { Verbs } from "../store/verbs.ts";
import { type AlertService, OUTAGE_WINDOW_MS } from "./alerts.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { Observer } from "./observe.ts";

/** What the watch needs. */
export interface AlertWatchDeps {
  readonly add: Lifecycle["add"];
  readonly clock: Clock;
  config(): Config;
  readonly verbs: Pick<Verbs, "keys">;
  readonly fleet: Pick<Fleet, "breakers">;
  readonly observer: Pick<Observer, "lastFaults">;
  readonly alerts: Pick<AlertService, "raise" | "providerDown">;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Adds the watch. */
export function addAlertWatch({ add, clock, config, verbs, fleet, observer, alerts, warn }: AlertWatchDeps): void {
  const { listExpiringKeys } = verbs.keys;
  add(
    "key expiry",
    createKeyExpiry({
      ...{ listExpiringKeys, clock },
      noticeMs: () => config().alerts.keyExpiryMs,
      raise: alerts.raise,
      failed: (error) => warn("it is not known which keys expire soon", { error }),
    }),
  );
  const { lastFaults } = observer;
  add(
    "providers down",
    createProviderDown({
      clock,
      afterMs: () => config().alerts.providerDownMs,
      snapshot: () => fleet.breakers.snapshot(),
      windowMs: OUTAGE_WINDOW_MS,
      isOver: (provider) => lastFaults.get(provider)?.over === true,
      down: (provider, sinceMs) => alerts.providerDown(provider, sinceMs, lastFaults.get(provider)),
    }),
  );
}
