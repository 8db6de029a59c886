// The gateway as a whole, for operators: the current state of its parts, and the daily usage of all accounts.

import type { Clock } from "../../base/clock.ts";
import { isoTime } from "../../base/iso-time.ts";
import type { CatalogModel } from "../../catalog/models.ts";
import { dayOf } from "../../store/usage/record.ts";
import type { UsageStore } from "../../store/usage/usage.ts";
import type { ProviderSnapshot } from "../../upstream/breakers.ts";
import type { GatewayView } from "../contract-admin.ts";
import type { EverybodysUsage, HourlyReport } from "../contract-usage.ts";
import { admin, type Endpoint } from "./endpoint.ts";
import {
  daysOf,
  hourlyReport,
  hourRange,
  hoursOf,
  isoDay,
  type LatencyBucket,
  latencyView,
  type ModelSums,
  sumsView,
} from "./usage-figures.ts";

/** The sources of an operator's figures. */
export interface GatewayFigures {
  uptimeSeconds(): number;
  /** As configured. */
  providers(): readonly { readonly name: string; readonly kind: string }[];
  breakers(): ReadonlyMap<string, ProviderSnapshot>;
  lastFaults(): ReadonlyMap<
    string,
    {
      readonly kind: string;
      readonly status: number;
      readonly atMs: number;
      /** A call has succeeded since. */
      readonly over: boolean;
    }
  >;
  catalog(): readonly CatalogModel[];
  modelHealth(): {
    readonly models: readonly {
      readonly id: string;
      readonly status: GatewayView["models"][number]["status"];
      readonly last_checked: string;
      readonly latency_p50_ms?: number;
      readonly latency_p99_ms?: number;
    }[];
  };
  subsystems(): Promise<Readonly<Record<string, Subsystem>>>;
  mcpServers(): Promise<GatewayView["mcp_servers"]>;
  /** The bytes of the database file, of its free part, and of the log beside it. */
  database(): Promise<{ readonly bytes: number; readonly freeBytes: number; readonly logBytes: number }>;
  /** The address of a peer that may be a proxy missing from `trusted_proxies`. */
  untrustedProxy(): Promise<string | undefined>;
  /** Whether the cache of answers is on, the guardrails as configured, and what both did since the start. */
  policy(): {
    readonly keepsAnswers: boolean;
    readonly guardrails: readonly { readonly name: string; readonly kind: string; readonly action: string }[];
    readonly done: {
      readonly cache: {
        readonly hits: number;
        readonly misses: number;
        readonly failures: number;
        readonly savedMicros: number;
        /** The size of all kept answers, if it is known. */
        readonly bytes: number | undefined;
      };
      readonly guardrails: readonly { readonly name: string; readonly actions: Readonly<Record<string, number>> }[];
    };
  };
  web(): Promise<Readonly<Record<string, { readonly running: number; readonly waiting: number }>>>;
}

export interface GatewayApiDeps {
  readonly version: string;
  readonly clock: Clock;
  readonly usage: Pick<UsageStore, "sumsOfDay" | "sumsOfHour" | "latencyByModel" | "sumsBySlot">;
  readonly gateway: GatewayFigures;
  /** Whether a price of the model is known. */
  isPriced(model: string): boolean;
}

/** The number of past days whose sums are cached: two spans of the greatest length. */
const PAST_DAYS_MAX = 732;

/** The endpoints of the gateway page. */
export function gatewayApi(deps: GatewayApiDeps): Endpoint[] {
  const { isPriced } = deps;
  const sumsOf = dayByDay((day) => deps.usage.sumsOfDay(day));
  const latencyOf = dayByDay((day) => deps.usage.latencyByModel({ unit: "day", from: day, to: day }));

  return [
    admin("GET", "/admin/gateway", () => gatewayView(deps)),

    admin("GET", "/admin/usage", async ({ query }): Promise<EverybodysUsage> => {
      const span = daysOf(query);
      const today = dayOf(deps.clock.now());
      const days = Array.from({ length: span }, (_, index) => today - span + 1 + index);
      const cells: (ModelSums & { day: number })[] = [];
      for (const day of days) cells.push(...(await sumsOf(day, today)).map((sums) => ({ ...sums, day })));
      const before: ModelSums[] = [];
      for (const day of days) before.push(...(await sumsOf(day - span, today)));
      const latency: LatencyBucket[] = [];
      for (const day of days) latency.push(...(await latencyOf(day, today)));
      const models = Map.groupBy(cells, ({ model }) => model);
      return {
        days: days.map(isoDay),
        total: sumsView(cells, isPriced),
        before: sumsView(before, isPriced),
        cells: cells.map((cell) => ({ day: isoDay(cell.day), model: cell.model, ...sumsView([cell], isPriced) })),
        models: [...models].map(([model, sums]) => ({ model, ...sumsView(sums, isPriced) })),
        latency: latencyView(latency),
      };
    }),

    admin("GET", "/admin/usage/hours", async ({ query }): Promise<HourlyReport> => {
      const range = hourRange(deps.clock, hoursOf(query));
      const cells: (ModelSums & { hour: number })[] = [];
      const latency: LatencyBucket[] = [];
      for (let hour = range.fromHour; hour <= range.toHour; hour++) {
        await othersTurn();
        cells.push(...(await deps.usage.sumsOfHour(hour)).map((sums) => ({ ...sums, hour })));
        latency.push(...(await deps.usage.latencyByModel({ unit: "hour", from: hour, to: hour })));
      }
      return hourlyReport(range, cells, { latency, isPriced });
    }),
  ];
}

