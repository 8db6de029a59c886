// How the documentation describes errors at the endpoints of Ollama's API.

import { Type } from "@sinclair/typebox";
import { ERRORS } from "../base/errors.ts";
import type { ErrorShape, Group } from "../http/endpoint.ts";

/** The group of these endpoints. */
export const OLLAMA_GROUP: Group = "For Ollama's clients";

/** The format of errors. */
export const OLLAMA_ERRORS: ErrorShape = {
  schema: Type.Object(
    {
      error: Type.String({ description: "A sentence for people." }),
      code: Type.String({ description: "The code, as in the format of the other endpoints." }),
      param: Type.Optional(Type.String({ description: "The member that is wrong." })),
    },
    { $id: "OllamaError" },
  ),
  statusOf: (code) => ERRORS[code].status,
};
