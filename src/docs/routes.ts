// The documentation's addresses: the OpenAPI document, and the manual that renders it and the guides.

import { Type } from "@sinclair/typebox";
import { anyObject } from "../http/endpoint.ts";
import type { EndpointText, ServedEndpoint } from "../http/served-endpoint.ts";
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

const pageBody = () => ({ type: "text/html", schema: Type.String() });

const get = (
  path: string,
  id: string,
  handle: Handler,
  describe: () => Pick<EndpointText, "summary" | "answer" | "parameters" | "otherFailures">,
): ServedEndpoint<DocsDeps> => ({
  ...{ method: "GET", path, access: "open", handle },
  describe: () => ({ id, group: "Status", description: "Needs no key.", ...describe() }),
});

/** `/openapi.json`, `/docs` and what is below it. */
export const DOCS_ENDPOINTS: readonly ServedEndpoint<DocsDeps>[] = [
  get(
    "/openapi.json",
    "getOpenapi",
    async (deps, { request }) => Response.json(await deps.document(originOf(deps, request))),
    () => ({
      summary: "This document",
      answer: {
        description: "OpenAPI 3.1, with the address under which it was asked for as its server.",
        schema: anyObject("An OpenAPI document."),
      },
    }),
  ),
  get("/docs", "getManual", page, () => ({
    summary: "The manual",
    answer: { description: "An overview of guides and reference. Loads nothing from elsewhere.", ...pageBody() },
  })),
  get("/docs/*", "getManualPage", page, () => ({
    summary: "A page of the manual",
    parameters: [
      {
        name: "page",
        in: "path",
        schema: Type.String({ description: "As `guides/start` or `api/chat`." }),
        example: "guides/start",
      },
    ],
    answer: { description: "The page.", ...pageBody() },
    otherFailures: [{ status: 404, description: "there is no such page, and this one says so", ...pageBody() }],
  })),
];