/** Reads each day on its own and yields to the event loop in between, so that a large database delays no request. */
function dayByDay<Row>(read: (day: number) => Promise<readonly Row[]>) {
  const past = new Map<number, readonly Row[]>();
  return async (day: number, today: number): Promise<readonly Row[]> => {
    const kept = past.get(day);
    if (kept !== undefined) return kept;
    await othersTurn();
    const rows = await read(day);
    // Requests that arrived before midnight may be recorded after it.
    if (day < today - 1) {
      if (past.size >= PAST_DAYS_MAX) past.delete(Math.min(...past.keys()));
      past.set(day, rows);
    }
    return rows;
  };
}

/** Mails that nobody receives would otherwise look sent. */
const OUTBOX = "files in outbox/, no email.smtp_url";

interface Subsystem {
  readonly status: GatewayView["subsystems"][number]["status"];
  /** How mails leave. */
  readonly transport?: string;
}

const othersTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function gatewayView({ version, gateway }: GatewayApiDeps): Promise<GatewayView> {
  const [subsystems, database, proxy] = await Promise.all([
    gateway.subsystems(),
    gateway.database(),
    gateway.untrustedProxy(),
  ]);
  const [breakers, faults, catalog] = [gateway.breakers(), gateway.lastFaults(), gateway.catalog()];
  return {
    version,
    uptime_seconds: gateway.uptimeSeconds(),
    providers: gateway.providers().map(({ name, kind }) => {
      const [breaker, fault] = [breakers.get(name), faults.get(name)];
      return {
        name,
        kind,
        models: catalog.filter(({ routes }) => routes.some(({ provider }) => provider === name)).length,
        breaker:
          breaker === undefined
            ? null
            : { state: breaker.state, failures: breaker.failures, opened_at: isoTime(breaker.openedAtMs) },
        last_error:
          fault === undefined
            ? null
            : { kind: fault.kind, status: fault.status, at: isoTime(fault.atMs) ?? "", over: fault.over },
      };
    }),
    models: gateway.modelHealth().models.map((model) => ({
      id: model.id,
      status: model.status,
      p50_ms: model.latency_p50_ms ?? null,
      p99_ms: model.latency_p99_ms ?? null,
      checked_at: model.last_checked,
    })),
    subsystems: Object.entries(subsystems).map(([name, { status, transport }]) => ({
      ...{ name, status },
      ...(transport === "outbox" ? { note: OUTBOX } : {}),
    })),
    mcp_servers: await gateway.mcpServers(),
    database: { bytes: database.bytes, free_bytes: database.freeBytes, log_bytes: database.logBytes },
    untrusted_proxy: proxy ?? null,
    ...policyView(gateway.policy()),
    web: Object.entries(await gateway.web()).map(([what, { running, waiting }]) => ({ what, running, waiting })),
  };
}

const MICROS_PER_USD = 1_000_000;

function policyView({
  keepsAnswers,
  guardrails,
  done,
}: ReturnType<GatewayFigures["policy"]>): Pick<GatewayView, "cache" | "guardrails"> {
  const { savedMicros, bytes = null, ...looked } = done.cache;
  const acts = new Map(done.guardrails.map(({ name, actions }) => [name, actions]));
  return {
    cache: keepsAnswers ? { ...looked, bytes, saved_usd: savedMicros / MICROS_PER_USD } : null,
    guardrails: guardrails.map(({ name, kind, action }) => {
      const { denied = 0, masked = 0, noted = 0, failed = 0 } = acts.get(name) ?? {};
      return { name, kind, action, denied, masked, noted, failed };
    }),
  };
}
