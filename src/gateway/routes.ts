// The chat endpoints and related ones. The gateway reads the bodies itself, after admission, so that 401 comes before 400.

import { Elysia } from "elysia";
import { ApiError } from "../base/errors.ts";
import type { ModelEndpoint } from "../catalog/endpoints/endpoint.ts";
import { MODEL_ENDPOINTS } from "../catalog/endpoints/index.ts";
import { sseResponse } from "../http/sse-response.ts";
import type { WireFormat } from "../wire/format.ts";
import { WIRE_FORMATS } from "../wire/index.ts";
import type { Gateway } from "./centre/pipeline.ts";
import type { ConversationEndpoints as ConversationObjects } from "./endpoints/conversations/conversation-endpoints.ts";
import type { StoredThreads } from "./endpoints/conversations/stored-threads.ts";
import type { Uploads } from "./endpoints/files/uploads.ts";
import { NOT_OFFERED_PATHS, refuseNotOffered } from "./endpoints/not-offered.ts";
import type { StoredResponses } from "./endpoints/responses/stored-responses.ts";

/**
 * The chat endpoints for requests that do not go through the router, which would take a tenth of a request's time. The handlers
 * are the same as those of the routes.
 */
export function directRoutes(gateway: Gateway): Map<string, (request: Request) => Promise<Response>> {
  return new Map(WIRE_FORMATS.map((format) => [format.path, (request: Request) => respond(gateway, request, format)]));
}

/** Answers a chat request over HTTP. */
export async function respond(gateway: Gateway, request: Request, format: WireFormat): Promise<Response> {
  const answer = await gateway.handle(request, format);
  if ("source" in answer) return sseResponse(answer.source, { keepalive: answer.keepalive, signal: request.signal });
  return new Response(answer.text, { headers: { "content-type": "application/json" } });
}

export interface GatewayRoutesDeps {
  gateway: Gateway;
  responses: StoredResponses;
  uploads: Uploads;
  threads: StoredThreads;
  conversationObjects: ConversationObjects;
  /** Answers `POST /v1/responses/compact`. */
  compact(request: Request): Promise<Response>;
  /** Answers a request to an endpoint of models that do not chat. */
  modelEndpoint(request: Request, endpoint: ModelEndpoint): Promise<Response>;
  /** Answers `POST /v1/messages/count_tokens`. */
  countTokens(request: Request): Promise<Response>;
  /** Answers `POST /v1/responses/input_tokens`. */
  inputTokens(request: Request): Promise<Response>;
  /** Answers every method on `/v1/upstream/{provider}/*`. */
  passthrough(request: Request): Promise<Response>;
}

/** The routes of all client formats, of stored responses and files, and of endpoints that are not offered. */
export function gatewayRoutes(deps: GatewayRoutesDeps) {
  const {
    gateway,
    responses,
    uploads,
    threads,
    conversationObjects: conversations,
    compact,
    countTokens,
    inputTokens,
    modelEndpoint,
  } = deps;
  const app = new Elysia();
  for (const format of WIRE_FORMATS) {
    app.post(format.path, ({ request }) => respond(gateway, request, format), { parse: "none" });
  }
  for (const endpoint of MODEL_ENDPOINTS) {
    app.post(endpoint.path, ({ request }) => modelEndpoint(request, endpoint), { parse: "none" });
  }
  for (const path of NOT_OFFERED_PATHS) {
    const refuse = () => refuseNotOffered(path);
    for (const at of [path, `${path}/*`]) {
      app.get(at, refuse).post(at, refuse, { parse: "none" }).delete(at, refuse, { parse: "none" });
    }
  }
  return app
    .all("/v1/upstream/*", ({ request }) => deps.passthrough(request), { parse: "none" })
    .post("/v1/messages/count_tokens", ({ request }) => countTokens(request), { parse: "none" })
    .post("/v1/responses/compact", ({ request }) => compact(request), { parse: "none" })
    .post("/v1/responses/input_tokens", ({ request }) => inputTokens(request), { parse: "none" })
    .get("/v1/responses", () => responses.refuseSocket())
    .get("/v1/responses/:id", ({ request, params }) => responses.get(request, params.id))
    .get("/v1/responses/:id/input_items", ({ request, params }) => responses.inputItems(request, params.id))
    .delete("/v1/responses/:id", ({ request, params }) => responses.remove(request, params.id), { parse: "none" })
    .get("/v1/threads/:id", ({ request, params }) => threads.get(request, params.id))
    .delete("/v1/threads/:id", ({ request, params }) => threads.remove(request, params.id), { parse: "none" })
    .use(conversationRoutes(conversations))
    .post("/v1/files", ({ request }) => uploads.upload(request), { parse: "none" })
    .get("/v1/files", ({ request }) => uploads.list(request))
    .get("/v1/files/:id", ({ request, params }) => uploads.get(request, params.id))
    .get("/v1/files/:id/content", ({ request, params }) => uploads.content(request, params.id))
    .delete("/v1/files/:id", ({ request, params }) => uploads.remove(request, params.id), { parse: "none" })
    .post(
      "/v1/moderations",
      () => {
        throw new ApiError("not_implemented", "This gateway does not implement moderation.");
      },
      { parse: "none" },
    );
}

function conversationRoutes(conversations: ConversationObjects) {
  return new Elysia()
    .post("/v1/conversations", ({ request }) => conversations.create(request), { parse: "none" })
    .get("/v1/conversations/:id", ({ request, params }) => conversations.get(request, params.id))
    .post("/v1/conversations/:id", ({ request, params }) => conversations.change(request, params.id), { parse: "none" })
    .delete("/v1/conversations/:id", ({ request, params }) => conversations.remove(request, params.id), {
      parse: "none",
    })
    .get("/v1/conversations/:id/items", ({ request, params }) => conversations.listItems(request, params.id))
    .post("/v1/conversations/:id/items", ({ request, params }) => conversations.addItems(request, params.id), {
      parse: "none",
    })
    .get("/v1/conversations/:id/items/:item", ({ request, params }) =>
      conversations.getItem(request, params.id, params.item),
    )
    .delete(
      "/v1/conversations/:id/items/:item",
      ({ request, params }) => conversations.removeItem(request, params.id, params.item),
      { parse: "none" },
    );
}
