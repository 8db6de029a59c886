// The descriptions of the documentation's addresses, for the documentation alone.

import { Type } from "@sinclair/typebox";
import { anyObject } from "../http/endpoint.ts";
import type { NamelessText } from "../http/served-endpoint.ts";

const COMMON = { group: "Status", description: "Needs no key." } as const;
const PAGE = { type: "text/html", schema: Type.String() };

/** The descriptions by the names of their operations. */
export const DOCS_TEXTS = {
  getOpenapi: {
    ...COMMON,
    summary: "This document",
    answer: {
      description: "OpenAPI 3.1, with the address under which it was asked for as its server.",
      schema: anyObject("An OpenAPI document."),
    },
  },
  getManual: {
    ...COMMON,
    summary: "The manual",
    answer: { description: "An overview of guides and reference. Loads nothing from elsewhere.", ...PAGE },
  },
  getManualPage: {
    ...COMMON,
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
  },
} satisfies Record<string, NamelessText>;
