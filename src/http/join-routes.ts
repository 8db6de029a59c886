// One router for the routes of all services.

import { type AnyElysia, Elysia } from "elysia";
import { noEndpoint } from "./errors.ts";
import { exchangeOf } from "./exchange.ts";

/**
 * Joins routes for URLs of http, or of https if `isSecure`. Errors that they throw are put on the exchange, for the edge to handle.
 *
 * The router looks for the path from a fixed character on: from the seventh, which in an https URL is a slash of the scheme, or from
 * the eleventh, where the URL must be `longEnough`.
 */
export function joinRoutes(parts: readonly AnyElysia[], isSecure = false): AnyElysia {
  const all = new Elysia({ name: "sallyport", handler: { standardHostname: isSecure } }).onError(
    ({ error, code, request }) => {
      exchangeOf(request).thrown = code === "NOT_FOUND" ? noEndpoint(request) : error;
      return new Response(null, { status: 500 });
    },
  );
  for (const part of parts) all.use(part);
  return all;
}

/** Names the port in the https URL of a request whose host has one or two characters. */
export function longEnough(request: Request): Request {
  const { url } = request;
  const at = url.indexOf("/", 8);
  // A host with a port is long enough, so this one has the default port.
  if (at >= 0 && at < 11) Object.defineProperty(request, "url", { value: `${url.slice(0, at)}:443${url.slice(at)}` });
  return request;
}
