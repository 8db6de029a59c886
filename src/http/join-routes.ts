// One router over the routes of every service.

import { type AnyElysia, Elysia } from "elysia";
import { noEndpoint } from "./errors.ts";
import { exchangeOf } from "./exchange.ts";

/** Joins them; what they throw is put on the exchange, for the edge to word. */
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
