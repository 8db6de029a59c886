// One router for the routes of all services.

import type { AnyElysia } from "elysia";
import { lazily } from "../base/lazily.ts";
import type { RoutePattern } from "./edge.ts";
import { noEndpoint } from "./errors.ts";
import { exchangeOf } from "./exchange.ts";
import { createRouter } from "./router.ts";

/** The routes of a service. A function makes them when they are first needed, and gives the same each time. */
export type RoutePart = AnyElysia | (() => AnyElysia) | LateRoutes;

const madeOf = (part: AnyElysia | (() => AnyElysia)): AnyElysia => (typeof part === "function" ? part() : part);

/** Routes that are made with the first request to one of their paths. */
export class LateRoutes {
  /** Patterns of paths, such as `/dashboard/*`. Other services may have routes among them, which go before. */
  readonly paths: readonly string[];
  readonly routes: () => AnyElysia;

  constructor(paths: readonly string[], make: () => AnyElysia) {
    this.paths = paths;
    this.routes = lazily(make);
  }

  /** A pattern for each path, which leads to those of the routes. */
  patterns(): RoutePattern[] {
    const within = lazily(() => patternsOf([this.routes()]));
    return this.paths.map((path) => ({ method: "ALL", path, within }));
  }
}

/**
 * Joins routes for URLs of http, or of https if `isSecure`. Errors that they throw are put on the exchange, for the edge to handle.
 *
 * The router looks for the path from a fixed character on: from the seventh, which in an https URL is a slash of the scheme, or from
 * the eleventh, where the URL must be `longEnough`.
 */
export function joinRoutes(parts: readonly RoutePart[], isSecure = false): AnyElysia {
  const routes = createRouter({ name: "sallyport", handler: { standardHostname: isSecure } }).onError(
    ({ error, code, request }) => {
      exchangeOf(request).thrown = code === "NOT_FOUND" ? noEndpoint(request) : error;
      return new Response(null, { status: 500 });
    },
  );
  for (const part of parts) {
    if (!(part instanceof LateRoutes)) routes.use(madeOf(part));
    else {
      const made = lazily(() => joinRoutes([part.routes()], isSecure));
      for (const path of part.paths) routes.all(path, ({ request }) => made().fetch(request), { parse: "none" });
    }
  }
  return routes;
}

/** The patterns of routes. Those of late routes are found through the paths below which they are. */
export function patternsOf(parts: readonly RoutePart[]): RoutePattern[] {
  const own = parts.flatMap((part) => (part instanceof LateRoutes ? [] : madeOf(part).routes));
  const late = parts.flatMap((part) => (part instanceof LateRoutes ? part.patterns() : []));
  // Preflights are answered, but are not endpoints.
  return [...own.filter(({ method }) => method !== "OPTIONS"), ...late];
}

/** Names the port in the https URL of a request whose host has one or two characters. */
export function longEnough(request: Request): Request {
  const { url } = request;
  const at = url.indexOf("/", 8);
  // A host with a port is long enough, so this one has the default port.
  if (at >= 0 && at < 11) Object.defineProperty(request, "url", { value: `${url.slice(0, at)}:443${url.slice(at)}` });
  return request;
}
