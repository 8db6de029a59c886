// Providers and search engines for operators: the state of each, a test that calls it now, and a reset.

import { ApiError } from "../../base/errors.ts";
import { isoTime } from "../../base/iso-time.ts";
import type { CatalogModel } from "../../catalog/models.ts";
import { findPreset } from "../../config/presets.ts";
import type { ProviderConfig } from "../../config/schema.ts";
import type { ProviderSnapshot } from "../../upstream/breakers.ts";
import type { ProviderProbe } from "../../upstream/probe.ts";
import type { Listing } from "../contract.ts";
import type { EngineTest, EngineView, ProviderTest, ProviderView, TestStatus } from "../contract-admin.ts";
import { admin, type Endpoint } from "./endpoint.ts";
import type { GatewayFigures } from "./gateway-api.ts";
import type { KeysApiDeps } from "./keys-api.ts";

/** A search engine, as its page shows it. */
interface EngineState {
  readonly name: string;
  readonly categories: readonly string[];
  /** Why it is not enabled; undefined if it is. */
  readonly whyOff: string | undefined;
  readonly suspended: { readonly kind: string; readonly untilMs: number } | undefined;
  readonly lastOkAtMs?: number | undefined;
  readonly failingSinceMs?: number | undefined;
  readonly lastError?: { readonly kind: string; readonly message: string; readonly atMs: number } | undefined;
}

/** The result of a test query to one engine. */
interface EngineProbe {
  readonly hits: number;
  readonly ms: number;
  /** The failure; undefined if it answered. */
  readonly error: { readonly kind: string; readonly message: string } | undefined;
}

/** What the endpoints of providers and engines need. */
export interface Operations {
  /** As configured. */
  providers(): readonly ProviderConfig[];
  /** Whether the provider is a part of this program. */
  isBuiltIn(provider: ProviderConfig): boolean;
  /** The result of the last request for a provider's model list; undefined when it was not requested. */
  listing(provider: string): { readonly ok: boolean; readonly models: number } | undefined;
  /** Closes a provider's breaker; returns false when there is none. */
  resetBreaker(provider: string): boolean;
  /** Called after a test of a provider has succeeded, so that earlier failures count as over. */
  recovered(provider: string): void;
  engines(): readonly EngineState[];
  /** Queries a search engine now; undefined when there is no engine of that name. */
  probeEngine(name: string, signal: AbortSignal): Promise<EngineProbe | undefined>;
}

export interface OperationsApiDeps extends Pick<KeysApiDeps, "note" | "clock"> {
  readonly operations: Operations;
  readonly gateway: Pick<GatewayFigures, "breakers" | "lastFaults" | "catalog" | "modelHealth">;
}

/** If a provider has more keys than this, only the first are tested. */
const KEYS_TESTED_MAX = 20;

/** The endpoints of providers and engines. */
export function operationsApi(deps: OperationsApiDeps): Endpoint[] {
  const { operations, clock, note } = deps;
  const running = new Map<string, Promise<ProviderTest>>();
  const at = () => isoTime(clock.now());

  const find = (name: string | undefined): ProviderConfig => {
    const provider = operations.providers().find((one) => one.name === name);
    if (provider === undefined) throw new ApiError("route_not_found", "There is no such provider.");
    return provider;
  };
  /** Only one test of a thing runs at a time. A second call receives the answer of the first. */
  const once = <T extends ProviderTest>(key: string, run: () => Promise<T>): Promise<T> => {
    const test = (running.get(key) as Promise<T> | undefined) ?? run().finally(() => running.delete(key));
    running.set(key, test);
    return test;
  };

  return [
    admin("GET", "/admin/providers", async (): Promise<Listing<ProviderView>> => ({ data: providerViews(deps) })),

    admin("POST", "/admin/providers/:name/test", async ({ params }): Promise<ProviderTest> => {
      const provider = find(params["name"]);
      return once(`provider ${provider.name}`, async () => {
        const startedMs = performance.now();
        const { status, message } = await probeAll(provider);
        if (status === "ok") operations.recovered(provider.name);
        return { status, message, ms: Math.round(performance.now() - startedMs), at: at() };
      });
    }),

    admin("POST", "/admin/providers/:name/reset", async (visit) => {
      const { name } = find(visit.params["name"]);
      if (!operations.resetBreaker(name)) throw new ApiError("route_not_found", "This provider has no breaker.");
      await note("breaker_reset", visit, { provider: name });
      return { success: true };
    }),

    admin(
      "GET",
      "/admin/engines",
      async (): Promise<Listing<EngineView>> => ({ data: operations.engines().map(engineView) }),
    ),

    admin("POST", "/admin/engines/:name/test", async ({ params, request }): Promise<EngineTest> => {
      const name = params["name"] ?? "";
      return once(`engine ${name}`, async () => {
        const probe = await operations.probeEngine(name, request.signal);
        if (probe === undefined) throw new ApiError("route_not_found", "There is no such search engine.");
        const { hits, ms, error } = probe;
        const status: TestStatus = error !== undefined ? "failed" : hits === 0 ? "warning" : "ok";
        const message = error === undefined ? hitsText(hits) : `${error.kind}: ${error.message}`;
        return { status, hits, message, ms: Math.round(ms), at: at() };
      });
    }),
  ];
}

