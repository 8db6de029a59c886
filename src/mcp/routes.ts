// POST /mcp: the tools over HTTP, for both generations of the protocol and without sessions. A request is checked
// (page, host name, key) and read here, and the SDK answers it. GET and DELETE need sessions, so they are answered with
// 405.

import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { AtOnce } from "../base/at-once.ts";
import { ApiError } from "../base/errors.ts";
import { isRecord } from "../base/json-object.ts";
import { lazily } from "../base/lazily.ts";
import { type BodyLimits, readJsonValue } from "../http/body.ts";
import { type Exchange, exchangeOf } from "../http/exchange.ts";
import type { CallEndpoint, InnerCaller } from "../http/inner-call.ts";
import { admittingEndpoint, describedBy, endpointRoutes, type ServedEndpoint } from "../http/served-endpoint.ts";
import { sseResponse } from "../http/sse-response.ts";
import { checkOrigin, type OriginRules } from "./origins.ts";
import { RunningCalls } from "./running-calls.ts";
import type { McpClient, McpSdk, ServerDeps } from "./server.ts";
import type { ServedTools } from "./servers/servers.ts";
import type { Resources } from "./tool.ts";

/** The key of a request, and what it opens. */
interface KeyHolder {
  readonly keyId: string;
  readonly resources: Resources;
  /** The tools of other servers that its plan has. */
  readonly served: ServedTools;
}

/** What the endpoint needs. */
export interface McpRoutesDeps extends ServerDeps {
  origins(): OriginRules;
  /** Checks only the key. Throws 401. */
  authenticate(request: Request): AtOnce<KeyHolder>;
  bodyLimits(): BodyLimits;
  readonly call: CallEndpoint;
  /** Counts a call that no endpoint counts. Throws `ApiError`. */
  admit(request: Request, exchange: Exchange): AtOnce<unknown>;
}

/** Maximum size of a message. Arguments are short, and the largest input of a decision is less than a tenth of this. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Maximum number of messages in one request, in revisions of the protocol that allow several. Each may be a call. */
const BATCH_MAX = 20;
/**
 * Maximum number of values that the SDK checks one by one in all messages of a request: those at any depth, since it walks all of
 * what a client says that it can do, except those within an argument, which it leaves to the tool.
 */
const VALUES_MAX = 2000;
const USER_AGENT_CHARS = 200;
/** How long an answer, which may have a few megabytes, is kept for a client that does not read it. */
const UNREAD_MS = 60_000;

/** The rate limit headers of an answer to a single call. */
const RATE_HEADERS = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"].flatMap((name) => [
  name,
  `${name}-tokens`,
]);

const mcpText = describedBy(() => {
  const { MCP_TEXTS }: typeof import("./openapi.ts") = require("./openapi.ts");
  return MCP_TEXTS;
});

/** The endpoint. Its handler lets the caller in, since it first checks the page that the request comes from. */
export const MCP_ENDPOINTS: readonly ServedEndpoint<{ answer(request: Request): Promise<Response> }>[] = [
  admittingEndpoint("key", "POST", "/mcp", {
    describe: mcpText("callMcp"),
    handle: ({ answer }, { request }) => answer(request),
  }),
];

/** Creates the endpoint, and the function that stops it. */
export function createMcp(deps: McpRoutesDeps) {
  const running = new RunningCalls();
  let loading: Promise<McpHttpHandler> | undefined;
  const load = async (): Promise<McpHttpHandler> => {
    const sdk: McpSdk = await import("@modelcontextprotocol/server");
    const { createServer } = await import("./server.ts");
    return sdk.createMcpHandler(({ authInfo }) => createServer(sdk, deps, authInfo?.extra?.["client"] as McpClient), {
      // The keepalives of `streamed` also detect clients that do not read.
      keepAliveMs: 0,
      // Nothing is ever sent on these streams, so none may be opened.
      maxSubscriptions: 0,
    });
  };
  const answer = async (request: Request): Promise<Response> => {
    const exchange = exchangeOf(request);
    const origin = checkOrigin(request, deps.origins());
    if (origin !== undefined) Object.assign(exchange.headers, corsHeaders(origin));
    const holder = await authenticated(request, deps);
    exchange.log["key_id"] = holder.keyId;
    const body = await readMessage(request, deps);
    if (body instanceof Response) return body;
    const name = clientName(request, holder, exchange);
    for (const message of Array.isArray(body.value) ? body.value : [body.value])
      noteMessage(message, { exchange, running, name });
    loading ??= load();
    const handler = await loading;
    const client = clientOf(request, { ...holder, name, running, ...deps });
    const authInfo = { token: "", clientId: holder.keyId, scopes: [], extra: { client } };
    const response = await handler.fetch(request, { authInfo, parsedBody: body.value });
    if (response.status >= 500) deps.unexpected(new Error(`The SDK answered ${response.status}.`));
    return isStream(response) ? streamed(response, request, exchange) : response;
  };
  return {
    routes: lazily(() =>
      endpointRoutes(MCP_ENDPOINTS, { answer })().options("/mcp", ({ request }) => preflight(request, deps)),
    ),
    stop: async () => {
      await (await loading)?.close();
    },
  };
}

/**
 * A 401 in the form that clients of the protocol expect. It names no authorization server, since none issues tokens.
 */
