// Keeps the windows of the rate limiter over a restart. They are read at start, and saved every few seconds and at shutdown, so
// that a crash does not reset them.

import type { Clock } from "../../base/clock.ts";
import type { MemoryRateLimiter } from "../../shared-state/rate-windows.ts";
import type { RateStore } from "../../store/usage/rates.ts";

export interface RateWindowsDeps {
  readonly limiter: Pick<MemoryRateLimiter, "snapshot" | "restore">;
  readonly rates: RateStore;
  readonly clock: Clock;
  /** Called when the windows could not be saved. Saving is tried again soon. */
  failed(error: unknown): void;
}

const SAVE_MS = 5000;
/** Windows that began longer ago have ended. */
const WINDOW_MS = 60_000;

/** Creates it. Use the limiter only after `start` has resolved. */
export function createRateWindows({ limiter, rates, clock, failed }: RateWindowsDeps) {
  const save = () => rates.saveRateWindows(limiter.snapshot());
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    async start(): Promise<void> {
      limiter.restore(await rates.loadRateWindows(clock.now() - WINDOW_MS));
      timer = setInterval(() => void save().catch(failed), SAVE_MS);
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      await save();
    },
  };
}
