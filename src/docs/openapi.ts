// What the document says of itself and of the pages that render it.

import { type ApiEndpoint, anyObject } from "../http/endpoint.ts";

const get = (path: string, id: string, summary: string, answer: ApiEndpoint["answer"]): ApiEndpoint => ({
  method: "GET",
  path,
  id,
  group: "Status",
  summary,
  description: "Needs no key.",
  access: "open",
  answer,
});

/** The endpoints. */
export const DOCS_ENDPOINTS: readonly ApiEndpoint[] = [
  get("/openapi.json", "getOpenapi", "This document", {
    description: "OpenAPI 3.1, with the address under which it was asked for as its server.",
    schema: anyObject("An OpenAPI document."),
  }),
];
