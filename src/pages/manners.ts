// Not too fast for one host: the starts of requests are spread, and only so many run at once.

import type { Clock } from "../base/clock.ts";
import { pause } from "../base/retry.ts";

/** Lets requests through, host by host. */
export interface HostGate {
  /** Waits for the host's turn; the time between two starts is at least `delayMs`. */
  wait(host: string, options: { delayMs: number; signal: AbortSignal }): Promise<void>;
}

/** Hosts remembered; those not asked for long are forgotten first. */
const HOSTS_MAX = 5000;

/** Makes a gate. */
export function createHostGate(clock: Clock): HostGate {
  const nextMs = new Map<string, number>();
  return {
    wait: async (host, { delayMs, signal }) => {
      signal.throwIfAborted();
      if (delayMs <= 0) return;
      const now = clock.now();
      const turn = Math.max(now, nextMs.get(host) ?? 0);
      nextMs.delete(host);
      nextMs.set(host, turn + delayMs);
      if (nextMs.size > HOSTS_MAX) nextMs.delete(nextMs.keys().next().value as string);
      if (turn > now) await pause(turn - now, signal);
    },
  };
}
