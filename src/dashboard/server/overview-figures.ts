// The figures of an overview before they are formatted.

import type { SlotLatency, SlotSpan, SlotSums } from "../../store/usage/overview.ts";

/** Sums and latency of a span. */
export interface Figures {
  readonly byModel: readonly SlotSums[];
  readonly byKey: readonly SlotSums[];
  readonly latencyByModel: readonly SlotLatency[];
  readonly latencyByKey: readonly SlotLatency[];
}

/** Whole minutes since the epoch, both ends included. */
export interface MinuteSlots extends Omit<SlotSpan, "unit"> {
  readonly unit: "minute";
}
