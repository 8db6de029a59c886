// One request to an endpoint of models that do not chat, as the code that calls a provider and the code that relays the answer
// need it.

import type { JsonObject, ModelEndpoint } from "../../../catalog/endpoints/endpoint.ts";
import type { CatalogModel } from "../../../catalog/models.ts";
import type { Measured } from "../../../catalog/prices.ts";
import type { Exchange } from "../../../http/exchange.ts";
import type { Upload } from "../../../http/upload.ts";
import type { Caller } from "../../admission/caller.ts";
import type { GatewayDeps } from "../../centre/deps.ts";

/** What these endpoints need from the rest of the program. */
export type EndpointDeps = Omit<GatewayDeps, "stages" | "sealed">;

/** One request to an endpoint. */
export interface Asked {
  readonly request: Request;
  readonly endpoint: ModelEndpoint;
  readonly exchange: Exchange;
  readonly caller: Pick<Caller, "accountId" | "keyId">;
  readonly model: CatalogModel;
  /** The body as it was received, if it is JSON. */
  readonly text: string;
  readonly body: JsonObject;
  readonly upload: Upload | undefined;
  readonly measured: Measured;
}

/** The fields of a form as a body: a field that occurs once has its value, another one a list. */
export function fieldsAsBody(fields: Upload["fields"]): JsonObject {
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

/** The outcome of a call. */
export interface Settled {
  readonly usage: Measured;
  readonly ttfbMs: number | null;
  /** The code of the error that ended the answer, or of the client's abort. */
  readonly errorCode: string | null;
  readonly label: "ok" | "abandoned" | "interrupted";
}
