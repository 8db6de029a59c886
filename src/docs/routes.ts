// The documentation's addresses: the OpenAPI document, and the manual that renders it and the guides.

import { describedBy, openEndpoint, type ServedEndpoint } from "../http/served-endpoint.ts";
import type { Json } from "./schemas.ts";

/** What the endpoints need. */
export interface DocsDeps {
  /** The document, with this address as its server. */
  document(server: string): Promise<Json>;
  /** The gateway's address for clients. */
  publicUrl(request: Request): string;
}

const originOf = (deps: DocsDeps, request: Request) => deps.publicUrl(request).replace(/\/+$/, "");

type Handler = ServedEndpoint<DocsDeps>["handle"];

const page: Handler = async (deps, { request }) => {
  const origin = originOf(deps, request);
  // Loaded when someone reads it: not needed at the start.
  const [{ manualResponse }, document] = await Promise.all([import("./pages/answer.ts"), deps.document(origin)]);
  return manualResponse(request, document, origin);
};

const docsText = describedBy(() => {
  const { DOCS_TEXTS }: typeof import("./openapi.ts") = require("./openapi.ts");
  return DOCS_TEXTS;
});

/** `/openapi.json`, `/docs` and what is below it. */
export const DOCS_ENDPOINTS: readonly ServedEndpoint<DocsDeps>[] = [
  openEndpoint("GET", "/openapi.json", {
    describe: docsText("getOpenapi"),
    handle: async (deps, { request }) => Response.json(await deps.document(originOf(deps, request))),
  }),
  openEndpoint("GET", "/docs", { describe: docsText("getManual"), handle: page }),
  openEndpoint("GET", "/docs/*", { describe: docsText("getManualPage"), handle: page }),
];
