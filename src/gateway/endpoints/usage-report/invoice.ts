// What providers bill, by month, model and class, to be laid beside their invoices.

import { ApiError } from "../../../base/errors.ts";
import { dayOf } from "../../../store/usage/record.ts";
import type { UsageStore } from "../../../store/usage/usage.ts";

const MICROS_PER_USD = 1_000_000;
const DAY_MS = 86_400_000;
/** The limit of months in one report. */
const MONTHS_MAX = 36;

/** A line of an invoice. */
export interface InvoiceLine {
  /** The UTC month, such as `2030-12`. */
  readonly month: string;
  readonly provider: string;
  /** The provider's own name of the model. */
  readonly model: string;
  /** The service tier or speed; null: the ordinary one. */
  readonly service: string | null;
  readonly class: string;
  readonly amount: number;
  /** The part of the amount whose price is not known. */
  readonly unpriced: number;
  /** In US dollars; null: no price is known. */
  readonly cost: number | null;
}

/** The lines of a span of days, the earliest month first. Throws `ApiError` 400 for a span of too many months. */
export async function invoiceLines(
  usage: Pick<UsageStore, "classesOf">,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<InvoiceLine[]> {
  if (monthOf(to) - monthOf(from) >= MONTHS_MAX) {
    const message = `Invalid 'from': expected a span of at most ${MONTHS_MAX} months. Ask for one after the other.`;
    throw new ApiError("invalid_request", message, { param: "from" });
  }
  const lines: InvoiceLine[] = [];
  let fromDay = from;
  while (fromDay <= to) {
    const first = new Date(fromDay * DAY_MS);
    const next = dayOf(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1));
    const month = first.toISOString().slice(0, 7);
    for (const { service, costMicros, amount, unpriced, ...named } of await usage.classesOf({
      fromDay,
      toDay: Math.min(to, next - 1),
    })) {
      const isUnknown = costMicros === 0 && unpriced > 0;
      const cost = isUnknown ? null : costMicros / MICROS_PER_USD;
      lines.push({ month, ...named, service: service === "" ? null : service, amount, unpriced, cost });
    }
    fromDay = next;
  }
  return lines;
}

/** Months since the year 0. */
function monthOf(day: number): number {
  const date = new Date(day * DAY_MS);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
