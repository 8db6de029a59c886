// The latest outcomes of each model's requests, in memory. They include failed requests without any usage to store. The
// number of models and of outcomes is limited. A restart discards them; model health then uses other signs.

import type { Clock } from "../base/clock.ts";
import type { RequestOutcome } from "./model-health.ts";

const OUTCOMES_PER_MODEL = 200;
/** The limit of models. Above it, the least recently used one is discarded. */
const MODELS_MAX = 2000;

/** The number of outcomes that are kept for each model. */
export interface Outcomes {
  /** Records the end of a request for this model (its catalog id). */
  note(model: string, outcome: RequestOutcome): void;
  /** The outcomes since a time, newest first, at most `limit`. */
  recent(model: string, options: { sinceMs: number; limit: number }): RequestOutcome[];
}

interface Ring {
  readonly entries: (RequestOutcome & { readonly atMs: number })[];
  /** The index of the next outcome once the ring is full. */
  next: number;
}

/** Creates an empty memory. */
export function createOutcomes(clock: Clock): Outcomes {
  // In the order of their last use.
  const rings = new Map<string, Ring>();
  /** The model at the end of that order, where it nearly always is already. */
  let newest: string | undefined;
  return {
    note(model, outcome) {
      let ring = rings.get(model);
      if (ring === undefined || model !== newest) {
        if (ring !== undefined) rings.delete(model);
        else if (rings.size >= MODELS_MAX) rings.delete(rings.keys().next().value!);
        ring ??= { entries: [], next: 0 };
        rings.set(model, ring);
        newest = model;
      }
      const { status, errorCode, latencyMs } = outcome;
      ring.entries[ring.next] = { status, errorCode, latencyMs, atMs: clock.now() };
      ring.next = (ring.next + 1) % OUTCOMES_PER_MODEL;
    },
    recent(model, { sinceMs, limit }) {
      const ring = rings.get(model);
      const out: RequestOutcome[] = [];
      const count = ring?.entries.length ?? 0;
      for (let back = 1; ring !== undefined && back <= count && out.length < limit; back++) {
        const { atMs, ...outcome } = ring.entries[(ring.next - back + count) % count]!;
        if (atMs < sinceMs) break;
        out.push(outcome);
      }
      return out;
    },
  };
}
