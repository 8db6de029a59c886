// The chat endpoints and related ones. The gateway reads the bodies itself, after admission, so that 401 comes before 400.

import { ApiError } from "../base/errors.ts";
import { lazily } from "../base/lazily.ts";
import type { ModelEndpoint } from "../catalog/endpoints/endpoint.ts";
import { MODEL_ENDPOINTS } from "../catalog/endpoints/index.ts";
import { type HeardRoute, JsonText } from "../http/edge.ts";
import { listResponse } from "../http/list-response.ts";
import type { OutcomeListener } from "../http/outcome.ts";
import { pathOf } from "../http/path.ts";
import { createRouter } from "../http/router.ts";
import { admittingEndpoint, endpointRoutes, openEndpoint, type ServedEndpoint } from "../http/served-endpoint.ts";
import { EventStream, sseResponse } from "../http/sse-response.ts";
import type { WireFormat } from "../wire/format.ts";
import { WIRE_FORMATS } from "../wire/index.ts";
import type { Gateway } from "./centre/pipeline.ts";
import type { Answer } from "./centre/stage.ts";
import {
  CONVERSATION_ENDPOINTS,
  type ConversationEndpointsDeps,
} from "./endpoints/conversations/conversation-endpoints.ts";
import { type StoredThreadsDeps, THREAD_ENDPOINTS } from "./endpoints/conversations/stored-threads.ts";
import { FILE_ENDPOINTS, type UploadDeps } from "./endpoints/files/uploads.ts";
import { NOT_OFFERED_PATHS, refuseNotOffered } from "./endpoints/not-offered.ts";
import { STORED_RESPONSES, type StoredResponsesDeps } from "./endpoints/responses/stored-responses.ts";
import { gatewayText, textOfPath } from "./endpoints/texts.ts";

/**
 * The endpoints of models for requests that do not go through the router, which would take a tenth of a request's time. The handlers
 * are the same as those of the routes.
 */
export function directRoutes({
  gateway,
  modelEndpoint,
}: Pick<GatewayRoutesDeps, "gateway" | "modelEndpoint">): Map<string, HeardRoute> {
  const others = MODEL_ENDPOINTS.map((endpoint): [string, HeardRoute] => [
    endpoint.path,
    (request, listener) => modelEndpoint.answer(request, endpoint, listener),
  ]);
  return new Map([
    ...others,
    ...WIRE_FORMATS.flatMap((format) => {
      const shown = (answer: Answer, request: Request) =>
        "source" in answer ? streamed(answer, request, format) : new JsonText(answer.text);
      const answer: HeardRoute = (request, listener) => gateway.answer(request, format, { shown, listener });
      return pathsOf(format).map((path) => [path, answer] as const);
    }),
  ]);
}

function pathsOf({ path, streamPath }: WireFormat): readonly string[] {
  return streamPath === undefined ? [path] : [path, streamPath];
}

/** Answers a chat request over HTTP. */
export async function respond(gateway: Gateway, request: Request, format: WireFormat): Promise<Response> {
  const answer = await gateway.handle(request, format);
  if ("source" in answer) {
    const shown = streamed(answer, request, format);
    return shown instanceof EventStream ? shown.response() : shown;
  }
  return new Response(answer.text, { headers: { "content-type": "application/json" } });
}

type StreamedAnswer = Extract<Answer, { source: unknown }>;

function streamed(
  { source, keepalive, left }: StreamedAnswer,
  request: Request,
  { edge, streamPath }: WireFormat,
): Response | EventStream {
  const signal = left ?? request.signal;
  if (streamPath !== undefined && pathOf(request.url) === streamPath && edge?.streamsList?.(request) === true) {
    return listResponse(source, signal);
  }
  const type = edge?.streamType;
  if (type === undefined) return new EventStream(source, { keepalive, signal });
  return sseResponse(source, { keepalive, signal, headers: { "content-type": type } });
}

export interface GatewayRoutesDeps {
  readonly gateway: Gateway;
  readonly responses: StoredResponsesDeps;
  readonly files: UploadDeps;
  readonly threads: StoredThreadsDeps;
  readonly conversations: ConversationEndpointsDeps;
  /** Answers `POST /v1/responses/compact`. */
  compact(request: Request): Promise<Response>;
  /** Answers requests to endpoints of models that do not chat. */
  readonly modelEndpoint: {
    handle(request: Request, endpoint: ModelEndpoint): Promise<Response | JsonText>;
    answer(request: Request, endpoint: ModelEndpoint, listener: OutcomeListener<Response | JsonText>): void;
  };
  /** Answers `POST /v1/messages/count_tokens`. */
  countTokens(request: Request): Promise<Response>;
  /** Answers `countTokens` of Gemini's API. */
  countGeminiTokens(request: Request): Promise<Response>;
  /** Answers `POST /v1/responses/input_tokens`. */
  inputTokens(request: Request): Promise<Response>;
  /** Answers every method on `/v1/upstream/{provider}/*`. */
  passthrough(request: Request): Promise<Response>;
}

