// The description of the paths that lead to a provider's own API.

import { pathId } from "../../http/endpoint.ts";
import type { NamelessText } from "../../http/served-endpoint.ts";

const passthrough = (method: string): NamelessText => ({
  group: "Models",
  summary: `Send ${method} to any path of a provider`,
  description: `The path consists of a provider's name in the configuration and the path below its base URL: \`/v1/upstream/openai/files\` leads to \`{base_url}/files\`.
Method, query, body and headers go up as they came, with the operator's credential in the place of the key; status, headers and
body come back as a stream. Tokens that an answer reports are written down. For keys made with \`--passthrough\` only.`,
  parameters: [pathId("target", "Provider and path.", "openai/files")],
  answer: { description: "The provider's answer, with its status.", type: "*/*" },
  errors: [
    "permission_denied",
    "provider_not_found",
    "request_too_large",
    "request_timeout",
    "provider_unavailable",
    // A credential of a cloud that cannot be had.
    "provider_auth_failed",
    "provider_timeout",
  ],
  otherFailures: (["4XX", "5XX"] as const).map((status) => ({
    status,
    description: "the provider's own failure, as it came",
    type: "*/*",
  })),
});

/** The descriptions by the names of their operations: one for each method, because the route accepts them all. */
export const PASSTHROUGH_TEXTS = {
  passthroughGet: passthrough("GET"),
  passthroughPost: passthrough("POST"),
  passthroughPut: passthrough("PUT"),
  passthroughPatch: passthrough("PATCH"),
  passthroughDelete: passthrough("DELETE"),
};
