// The OpenAPI description of the document itself and of the pages that render it.

import { Type } from "@sinclair/typebox";
import { type ApiEndpoint, anyObject } from "../http/endpoint.ts";

const PAGE = { type: "text/html", schema: Type.String() };

const get = (
  path: string,
  id: string,
  more: Pick<ApiEndpoint, "summary" | "answer" | "parameters" | "otherFailures">,
): ApiEndpoint => ({
  ...{ method: "GET", path, id, group: "Status", access: "open", description: "Needs no key." },
  ...more,
});

/** The endpoints. */
export const DOCS_ENDPOINTS: readonly ApiEndpoint[] = [
  get("/openapi.json", "getOpenapi", {
    summary: "This document",
    answer: {
      description: "OpenAPI 3.1, with the address under which it was asked for as its server.",
      schema: anyObject("An OpenAPI document."),
    },
  }),
  get("/docs", "getManual", {
    summary: "The manual",
    answer: { description: "An overview of guides and reference. Loads nothing from elsewhere.", ...PAGE },
  }),
  get("/docs/*", "getManualPage", {
    summary: "A page of the manual",
    parameters: [
      {
        name: "page",
        in: "path",
        schema: Type.String({ description: "As `guides/start` or `api/chat`." }),
        example: "guides/start",
      },
    ],
    answer: { description: "The page.", ...PAGE },
    otherFailures: [{ status: 404, description: "there is no such page, and this one says so", ...PAGE }],
  }),
];
