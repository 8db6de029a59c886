// The documentation's addresses: the OpenAPI document.

import { Elysia } from "elysia";

/** What they need. */
export interface DocsRoutesDeps {
  /** The document, with this address as its server. */
  document(server: string): Promise<Record<string, unknown>>;
  /** Where clients reach the gateway. */
  publicUrl(request: Request): string;
}

/** `/openapi.json`. */
export function docsRoutes(deps: DocsRoutesDeps) {
  return new Elysia().get("/openapi.json", async ({ request }) =>
    Response.json(await deps.document(deps.publicUrl(request).replace(/\/+$/, ""))),
  );
}