type GatewayEndpoint = ServedEndpoint<GatewayRoutesDeps>;

const counted = (path: string, how: Pick<GatewayEndpoint, "handle" | "describe">) =>
  // A chat's admission must not take a turn of the event loop, so the handlers admit.
  admittingEndpoint("counted", "POST", path, how);

/** The endpoints of a group, with its own member of what all need. */
const groupOf = <Name extends "responses" | "files" | "threads" | "conversations">(
  name: Name,
  endpoints: readonly ServedEndpoint<GatewayRoutesDeps[Name]>[],
): GatewayEndpoint[] =>
  endpoints.map((endpoint) => ({ ...endpoint, handle: (deps, call) => endpoint.handle(deps[name], call) }));

const CHATS = WIRE_FORMATS.flatMap((format) =>
  pathsOf(format).map((path) =>
    counted(path, {
      describe: textOfPath(path),
      handle: ({ gateway }, { request }) => respond(gateway, request, format),
    }),
  ),
);

const OF_MODELS = MODEL_ENDPOINTS.map((endpoint) =>
  counted(endpoint.path, {
    describe: textOfPath(endpoint.path),
    handle: async ({ modelEndpoint }, { request }) => {
      const answer = await modelEndpoint.handle(request, endpoint);
      return answer instanceof JsonText ? answer.response() : answer;
    },
  }),
);

const PASSTHROUGH_PATH = "/v1/upstream/*";

const PASSTHROUGH = (
  [
    ["GET", "passthroughGet"],
    ["POST", "passthroughPost"],
    ["PUT", "passthroughPut"],
    ["PATCH", "passthroughPatch"],
    ["DELETE", "passthroughDelete"],
  ] as const
).map(([method, id]) =>
  admittingEndpoint("counted", method, PASSTHROUGH_PATH, {
    describe: gatewayText(id),
    handle: ({ passthrough }, { request }) => passthrough(request),
  }),
);

/** The endpoints of all client formats, of stored responses and files, and of models that do not chat. */
export const GATEWAY_ENDPOINTS: readonly GatewayEndpoint[] = [
  ...CHATS,
  counted("/v1/responses/compact", {
    describe: gatewayText("compactResponse"),
    handle: ({ compact }, { request }) => compact(request),
  }),
  ...groupOf("responses", STORED_RESPONSES),
  admittingEndpoint("key", "POST", "/v1/responses/input_tokens", {
    describe: gatewayText("countResponseInputTokens"),
    handle: ({ inputTokens }, { request }) => inputTokens(request),
  }),
  admittingEndpoint("key", "POST", "/v1/messages/count_tokens", {
    describe: gatewayText("countMessageTokens"),
    handle: ({ countTokens }, { request }) => countTokens(request),
  }),
  admittingEndpoint("key", "POST", "/v1beta/countTokens", {
    describe: gatewayText("countGeminiTokens"),
    handle: ({ countGeminiTokens }, { request }) => countGeminiTokens(request),
  }),
  ...groupOf("conversations", CONVERSATION_ENDPOINTS),
  ...groupOf("files", FILE_ENDPOINTS),
  ...groupOf("threads", THREAD_ENDPOINTS),
  openEndpoint("POST", "/v1/moderations", {
    describe: gatewayText("createModeration"),
    handle: () => {
      throw new ApiError("not_implemented", "This gateway does not implement moderation.");
    },
  }),
  ...OF_MODELS,
  ...PASSTHROUGH,
];

/** The routes of the endpoints, and of those that are not offered, made when they are first asked for. */
export function gatewayRoutes(deps: GatewayRoutesDeps) {
  return lazily(() => {
    const app = createRouter();
    for (const path of NOT_OFFERED_PATHS) {
      const refuse = () => refuseNotOffered(path);
      for (const at of [path, `${path}/*`]) {
        app.get(at, refuse).post(at, refuse, { parse: "none" }).delete(at, refuse, { parse: "none" });
      }
    }
    return (
      app
        .use(endpointRoutes(GATEWAY_ENDPOINTS, deps)())
        // The other methods: HEAD and OPTIONS are forwarded too, and the handler refuses the rest.
        .all(PASSTHROUGH_PATH, ({ request }) => deps.passthrough(request), { parse: "none" })
    );
  });
}
