// The overview: the usage, latency and errors of an account, or for operators of all accounts, within a span.

import { ApiError } from "../../base/errors.ts";
import type { SlotSpan } from "../../store/usage/overview.ts";
import { dayOf, hourOf } from "../../store/usage/record.ts";
import type { UsageStore } from "../../store/usage/usage.ts";
import { SPAN_HOURS, type SpanName } from "../contract-log.ts";
import type { OverviewView } from "../contract-overview.ts";
import { admin, type Endpoint, member } from "./endpoint.ts";
import { type LogViewDeps, logRowViews } from "./log-view.ts";
import type { Figures, MinuteSlots } from "./overview-figures.ts";
import { lastMinutes } from "./overview-minutes.ts";
import { overviewView } from "./overview-view.ts";

export interface OverviewApiDeps extends LogViewDeps {
  readonly usage: LogViewDeps["usage"] & Pick<UsageStore, "sumsBySlot" | "latencyBySlot" | "recentRows" | "listLog">;
}

const SPAN: SpanName = "24h";
const DAY_HOURS = 24;
/** Spans up to this length are drawn by the hour. */
const HOURLY_SPAN_HOURS = 168;
const FAILURES = 5;
/**
 * The number of past slots that are cached for all accounts: ninety days and a week of hours, each with the preceding
 * span.
 */
const PAST_SLOTS_MAX = 600;

/** The endpoints of the overview. */
export function overviewApi(deps: OverviewApiDeps): Endpoint[] {
  const everybody = slotBySlot(deps);
  return [
    member("GET", "/overview", ({ who, query }) => {
      const accountId = who.account.id;
      return overview(deps, spanOf(query), accountId, (slots) => figuresOf(deps, slots, accountId));
    }),
    admin("GET", "/admin/overview", ({ query }) => overview(deps, spanOf(query), undefined, everybody)),
  ];
}

type Read = (slots: SlotSpan) => Promise<Figures>;

async function overview(
  deps: OverviewApiDeps,
  span: SpanName,
  accountId: string | undefined,
  read: Read,
): Promise<OverviewView> {
  const nowMs = deps.clock.now();
  const sinceMs = nowMs - SPAN_HOURS[span] * 3_600_000;
  const failed = await deps.usage.listLog({ accountId, outcome: "failed", sinceMs }, { limit: FAILURES });
  const failures = await logRowViews(deps, failed.rows, { named: accountId === undefined });
  const shown = async (slots: SlotSpan | MinuteSlots, now: Figures, more: { before?: Figures; partial?: boolean }) => {
    const names = await deps.usage.namesOfKeys([...new Set(now.byKey.map(({ name }) => name))]);
    return overviewView(slots, now, {
      ...more,
      failures,
      names,
      named: accountId === undefined,
      isPriced: deps.isPriced,
    });
  };
  if (span === "1h") {
    const { slots, figures, partial } = await lastMinutes(deps, accountId);
    return shown(slots, figures, { partial });
  }
  const slots = slotsOf(span, nowMs);
  const length = slots.to - slots.from + 1;
  const earlier = { ...slots, from: slots.from - length, to: slots.from - 1 };
  return shown(slots, await read(slots), { before: await read(earlier) });
}

function slotsOf(span: SpanName, nowMs: number): SlotSpan {
  const hours = SPAN_HOURS[span];
  if (hours <= HOURLY_SPAN_HOURS) return { unit: "hour", from: hourOf(nowMs) - hours + 1, to: hourOf(nowMs) };
  return { unit: "day", from: dayOf(nowMs) - hours / DAY_HOURS + 1, to: dayOf(nowMs) };
}

function spanOf(query: URLSearchParams): SpanName {
  const text = query.get("span") ?? SPAN;
  if (Object.hasOwn(SPAN_HOURS, text)) return text as SpanName;
  const names = Object.keys(SPAN_HOURS).join(", ");
  throw new ApiError("invalid_request", `span: expected one of ${names}.`, { param: "span" });
}

async function figuresOf({ usage }: OverviewApiDeps, slots: SlotSpan, accountId?: string): Promise<Figures> {
  return {
    byModel: await usage.sumsBySlot(slots, "model", accountId),
    byKey: await usage.sumsBySlot(slots, "keyId", accountId),
    latencyByModel: await usage.latencyBySlot(slots, "model", accountId),
    latencyByKey: await usage.latencyBySlot(slots, "keyId", accountId),
  };
}

/**
 * Reads the figures of all accounts slot by slot and yields to the event loop in between, so that a large database
 * delays no request.
 */
function slotBySlot(deps: OverviewApiDeps): Read {
  const past = new Map<string, Figures>();
  return async ({ unit, from, to }) => {
    const parts: Figures[] = [];
    const current = unit === "hour" ? hourOf(deps.clock.now()) : dayOf(deps.clock.now());
    for (let slot = from; slot <= to; slot++) {
      const name = `${unit} ${slot}`;
      const kept = past.get(name);
      if (kept !== undefined) {
        parts.push(kept);
        continue;
      }
      await new Promise<void>((resolve) => setImmediate(resolve));
      const read = await figuresOf(deps, { unit, from: slot, to: slot });
      parts.push(read);
      // Requests that arrived at the end of a slot may be recorded in the next.
      if (slot >= current - 1) continue;
      if (past.size >= PAST_SLOTS_MAX) past.delete(past.keys().next().value as string);
      past.set(name, read);
    }
    return {
      byModel: parts.flatMap(({ byModel }) => byModel),
      byKey: parts.flatMap(({ byKey }) => byKey),
      latencyByModel: parts.flatMap(({ latencyByModel }) => latencyByModel),
      latencyByKey: parts.flatMap(({ latencyByKey }) => latencyByKey),
    };
  };
}
