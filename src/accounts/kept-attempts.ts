// Counters of tries that outlive a restart: what is limited by the day would begin again with every update. Names are
// kept as hashes, for as long as they count.

import type { Clock } from "../base/clock.ts";
import { sha256Hex } from "../base/ids.ts";
import type { SettingsStore } from "../store/settings.ts";
import { type AttemptLimit, type Attempts, countAttempts } from "./attempts.ts";

/** What they are built on. */
export interface KeptAttemptsDeps {
  readonly clock: Clock;
  readonly settings: Pick<SettingsStore, "readSetting" | "writeSetting">;
  /** The name they are kept under. */
  readonly name: string;
  readonly limit: AttemptLimit;
  /** They could not be kept; they are with the next one. */
  failed(error: unknown): void;
}

/** Counters with an end. */
export interface KeptAttempts extends Attempts {
  /** Writes what is not written yet. */
  stop(): Promise<void>;
}

/** What a crash may lose. */
const WRITE_AFTER_MS = 1000;

/** Takes up what was kept, and writes what changes a moment later. */
export async function keepAttempts({ clock, settings, name, limit, failed }: KeptAttemptsDeps): Promise<KeptAttempts> {
  const counted = countAttempts(clock, () => limit);
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

/** What was written; nothing of what cannot be read as such. */
function timesOf(value: unknown): [string, number[]][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, times]) =>
    Array.isArray(times) && times.every((one) => typeof one === "number") ? [[name, times] as [string, number[]]] : [],
  );
}
