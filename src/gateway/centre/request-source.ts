// Where a request comes from, and the connection over which it came, if it is one over which many come. Only a WebSocket is.

import type { Usage } from "../../chat/event.ts";

/** Who asks: a client, a row of a client's batch, or the gateway itself (a summary, an extraction, a probe). */
export const REQUEST_ORIGINS = ["client", "row", "inner"] as const;
export type RequestOrigin = (typeof REQUEST_ORIGINS)[number];

/** Where a request comes from. */
export interface RequestSource {
  readonly origin: RequestOrigin;
  /** The way by which it came in. */
  readonly edge: "http" | "websocket" | "batch" | "inner";
  /** The connection, if it is a WebSocket. */
  readonly connection?: ClientConnection | undefined;
}

/** The items of a conversation of the Responses API. */
type Items = readonly unknown[];

/** What a request knows of its connection. */
export interface ClientConnection {
  /** Whether the request only prepares what follows, so that no model is asked. */
  readonly isWarmUp: boolean;
  /** The answer of this id, if the connection holds it: the items up to it and its own, and whether it is stored. */
  held(id: string): { readonly items: Items; readonly isStored: boolean } | undefined;
  /** Takes the items that the request continues and its own. Its answer follows them. */
  asked(input: { readonly continued: string | undefined; readonly before: Items; readonly own: Items }): void;
  /** Holds the answer to the request. */
  hold(id: string, output: Items, isStored: boolean): void;
  /** Takes what the answer has used, when it is over, even if it was stopped. */
  spent(usage: Usage): void;
}

/** Absent until the first connection. */
let connections: WeakMap<Request, ClientConnection> | undefined;

/** Binds a request to its connection. */
export function bindConnection(request: Request, connection: ClientConnection): void {
  connections ??= new WeakMap();
  connections.set(request, connection);
}

/** A client's request over HTTP. */
export const HTTP_CLIENT: RequestSource = { origin: "client", edge: "http" };

/** Where a client's request comes from. */
export function sourceOf(request: Request): RequestSource {
  const connection = connections?.get(request);
  return connection === undefined ? HTTP_CLIENT : { origin: "client", edge: "websocket", connection };
}
