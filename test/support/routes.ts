// Every route of a running gateway, with who may use it: what the endpoint declares, or for routes that are not documented what
// is listed here.

import { ENDPOINTS } from "../../src/app/endpoints.ts";
import { NOT_OFFERED_PATHS } from "../../src/gateway/endpoints/not-offered.ts";
import type { Access } from "../../src/http/endpoint.ts";
import { HOSTED_ADDRESSES, HOSTED_PATHS } from "../../src/web/firecrawl/hosted.ts";
import type { TestApp } from "./app.ts";

/** Who may use a route. `cookie`: whoever has a session of the dashboard. */
export type RouteAccess = Access | "cookie";

export interface ServedRoute {
  readonly method: string;
  /** As it is registered, such as `/v1/crawl/:id`. */
  readonly path: string;
  readonly access: RouteAccess;
}

/** Addresses that only refuse: what is not offered, and what belongs to another service. */
const REFUSING = new Set([
  ...HOSTED_ADDRESSES,
  ...[...NOT_OFFERED_PATHS, ...HOSTED_PATHS].flatMap((path) => [path, `${path}/*`]),
]);

/** The routes of the dashboard, which only the dashboard uses. The first match applies. */
const DASHBOARD: readonly [RegExp, RouteAccess][] = [
  [/^GET \/dashboard(\/\*|\/assets\/:name)?$/, "open"],
  [/^\w+ \/dashboard\/api\/(session|signup|login|logout|oauth\/(exchange|pending)|password\/(forgot|reset))$/, "open"],
  [/^\w+ \/dashboard\/api\/.+$/, "cookie"],
];

const DECLARED: ReadonlyMap<string, Access> = new Map(
  ENDPOINTS.map(({ method, path, access }) => [`${method} ${path}`, access]),
);

/** The methods that are documented of a route for every method. */
const OF_ALL = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Every route with who may use it. Throws for a route that is neither documented nor listed here. */
export function servedRoutes(app: TestApp): ServedRoute[] {
  const all = app
    .routes()
    .flatMap(({ method, path }) => (method === "ALL" ? OF_ALL : [method]).map((one) => ({ method: one, path })));
  const unknown = all.filter((one) => accessOf(one) === undefined).map(({ method, path }) => `${method} ${path}`);
  if (unknown.length > 0) throw new Error(`${unknown.join(", ")}: make it a ServedEndpoint`);
  return all.map((one) => ({ ...one, access: accessOf(one) as RouteAccess }));
}

function accessOf({ method, path }: { method: string; path: string }): RouteAccess | undefined {
  const route = `${method} ${path}`;
  const declared = DECLARED.get(route);
  if (declared !== undefined) return declared;
  if (REFUSING.has(path)) return "open";
  return DASHBOARD.find(([pattern]) => pattern.test(route))?.[1];
}

/** The documented endpoints that the gateway does not serve. */
export function unservedEndpoints(app: TestApp): string[] {
  const served = new Set(servedRoutes(app).map(({ method, path }) => `${method} ${path}`));
  return [...DECLARED.keys()].filter((route) => !served.has(route));
}
