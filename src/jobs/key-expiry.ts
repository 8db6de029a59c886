// Looks every minute for API keys that expire soon, and raises an alert for each.

import { atIntervals } from "../base/at-intervals.ts";
import type { Clock } from "../base/clock.ts";
import { isoTime } from "../base/iso-time.ts";
import type { Alert } from "./alerts.ts";

/** What the look needs. */
export interface KeyExpiryDeps {
  /** Live keys that expire until then, in the order of `id`. */
  listExpiringKeys(
    untilMs: number,
    page: { readonly afterId?: string; readonly limit: number },
  ): Promise<ExpiringKey[]>;
  readonly clock: Clock;
  /** How long before its expiry a key is told of; 0: never. */
  noticeMs(): number;
  raise(alert: Alert): void;
  failed(error: unknown): void;
}

interface ExpiringKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly expiresAtMs: number | null;
}

const LOOK_MS = 60_000;
const PAGE = 500;

/** Creates the looks; `background` begins them. */
export function createKeyExpiry(deps: KeyExpiryDeps) {
  const looks = atIntervals(
    () => LOOK_MS,
    () => void look(deps),
  );
  return {
    background() {
      looks.start();
      void look(deps);
    },
    stop: () => looks.stop(),
  };
}

async function look({ listExpiringKeys, clock, noticeMs, raise, failed }: KeyExpiryDeps): Promise<void> {
  if (noticeMs() === 0) return;
  try {
    let afterId: string | undefined;
    do {
      const page = { limit: PAGE, ...(afterId === undefined ? {} : { afterId }) };
      const keys: ExpiringKey[] = await listExpiringKeys(clock.now() + noticeMs(), page);
      for (const { id, accountId, name, expiresAtMs: untilMs } of keys) {
        const details = { name, expires_at: isoTime(untilMs) };
        // A key whose end was moved is told of again.
        raise({ type: "key_expiry", subject: id, accountId, details, event: String(untilMs), untilMs });
      }
      afterId = keys.length < PAGE ? undefined : keys.at(-1)?.id;
    } while (afterId !== undefined);
  } catch (error) {
    failed(error);
  }
}
