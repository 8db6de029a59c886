// Counters of tries that survive a restart: daily limits would otherwise start again with every update. Names are stored as
// hashes, while they count.

import type { Clock } from "../base/clock.ts";
import { sha256Hex } from "../base/ids.ts";
import {
  createThrottle,
  type SignInThrottle,
  type ThrottledTry,
  type ThrottleLimit,
} from "../shared-state/sign-in-throttle.ts";
import type { SettingsStore } from "../store/settings.ts";

/** What the counters need. */
export interface StoredThrottleDeps {
  readonly clock: Clock;
  readonly settings: Pick<SettingsStore, "readSetting" | "writeSetting">;
  /** The name under which they are stored. */
  readonly name: string;
  readonly limit: ThrottleLimit;
  /** Called when storing fails. The next write includes the changes. */
  failed(error: unknown): void;
}

/** Counters that must be closed. */
export interface StoredThrottle extends SignInThrottle {
  begin(names: readonly string[]): ThrottledTry;
  /** Writes the changes that are not written yet. */
  stop(): Promise<void>;
}

/** How much a crash may lose. */
const WRITE_AFTER_MS = 1000;

/** Restores the stored tries, and writes changes a moment later. */
export async function storeThrottle({
  clock,
  settings,
  name,
  limit,
  failed,
}: StoredThrottleDeps): Promise<StoredThrottle> {
  const counted = createThrottle(clock, () => limit);
  counted.restore(timesOf(await settings.readSetting(name)));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = () => {
    clearTimeout(timer);
    timer = undefined;
    return settings.writeSetting(name, counted.snapshot()).catch(failed);
  };
  const changed = () => {
    timer ??= setTimeout(() => void write(), WRITE_AFTER_MS);
  };
  return {
    begin(names) {
      const attempt = counted.begin(names.map(sha256Hex));
      if (!attempt.allowed) return attempt;
      changed();
      const uncount = () => {
        attempt.uncount();
        changed();
      };
      return { allowed: true, uncount };
    },
    async stop() {
      if (timer !== undefined) await write();
    },
  };
}

/** The stored tries; empty if they cannot be read. */
function timesOf(value: unknown): [string, number[]][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, times]) =>
    Array.isArray(times) && times.every((one) => typeof one === "number") ? [[name, times] as [string, number[]]] : [],
  );
}
