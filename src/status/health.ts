// The health check of the gateway: breakers and subsystems. The status is 503 if a breaker is open or a critical
// subsystem fails. A missing optional part, such as a browser, is shown but does not fail the check. The answer names
// no model, key or address.

import { isoTime } from "../base/iso-time.ts";

/** A breaker at one moment. */
interface BreakerSnapshot {
  readonly state: string;
  readonly failures: number;
  /** When it opened; null while it is closed. */
  readonly openedAtMs: number | null;
}

/** The state of a subsystem; further members are shown unchanged. */
export interface SubsystemState {
  readonly status: "ok" | "degraded" | "unavailable" | "disabled";
  readonly [detail: string]: unknown;
}

export interface HealthDeps {
  readonly version: string;
  uptimeSeconds(): number;
  /** By provider name. */
  breakers(): ReadonlyMap<string, BreakerSnapshot & { readonly models?: ReadonlyMap<string, BreakerSnapshot> }>;
  /** By name: `database`, `browser`, `jobs` …; a check that throws or is too slow counts as unavailable. */
  readonly subsystems: Readonly<Record<string, () => Promise<SubsystemState> | SubsystemState>>;
}

/** The critical subsystem. */
const CRITICAL = "database";
const CHECK_TIMEOUT_MS = 2000;

/** The body of `GET /health` and whether its status is 200. */
export async function health(deps: HealthDeps): Promise<{ ok: boolean; body: Record<string, unknown> }> {
  const snapshots = [...deps.breakers()];
  const subsystems = await checkSubsystems(deps.subsystems);
  // Half open counts as healthy. Otherwise a load balancer would send no requests, and the breaker would never be
  // tested.
  const tripped = snapshots.some(([, { state }]) => state === "open");
  const broken = subsystems[CRITICAL] !== undefined && subsystems[CRITICAL].status !== "ok";
  const ok = !tripped && !broken;
  return {
    ok,
    body: {
      status: ok ? "ok" : "degraded",
      version: deps.version,
      uptime_seconds: deps.uptimeSeconds(),
      breakers: Object.fromEntries(snapshots.map(([name, snapshot]) => [name, providerView(snapshot)])),
      subsystems,
    },
  };
}

/** The state of each subsystem, by name. Takes two seconds at most. */
export async function checkSubsystems(subsystems: HealthDeps["subsystems"]): Promise<Record<string, SubsystemState>> {
  const names = Object.keys(subsystems);
  const states = await Promise.all(names.map((name) => check(subsystems[name]!)));
  return Object.fromEntries(names.map((name, at) => [name, states[at]!]));
}

/** A provider's breaker, and those of its models where they differ. */
function providerView({
  models,
  ...own
}: BreakerSnapshot & { readonly models?: ReadonlyMap<string, BreakerSnapshot> }) {
  if (models === undefined || models.size === 0) return breakerView(own);
  return {
    ...breakerView(own),
    models: Object.fromEntries([...models].map(([name, one]) => [name, breakerView(one)])),
  };
}

function breakerView(snapshot: BreakerSnapshot) {
  const { state, failures, openedAtMs } = snapshot;
  return { state, failures, opened_at: isoTime(openedAtMs) };
}

async function check(ask: () => Promise<SubsystemState> | SubsystemState): Promise<SubsystemState> {
  let timer: Timer | undefined;
  const late = new Promise<SubsystemState>((resolve) => {
    timer = setTimeout(() => resolve({ status: "unavailable" }), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([ask(), late]);
  } catch {
    // The subsystem logs the reason, which must not be public.
    return { status: "unavailable" };
  } finally {
    clearTimeout(timer);
  }
}
