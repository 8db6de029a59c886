// Where the descriptions of the gateway's endpoints stand. They are loaded for readers of the documentation only.

import { entryOf } from "../../base/json-object.ts";
import { describedBy, type EndpointText } from "../../http/served-endpoint.ts";

const load = () => {
  const { PATH_TEXTS, GATEWAY_TEXTS }: typeof import("../openapi/index.ts") = require("../openapi/index.ts");
  return { PATH_TEXTS, GATEWAY_TEXTS };
};

/** The description of an operation. */
export const gatewayText = describedBy(() => load().GATEWAY_TEXTS);

/** The description of a client format, or of an endpoint for models that do not chat. */
export function textOfPath(path: string): () => EndpointText {
  return () => {
    const text = entryOf(load().PATH_TEXTS, path);
    if (text === undefined) throw new Error(`POST ${path} has no description in src/gateway/openapi/.`);
    return text;
  };
}
