// Common parts of the OpenAPI descriptions of web endpoints that read pages or search.

import type { TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../base/errors.ts";
import type { ApiEndpoint } from "../http/endpoint.ts";
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

/** An endpoint of a feature. */
export const post = (
  path: string,
  more: Pick<ApiEndpoint, "id" | "summary" | "description"> & {
    feature: WebFeature;
    schema: TSchema;
    example: unknown;
    answer: ApiEndpoint["answer"];
    errors?: readonly ErrorCode[];
  },
): ApiEndpoint => ({
  method: "POST",
  path,
  id: more.id,
  group: "Web",
  summary: more.summary,
  description: more.description,
  access: "counted",
  body: { schema: more.schema, examples: { plain: more.example } },
  answer: more.answer,
  errors: [...failuresOf(more.feature), ...(more.errors ?? [])],
});
