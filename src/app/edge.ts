// The HTTP edge: every route behind it, and the listening address. Wiring only.

import type { Clock } from "../base/clock.ts";
import { uuid } from "../base/ids.ts";
import { lazily } from "../base/lazily.ts";
import type { LiveConfig } from "../config/live.ts";
import { createEdge, type DirectRoute, type HeardRoute, type RoutePattern } from "../http/edge.ts";
import { joinRoutes, longEnough, patternsOf, type RoutePart } from "../http/join-routes.ts";
import type { Listener } from "../http/listen.ts";
import { TrustedProxies } from "../http/peer.ts";
import { rememberProxy, UNTRUSTED_PROXY } from "../status/untrusted-proxy.ts";
import { LISTENING_SETTING } from "../store/settings.ts";
import type { Verbs } from "../store/verbs.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Tracer } from "../telemetry/span.ts";
import type { Observer } from "./observe.ts";
import { PATHS } from "./paths.ts";

export interface EdgeServiceDeps {
  readonly live: LiveConfig;
  readonly log: Logger;
  readonly clock: Clock;
  readonly verbs: Pick<Verbs, "settings">;
  readonly listener: Listener;
  readonly tracer: Tracer | undefined;
  readonly observer: Pick<Observer, "finished">;
  /** The services' routes. */
  readonly routes: readonly RoutePart[];
  /** POST routes that bypass the framework's router. */
  readonly direct: ReadonlyMap<string, HeardRoute>;
  /** The same for GET routes. */
  readonly directGets: ReadonlyMap<string, DirectRoute>;
}

/** Builds the edge over all routes; `start` serves it, so it comes after everything that answers. */
export function createEdgeService(deps: EdgeServiceDeps) {
  const { live, log, listener } = deps;
  const isSecure = live.get().server.tls.cert !== "";
  // Chats and health checks do not go through the router.
  const routes = lazily(() => joinRoutes(deps.routes, isSecure));
  const { settings } = deps.verbs;
  const sawProxy = (peer: string) => {
    log.warn(UNTRUSTED_PROXY, { peer });
    rememberProxy(settings, deps.clock, peer).catch((error: unknown) =>
      log.error("the peer could not be remembered", { error }),
    );
  };
  const endpoints = () => patternsOf(deps.routes);
  const proxies = live.derive(({ server }) => new TrustedProxies(server.trustedProxies, sawProxy));
  const edge = createEdge({
    paths: PATHS,
    handle: (request) => routes().fetch(request),
    direct: deps.direct,
    directGets: deps.directGets,
    routes: endpoints,
    makeRequestId: uuid,
    maintenance: () => {
      const { enabled, retryAfterMs, message } = live.get().server.maintenance;
      return enabled ? { retryAfterSeconds: retryAfterMs / 1000, message } : undefined;
    },
    peer: (request) => proxies().peer(request, listener.addressOf(request)),
    bodyBudgetBytes: () => live.get().server.bodyBudgetBytes,
    tracer: deps.tracer,
    release: (request) => listener.release(request, proxies().isProxied(request, listener)),
    finished: deps.observer.finished,
    unexpected: (exchange, cause) => log.error("unexpected error", { request_id: exchange.requestId, error: cause }),
  });
  return {
    /** All routes, such as `GET /v1/models/*`. */
    patterns: () => endpoints().flatMap((one): readonly RoutePattern[] => one.within?.() ?? [one]),
    async start(): Promise<void> {
      listener.serve(isSecure ? (request) => edge(longEnough(request)) : edge);
      await settings.writeSetting(LISTENING_SETTING, listener.link);
    },
    async stop(drainMs: number): Promise<void> {
      if (!(await listener.stop(drainMs))) log.warn("requests were cut at the drain timeout");
    },
  };
}