async function authenticated(request: Request, deps: McpRoutesDeps): Promise<KeyHolder> {
  try {
    return await deps.authenticate(request);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    const headers = { ...error.detail.headers, "www-authenticate": 'Bearer error="invalid_token"' };
    throw new ApiError(error.apiCode, error.message, { ...error.detail, headers });
  }
}

/** The message or messages, or the protocol's own error for an invalid body. */
async function readMessage(request: Request, deps: McpRoutesDeps): Promise<Response | { readonly value: unknown }> {
  const limits = deps.bodyLimits();
  const type = request.headers.get("content-type");
  // The SDK refuses such a request before it reads a body.
  if (type === null || !/^\s*application\/json\s*(?:;|$)/i.test(type)) return { value: {} };
  try {
    const { value } = await readJsonValue(request, { ...limits, maxBytes: Math.min(BODY_BYTES_MAX, limits.maxBytes) });
    if (Array.isArray(value) && value.length > BATCH_MAX) {
      return protocolError(-32600, `A batch may have at most ${BATCH_MAX} messages.`);
    }
    if ((Array.isArray(value) ? value : [value]).reduce<number>(roomAfter, VALUES_MAX) < 0) {
      return protocolError(
        -32600,
        `A message may have at most ${VALUES_MAX} values, apart from those within an argument.`,
      );
    }
    return { value };
  } catch (error) {
    if (!(error instanceof ApiError) || error.apiCode !== "invalid_json") throw error;
    return protocolError(-32700, error.message);
  }
}

/** How many more values may follow those of a message; a negative number if it has too many. */
function roomAfter(room: number, message: unknown): number {
  const params = isRecord(message) ? message["params"] : undefined;
  const given = isRecord(params) ? params["arguments"] : undefined;
  const walk = (left: number, value: unknown): number => {
    if (typeof value !== "object" || value === null) return left;
    const members = Object.values(value);
    const rest = left - members.length;
    return rest < 0 || value === given
      ? rest
      : members.reduce<number>((most, member) => (most < 0 ? most : walk(most, member)), rest);
  };
  return walk(room, message);
}

function protocolError(code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status: 400 });
}

/** Identifies a client across its requests while it has calls in progress. */
function clientName(request: Request, { keyId }: KeyHolder, { address }: Exchange): string {
  return JSON.stringify([keyId, address, (request.headers.get("user-agent") ?? "").slice(0, USER_AGENT_CHARS)]);
}

/** Records the requested calls, and ends the call that a client has cancelled. */
function noteMessage(
  message: unknown,
  { exchange, running, name }: { exchange: Exchange; running: RunningCalls; name: string },
): void {
  if (typeof message !== "object" || message === null) return;
  const { method, params } = message as { method?: unknown; params?: { requestId?: unknown } | null };
  if (typeof method === "string") exchange.log["mcp_method"] = method.slice(0, 100);
  if (method === "notifications/cancelled") running.cancel(name, params?.requestId);
}

/** The client of a request; its calls of endpoints are made with its key. */
function clientOf(
  request: Request,
  {
    resources,
    served,
    name,
    running,
    call,
    admit,
  }: Pick<KeyHolder, "resources" | "served"> &
    Pick<McpRoutesDeps, "call" | "admit"> & { name: string; running: RunningCalls },
): McpClient {
  const exchange = exchangeOf(request);
  const { requestId, address, secure, isUnnamedProxy, span } = exchange;
  const authorization = request.headers.get("authorization") ?? `Bearer ${request.headers.get("x-api-key")?.trim()}`;
  const { origin } = new URL(request.url);
  const from: InnerCaller = { requestId, authorization, address, secure, isUnnamedProxy, origin, span };
  return {
    resources,
    signal: request.signal,
    call: (asked) => {
      const run = call(from, asked);
      const copy = () => {
        for (const header of RATE_HEADERS) {
          if (run.headers[header] !== undefined) exchange.headers[header] = run.headers[header];
        }
      };
      run.answer.then(copy, copy);
      return run;
    },
    served,
    admit: () => admit(request, exchange),
    begin: (id) => running.begin(name, id),
    called: (tool) => {
      exchange.log["tool"] = tool;
    },
  };
}

function isStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") === true && response.body !== null;
}

/**
 * A stream with keepalives. It ends when its client disconnects or stops reading, and then the exchange is finished.
 */
function streamed(response: Response, request: Request, exchange: Exchange): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  exchange.streaming = true;
  const finish = () => exchange.finish(response.status);
  const source = {
    async next(): Promise<string | undefined> {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (!done) return decoder.decode(value, { stream: true });
      finish();
      return undefined;
    },
    cancel(): void {
      exchange.log["client_gone"] = true;
      // A stream that has failed meanwhile need not be cancelled.
      reader.cancel().catch(() => undefined);
      finish();
    },
  };
  return sseResponse(source, { keepalive: ": keepalive\n\n", unreadMs: UNREAD_MS, signal: request.signal });
}

/** The CORS headers for pages that are allowed. */
function corsHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers":
      "WWW-Authenticate, X-Request-ID, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset",
    vary: "Origin",
  };
}

function preflight(request: Request, deps: McpRoutesDeps): Response {
  const origin = checkOrigin(request, deps.origins());
  return new Response(null, {
    status: 204,
    headers: {
      ...(origin === undefined ? {} : corsHeaders(origin)),
      "access-control-allow-methods": "POST, OPTIONS",
      "access-control-allow-headers": request.headers.get("access-control-request-headers") ?? "*",
      "access-control-max-age": "600",
    },
  });
}
