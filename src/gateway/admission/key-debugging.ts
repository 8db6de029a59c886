// Stores the requests and answers of keys that are being debugged. The number of requests that are copied at once is limited
// here; the store limits the number that is kept for each key.

import type { Clock } from "../../base/clock.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { KeyDebugStore } from "../../store/access/key-debug.ts";
import type { Redact } from "../../telemetry/redact.ts";
import { createWireTap, type WireRecord } from "./wire-tap.ts";

export interface KeyDebuggingDeps {
  readonly store: Pick<KeyDebugStore, "addDebugRecord">;
  readonly clock: Clock;
  readonly redact: Redact;
  /** Called when a record could not be stored. */
  failed(error: unknown, requestId: string): void;
}

/** Maximum number of requests that are copied at once, over all keys; each may take some megabytes. */
const AT_ONCE_MAX = 16;
/** Maximum number of keys that are remembered as full. */
const FULL_MAX = 1000;

/** Starts to copy an admitted request. */
export type DebugRequest = (request: Request, exchange: Exchange, key: DebuggedKey) => void;

interface DebuggedKey {
  readonly keyId: string;
  readonly debugUntilMs: number | null;
}

/** Creates the function that copies requests. */
export function createKeyDebugging({ store, clock, redact, failed }: KeyDebuggingDeps): DebugRequest {
  let openRecords = 0;
  /** Keys for which nothing more is stored until their debugging starts again. */
  const full = new Map<string, number>();
  return (request, exchange, { keyId, debugUntilMs }) => {
    if (debugUntilMs === null || debugUntilMs <= clock.now()) return;
    if (openRecords >= AT_ONCE_MAX || full.get(keyId) === debugUntilMs || exchange.wire !== undefined) return;
    openRecords += 1;
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
        openRecords -= 1;
      }
    };
    exchange.wire = createWireTap(request, { method: exchange.method, redact, done: (record) => void keep(record) });
  };
}
