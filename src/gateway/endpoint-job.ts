// One request at an endpoint for models that do not chat, as its call and its relay know it.

import type { JsonObject, ModelEndpoint } from "../catalog/endpoints/endpoint.ts";
import type { CatalogModel } from "../catalog/models.ts";
import type { Measured } from "../catalog/prices.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Upload } from "../http/upload.ts";
import type { Caller } from "./caller.ts";
import type { GatewayDeps } from "./deps.ts";

/** What the endpoints need of the rest of the program. */
export type EndpointDeps = Omit<GatewayDeps, "reasoning" | "threads" | "affinity">;

/** One request at an endpoint. */
export interface Asked {
  readonly request: Request;
  readonly endpoint: ModelEndpoint;
  readonly exchange: Exchange;
  readonly caller: Pick<Caller, "accountId" | "keyId">;
  readonly model: CatalogModel;
  /** The body as it came, where it is JSON. */
  readonly text: string;
  readonly body: JsonObject;
  readonly upload: Upload | undefined;
  readonly measured: Measured;
}

/** How a call ended. */
export interface Settled {
  readonly usage: Measured;
  readonly ttfbMs: number | null;
  /** The code of what broke the answer off, or what the client did. */
  readonly errorCode: string | null;
  readonly label: "ok" | "abandoned" | "interrupted";
}
