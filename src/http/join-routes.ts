// One router for the routes of all services.

import { type AnyElysia, Elysia } from "elysia";
import { noEndpoint } from "./errors.ts";
import { exchangeOf } from "./exchange.ts";

/** Joins routes. Errors that they throw are put on the exchange, for the edge to handle. */
export function joinRoutes(parts: readonly AnyElysia[]): AnyElysia {
  const all = new Elysia({ name: "sallyport", handler: { standardHostname: false } }).onError(
    ({ error, code, request }) => {
      exchangeOf(request).thrown = code === "NOT_FOUND" ? noEndpoint(request) : error;
      return new Response(null, { status: 500 });
    },
  );
  for (const part of parts) all.use(part);
  return all;
}
