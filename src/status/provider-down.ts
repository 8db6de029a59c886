// Notices providers whose calls have failed for so long that people should know: none of their models is reached, and no call
// has succeeded since.

import { atIntervals } from "../base/at-intervals.ts";
import type { Clock } from "../base/clock.ts";

type State = "closed" | "open" | "half_open";

/** A provider's breakers, as `Breakers.snapshot` gives them. */
interface ProviderState {
  readonly state: State;
  /** The models that were called, where their states differ; else empty. */
  readonly models: ReadonlyMap<string, { readonly state: State }>;
}

/** What noticing needs. */
export interface ProviderDownDeps {
  readonly clock: Clock;
  /** How long calls must have failed. */
  afterMs(): number;
  snapshot(): ReadonlyMap<string, ProviderState>;
  /** Whether the last failure of this provider is over, because a call or its model list has succeeded since. */
  isOver(provider: string): boolean;
  /** How long a provider is not told of again. An outage that begins meanwhile is told of afterwards, if it lasts. */
  readonly windowMs: number;
  /** Called once for each outage. */
  down(provider: string, sinceMs: number): void;
}

const LOOK_MS = 5000;

/** Creates the looks; `start` begins them. */
export function createProviderDown({ clock, afterMs, snapshot, isOver, windowMs, down }: ProviderDownDeps) {
  const outages = new Map<string, { readonly sinceMs: number; isTold: boolean }>();
  const toldAtMs = new Map<string, number>();
  const look = () => {
    const providers = snapshot();
    for (const [name, atMs] of toldAtMs) if (clock.now() - atMs >= windowMs) toldAtMs.delete(name);
    for (const name of outages.keys()) if (!providers.has(name)) outages.delete(name);
    for (const [name, provider] of providers) {
      if (!fails(provider) || isOver(name)) {
        outages.delete(name);
        continue;
      }
      const outage = outages.get(name) ?? { sinceMs: clock.now(), isTold: false };
      outages.set(name, outage);
      if (outage.isTold || toldAtMs.has(name) || clock.now() - outage.sinceMs < afterMs()) continue;
      outage.isTold = true;
      toldAtMs.set(name, clock.now());
      down(name, outage.sinceMs);
    }
  };
  const looks = atIntervals(() => Math.max(1, Math.min(LOOK_MS, afterMs() / 4)), look);
  return { look, start: looks.start, reconfigure: looks.again, stop: looks.stop };
}

/** One model that answers shows that the provider is up. */
function fails({ state, models }: ProviderState): boolean {
  return state !== "closed" && [...models.values()].every((model) => model.state !== "closed");
}
