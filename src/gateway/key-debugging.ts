// Keeps what passes for keys that are being debugged. Bounded in requests that are copied at once; what is kept of a key in
// all is bounded by the store.

import type { Clock } from "../base/clock.ts";
import type { Exchange } from "../http/exchange.ts";
import type { KeyDebugStore } from "../store/access/key-debug.ts";
import type { Redact } from "../telemetry/redact.ts";
import { createWireTap, type WireRecord } from "./wire-tap.ts";

export interface KeyDebuggingDeps {
  readonly store: Pick<KeyDebugStore, "addDebugRecord">;
  readonly clock: Clock;
  readonly redact: Redact;
  /** A record could not be kept. */
  failed(error: unknown, requestId: string): void;
}

/** Requests that are copied at once, over all keys: each may take some megabytes. */
const AT_ONCE_MAX = 16;
/** Keys that are remembered as full. */
const FULL_MAX = 1000;

/** Begins to copy an admitted request. */
export type DebugRequest = (request: Request, exchange: Exchange, key: DebuggedKey) => void;

interface DebuggedKey {
  readonly keyId: string;
  readonly debugUntilMs: number | null;
}

/** Builds it. */
export function createKeyDebugging({ store, clock, redact, failed }: KeyDebuggingDeps): DebugRequest {
  let open = 0;
  /** Keys of which no more is kept, until their debugging is begun anew. */
  const full = new Map<string, number>();
  return (request, exchange, { keyId, debugUntilMs }) => {
    if (debugUntilMs === null || debugUntilMs <= clock.now()) return;
    if (open >= AT_ONCE_MAX || full.get(keyId) === debugUntilMs || exchange.wire !== undefined) return;
    open += 1;
    const keep = async (record: WireRecord) => {
      try {
        const kept = await store.addDebugRecord({
          keyId,
          requestId: exchange.requestId,
          record: JSON.stringify(record),
        });
        if (kept) return;
        if (full.size >= FULL_MAX) full.clear();
        full.set(keyId, debugUntilMs);
      } catch (error) {
        failed(error, exchange.requestId);
      } finally {
        open -= 1;
      }
    };
    exchange.wire = createWireTap(request, { redact, done: (record) => void keep(record) });
  };
}