/** Tests every key of the provider; the worst result is the answer. */
async function probeAll(provider: ProviderConfig): Promise<ProviderProbe> {
  const { probeModelList } = await import("../../upstream/probe.ts");
  const keys = provider.apiKeys.slice(0, KEYS_TESTED_MAX);
  if (keys.length <= 1) return probeModelList(provider);
  const probes = await Promise.all(keys.map((key) => probeModelList({ ...provider, apiKeys: [key] })));
  const worst = (["failed", "warning", "ok"] as const).find((status) =>
    probes.some((probe) => probe.status === status),
  );
  const at = probes.findIndex(({ status }) => status === worst);
  const { status, message } = probes[at]!;
  const good = probes.filter((probe) => probe.status === "ok").length;
  if (status === "ok") return { status, message: `${message}, with each of ${keys.length} keys` };
  return { status, message: `${message} (key ${at + 1} of ${keys.length}; ${good} of them are accepted)` };
}

function providerViews({ operations, gateway }: OperationsApiDeps): ProviderView[] {
  const [breakers, faults, catalog] = [gateway.breakers(), gateway.lastFaults(), gateway.catalog()];
  const states = new Map(gateway.modelHealth().models.map(({ id, status }) => [id, status]));
  return operations.providers().map((provider) => {
    const { name, kind, preset, baseUrl, apiKeys } = provider;
    const [breaker, fault] = [breakers.get(name), faults.get(name)];
    const models = catalog.filter(({ routes }) => routes.some((route) => route.provider === name));
    const health = { healthy: 0, degraded: 0, unavailable: 0, unknown: 0 };
    for (const { id } of models) {
      const state = states.get(id);
      if (state !== undefined) health[state]++;
    }
    return {
      name,
      kind,
      preset: preset ?? null,
      base_url: operations.isBuiltIn(provider) ? "" : baseUrl.replace(/\/\/[^/@]*@/, "//***@"),
      credentials: apiKeys.length,
      variable: (preset === undefined ? undefined : findPreset(preset)?.variable) ?? null,
      list: listOf(provider, operations, models),
      models: models.length,
      health,
      breaker:
        breaker === undefined
          ? null
          : {
              state: breaker.state,
              failures: breaker.failures,
              failures_max: provider.breaker.failures,
              opened_at: isoTime(breaker.openedAtMs),
              models: suspended(breaker),
            },
      last_error:
        fault === undefined
          ? null
          : { kind: fault.kind, status: fault.status, at: isoTime(fault.atMs) ?? "", over: fault.over },
    };
  });
}

/** More models would make the page unreadable. */
const SUSPENDED_MAX = 20;

function suspended({ models }: ProviderSnapshot): { model: string; state: "open" | "half_open" }[] {
  return [...models]
    .flatMap(([model, { state }]) => (state === "closed" ? [] : [{ model, state }]))
    .slice(0, SUSPENDED_MAX);
}

function listOf(
  provider: ProviderConfig,
  operations: Operations,
  models: readonly CatalogModel[],
): ProviderView["list"] {
  if (operations.isBuiltIn(provider)) return { state: "built_in", models: models.length };
  if (!provider.discover) return { state: "off", models: 0 };
  const listing = operations.listing(provider.name);
  if (listing === undefined) return { state: "waiting", models: 0 };
  return { state: listing.ok ? "ok" : "failed", models: listing.models };
}

function engineView({ name, categories, whyOff, suspended, ...health }: EngineState): EngineView {
  const { lastError } = health;
  return {
    name,
    categories,
    off: whyOff ?? null,
    suspended: suspended === undefined ? null : { kind: suspended.kind, until: isoTime(suspended.untilMs) ?? "" },
    last_ok_at: isoTime(health.lastOkAtMs ?? null),
    failing_since: isoTime(health.failingSinceMs ?? null),
    last_error:
      lastError === undefined
        ? null
        : { kind: lastError.kind, message: lastError.message, at: isoTime(lastError.atMs) ?? "" },
  };
}

function hitsText(hits: number): string {
  if (hits === 0) return "It answered without results.";
  return `It answered with ${hits} ${hits === 1 ? "hit" : "hits"}.`;
}
