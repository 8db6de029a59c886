// The documentation's addresses: the OpenAPI document, and the manual that renders it and the guides.

import { Elysia } from "elysia";
import type { Json } from "./schemas.ts";

/** What they need. */
export interface DocsRoutesDeps {
  /** The document, with this address as its server. */
  document(server: string): Promise<Json>;
  /** The gateway's address for clients. */
  publicUrl(request: Request): string;
}

/** `/openapi.json`, `/docs` and what is below it. */
export function docsRoutes(deps: DocsRoutesDeps) {
  const origin = (request: Request) => deps.publicUrl(request).replace(/\/+$/, "");
  const page = async ({ request }: { request: Request }): Promise<Response> => {
    // Loaded when someone reads it: not needed at the start.
    const [{ manualResponse }, document] = await Promise.all([
      import("./pages/answer.ts"),
      deps.document(origin(request)),
    ]);
    return manualResponse(request, document, origin(request));
  };
  return new Elysia()
    .get("/openapi.json", async ({ request }) => Response.json(await deps.document(origin(request))))
    .get("/docs", page)
    .get("/docs/*", page);
}
