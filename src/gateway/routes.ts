// The chat endpoints. Bodies are read by the gateway itself, after admission: 401 comes before 400.

import { Elysia } from "elysia";
import { ApiError } from "../base/errors.ts";
import { FORMATS } from "../wire/index.ts";
import type { Gateway } from "./run.ts";

/** The chat endpoints for callers that need no router: a tenth of a request's time. The same handlers as the routes. */
export function directRoutes(gateway: Gateway): Map<string, (request: Request) => Promise<Response>> {
  return new Map(FORMATS.map((format) => [format.path, (request: Request) => gateway.handle(request, format)]));
}

/** `POST` routes of every client format, and the endpoints that only say no. */
export function gatewayRoutes(gateway: Gateway) {
  const app = new Elysia();
  for (const format of FORMATS) {
    app.post(format.path, ({ request }) => gateway.handle(request, format), { parse: "none" });
  }
  return app.post(
    "/v1/moderations",
    () => {
      throw new ApiError("not_implemented", "Moderation is not implemented.");
    },
    { parse: "none" },
  );
}
