// Common parts of the OpenAPI descriptions of web endpoints that read pages or search.

import type { TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../base/errors.ts";
import type { NamelessText } from "../http/served-endpoint.ts";
import type { WebFeature } from "./failure.ts";

/** The errors with which a feature may fail. */
function failuresOf(feature: WebFeature): ErrorCode[] {
  return [
    `${feature}_timeout`,
    `${feature}_upstream_error`,
    `${feature}_unavailable`,
    `${feature}_internal_error`,
    "url_not_allowed",
  ];
}

/** The description of an endpoint of a feature. */
export const textOfFeature = (
  more: Pick<NamelessText, "summary" | "description" | "answer"> & {
    feature: WebFeature;
    schema: TSchema;
    example: unknown;
    errors?: readonly ErrorCode[];
  },
): NamelessText => ({
  group: "Web",
  summary: more.summary,
  description: more.description,
  body: { schema: more.schema, examples: { plain: more.example } },
  answer: more.answer,
  errors: [...failuresOf(more.feature), ...(more.errors ?? [])],
});
