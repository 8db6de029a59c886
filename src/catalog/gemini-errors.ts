// How the documentation describes errors at the endpoints of Gemini's API.

import { Type } from "@sinclair/typebox";
import { ERRORS } from "../base/errors.ts";
import { anyObject, type ErrorShape, type Group } from "../http/endpoint.ts";

/** The group of these endpoints. */
export const GEMINI_GROUP: Group = "For Gemini's clients";

/** The format of errors. */
export const GEMINI_ERRORS: ErrorShape = {
  schema: Type.Object(
    {
      error: Type.Object({
        code: Type.Integer({ description: "The HTTP status." }),
        message: Type.String({ description: "A sentence for people." }),
        status: Type.String({ description: "The status as a word of Google's APIs, such as `INVALID_ARGUMENT`." }),
        details: Type.Array(
          Type.Object({
            reason: Type.String({ description: "The code, as in the format of the other endpoints." }),
            domain: Type.String(),
            metadata: anyObject("`type` and `request_id`, and as `param` the member that is wrong."),
          }),
        ),
      }),
    },
    { $id: "GeminiError" },
  ),
  statusOf: (code) => ERRORS[code].status,
};
