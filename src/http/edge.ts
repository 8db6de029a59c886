// The edge around every route: request ids, CORS, 404 and 405, maintenance, response headers, the log line, and the final
// handling of errors. Whatever a route does, the client gets the error format and the id.

import { ApiError, type ErrorBody } from "../base/errors.ts";
import { lazily } from "../base/lazily.ts";
import { isFull } from "../base/unreachable.ts";
import type { Tracer } from "../telemetry/span.ts";
import { createBodyBudget } from "./body-budget.ts";
import { EdgeExchange } from "./edge-exchange.ts";
import { asApiError, errorResponse } from "./errors.ts";
import { bindExchange, type Exchange, exchangeOf } from "./exchange.ts";
import { LaterResponse, type OutcomeListener } from "./outcome.ts";
import { pathOf } from "./path.ts";
import type { Peer } from "./peer.ts";
import { noteError } from "./request-end.ts";
import { EventStream, SSE_HEADERS } from "./sse-response.ts";
import { UsualHeaders } from "./usual-headers.ts";
import { type WholeContent, wholeBody } from "./whole-body.ts";

/** A registered route, as the framework lists it: `/v1/models/:id`, `/dashboard/*`. */
export interface RoutePattern {
  method: string;
  path: string;
  /** Present if it stands for further routes, which are made when one of them is needed. */
  within?: () => readonly RoutePattern[];
}

/** How the endpoints at a path differ from others. */
export interface EndpointTraits {
  /** Builds the body of an HTTP error. If absent, the body is `{error}` alone. */
  envelope?(error: ErrorBody, requestId: string, status: number): Record<string, unknown>;
  /** An additional response header that contains the request's id. */
  requestIdHeader?: string;
}

/** The meaning of another service's address on this gateway. */
export interface Alias {
  readonly path: string;
  /** The model in the address, which takes precedence over the body's. */
  readonly model?: string;
  /** Members that the address states in place of the body. They are not added to the body's text. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** An additional header in which the key may be sent. */
  readonly keyHeader?: string;
}

/** What the edge knows of the program's paths. */
export interface PathRules {
  /** The alias for a path; undefined for the gateway's own paths. The path is percent-encoded UTF-8. */
  alias(path: string): Alias | undefined;
  /** Whether scripts of any origin may call the path, since keys are sent in headers. */
  isApi(path: string): boolean;
  /** Whether the path is closed during maintenance. */
  isClosable(path: string): boolean;
  traits(path: string): EndpointTraits | undefined;
  /** Response headers that browsers may read, as the value of `Access-Control-Expose-Headers`. */
  exposedHeaders: string;
}

/** A JSON answer of which the edge makes the response, with all headers at once. */
export class JsonText {
  readonly text: WholeContent;
  constructor(text: WholeContent) {
    this.text = text;
  }

  /** The response without the headers of the edge, for those that read it themselves. */
  response(): Response {
    return new Response(wholeBody(this.text), { headers: JSON_TYPE });
  }
}

/** A route that bypasses the framework's router. */
export type DirectRoute = (request: Request) => Promise<Response>;

/** What a route may answer. */
export type RouteAnswer = Response | JsonText | EventStream;

/** The same for those that need no promise of their own. Tells the listener later, never at once; may throw at once instead. */
export type HeardRoute = (request: Request, listener: OutcomeListener<RouteAnswer>) => void;

export interface EdgeDeps {
  paths: PathRules;
  /** The routes behind the edge. */
  handle(request: Request): Response | Promise<Response>;
  /** POST routes by exact path that bypass the framework's router, as they are the busiest ones. */
  direct: ReadonlyMap<string, HeardRoute>;
  /** The same for GET routes, which are asked while nothing else is. */
  directGets?: ReadonlyMap<string, DirectRoute>;
  routes(): readonly RoutePattern[];
  /** Makes a UUID. */
  makeRequestId(): string;
  /** The state of maintenance; undefined if there is none. */
  maintenance(): { retryAfterSeconds: number; message: string } | undefined;
  /** The client's address and scheme. Forwarded headers only count if a trusted proxy sends them. */
  peer(request: Request): Peer;
  /** The memory budget for bodies of all requests. */
  bodyBudgetBytes(): number;
  /** Absent while tracing is off. */
  tracer?: Tracer | undefined;
  /** Called once for each request when its response is complete, so that its connection is free for the next one. */
  release(request: Request): void;
  /** Called once for each request when its response is complete. */
  finished(exchange: Exchange, status: number): void;
  /** Called for an unexpected error. */
  unexpected(exchange: Exchange, cause: unknown): void;
}

const JSON_TYPE = { "content-type": "application/json" };
const LOGGED_PATH_CHARS_MAX = 200;
const METHODS = "GET, POST, DELETE, PUT, PATCH, OPTIONS";

/** Creates the server's function that answers requests. */
export function createEdge(deps: EdgeDeps): (request: Request) => Response | Promise<Response> {
  const matchers = lazily(() => compileRoutes(deps.routes()));
  const edge = { ...deps, routeOf: routeFinder(deps, matchers), bodies: createBodyBudget(deps.bodyBudgetBytes) };

  const ends = createEnds(deps, matchers);
  const { finish, close, fail } = ends;
  return (request) => {
    const asked = pathOf(request.url);
    const isBroken = asked.includes("%") && !isEncoded(asked);
    const alias = isBroken ? undefined : deps.paths.alias(asked);
    const path = alias?.path ?? asked;
    if (alias !== undefined) readdress(request, asked, path);
    const { method } = request;
    const exchange = new EdgeExchange(request, { method, path }, edge);
    exchange.alias = alias;
    if (alias !== undefined) exchange.log["asked"] = asked.slice(0, LOGGED_PATH_CHARS_MAX);
    bindExchange(request, exchange);
    try {
      if (isBroken) throw new ApiError("invalid_request", "The path is not percent-encoded UTF-8.");
      const early = before(request, exchange, deps);
      if (early !== undefined) return finish(exchange, early);
      const heard = method === "POST" ? deps.direct.get(path) : undefined;
      if (heard !== undefined) {
        const outcome = new LaterResponse(ends, request);
        heard(request, outcome);
        return outcome.response;
      }
      const direct = method === "GET" ? deps.directGets?.get(path) : undefined;
      const answer =
        direct !== undefined ? direct(request) : method === "HEAD" ? asGet(request, deps.handle) : deps.handle(request);
      return answer instanceof Response ? close(request, answer) : closeLater(request, answer, ends);
    } catch (thrown) {
      return fail(request, thrown);
    }
  };
}

function closeLater(
  request: Request,
  answer: Promise<Response | JsonText>,
  { close, fail }: ReturnType<typeof createEnds>,
): Promise<Response> {
  return answer.then(
    (response) => close(request, response),
    (thrown) => fail(request, thrown),
  );
}

/** How requests end: with a response, with an answer of which the edge makes one, or with an error. */
function createEnds(deps: EdgeDeps, matchers: () => readonly RouteMatcher[]) {
  const factsOf = pathFacts(deps);
  const finish = (exchange: Exchange, response: Response): Response => {
    const { headers } = response;
    headers.set("x-request-id", exchange.requestId);
    const { idHeader, isApi } = factsOf(exchange.path);
    if (idHeader !== undefined) headers.set(idHeader, exchange.requestId);
    for (const name in exchange.headers) headers.set(name, exchange.headers[name] as string);
    if (isApi) {
      headers.set("access-control-allow-origin", "*");
      headers.set("access-control-expose-headers", deps.paths.exposedHeaders);
    }
    if (!exchange.streaming) exchange.finish(response.status);
    // For HEAD, the server sends the headers alone, with the length of the body if it is known, and cancels a stream.
    return exchange.wire === undefined ? response : exchange.wire.response(response);
  };

  const finishText = (exchange: Exchange, answer: JsonText): Response => {
    if (exchange.wire !== undefined) return finish(exchange, answer.response());
    const response = new Response(wholeBody(answer.text), {
      headers: factsOf(exchange.path).json().of(exchange.requestId, exchange.headers),
    });
    exchange.finish(200);
    return response;
  };

  const finishStream = (exchange: Exchange, answer: EventStream): Response => {
    if (exchange.wire !== undefined) return finish(exchange, answer.response());
    const headers = factsOf(exchange.path).events().of(exchange.requestId, exchange.headers);
    const response = new Response(answer.stream, { headers });
    if (!exchange.streaming) exchange.finish(200);
    return response;
  };

  const fail = (request: Request, thrown: unknown): Response => {
    const exchange = exchangeOf(request);
    let error = asApiError(thrown);
    if (error.apiCode === "internal_error" || isFull(error.detail.cause))
      deps.unexpected(exchange, error.detail.cause ?? thrown);
    if (error.apiCode === "route_not_found") error = methodError(exchange, matchers()) ?? error;
    noteError(exchange, error);
    // Whatever the outcome, the client had left.
    if (request.signal.aborted) exchange.log["client_gone"] = true;
    // The text of a provider may quote the prompt, so it is not logged; the gateway's own texts never do.
    if (error.status < 500 && error.detail.cause === undefined) exchange.log["reason"] = error.message;
    const envelope = deps.paths.traits(exchange.path)?.envelope;
    const { requestId } = exchange;
    return finish(
      exchange,
      errorResponse(error, envelope === undefined ? undefined : (body) => envelope(body, requestId, error.status)),
    );
  };

  const close = (request: Request, answer: RouteAnswer): Response => {
    const exchange = exchangeOf(request);
    if (exchange.thrown !== undefined) return fail(request, exchange.thrown);
    if (answer instanceof JsonText) return finishText(exchange, answer);
    return answer instanceof EventStream ? finishStream(exchange, answer) : finish(exchange, answer);
  };
  return { finish, close, fail };
}

/** What response headers depend on. */
interface PathFacts {
  readonly idHeader: string | undefined;
  readonly isApi: boolean;
  /** Makes the headers of JSON answers. */
  json(): UsualHeaders;
  /** The same for streams of events. */
  events(): UsualHeaders;
}

/** Finds the facts of paths. Those of the busiest paths are kept. */
function pathFacts({ paths, direct }: Pick<EdgeDeps, "paths" | "direct">): (path: string) => PathFacts {
  const made = (path: string): PathFacts => {
    const isApi = paths.isApi(path);
    const shared = { "access-control-allow-origin": "*", "access-control-expose-headers": paths.exposedHeaders };
    const idHeader = paths.traits(path)?.requestIdHeader;
    return {
      idHeader,
      isApi,
      json: lazily(() => new UsualHeaders({ ...JSON_TYPE, ...(isApi ? shared : {}) }, idHeader)),
      events: lazily(() => new UsualHeaders({ ...SSE_HEADERS, ...(isApi ? shared : {}) }, idHeader)),
    };
  };
  const kept = new Map([...direct.keys()].map((path) => [path, made(path)]));
  return (path) => kept.get(path) ?? made(path);
}

/** Responses that are decided before any route: preflights, invalid Host headers and paths, maintenance. */
function before(request: Request, { method, path }: Exchange, deps: EdgeDeps): Response | undefined {
  // Two Host headers arrive as one, joined by a comma. It must not be ambiguous which of them counts.
  if (request.headers.get("host")?.includes(","))
    throw new ApiError("invalid_request", "Expected exactly one Host header.");
  if (method === "OPTIONS" && deps.paths.isApi(path)) return preflight(request);
  const closed = deps.maintenance();
  if (closed === undefined || !deps.paths.isClosable(path)) return undefined;
  throw new ApiError("service_maintenance", closed.message || "The service is under maintenance. Try again later.", {
    retryAfterSeconds: closed.retryAfterSeconds,
  });
}

/** Continues a request under another path, with its body, signal and socket. A copy of the request would lose the socket. */
function readdress(request: Request, asked: string, path: string): void {
  const at = request.url.indexOf(asked, request.url.indexOf("://") + 3);
  const url = request.url.slice(0, at) + path + request.url.slice(at + asked.length);
  Object.defineProperty(request, "url", { value: url });
}

/**
 * Handles a HEAD request as GET. The framework would read the whole body for its length, and that of a stream may never end. The
 * exchange tells the request's own method.
 */
function asGet(request: Request, handle: EdgeDeps["handle"]): Response | Promise<Response> {
  Object.defineProperty(request, "method", { value: "GET" });
  return handle(request);
}

/** Whether the path can be decoded, since routes get decoded parameters. */
function isEncoded(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** The answer to a CORS preflight, without credentials. Keys are sent in headers, so any origin may call. */
function preflight(request: Request): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": METHODS,
      "access-control-allow-headers": request.headers.get("access-control-request-headers") ?? "*",
      "access-control-max-age": "86400",
      vary: "Access-Control-Request-Headers",
    },
  });
}

/** The 405 with `Allow` if the path is known for another method. */
function methodError(exchange: Exchange, matchers: readonly RouteMatcher[]): ApiError | undefined {
  const allowed = new Set<string>();
  addMethods(exchange.path, matchers, allowed);
  if (allowed.has("GET")) allowed.add("HEAD");
  if (allowed.size === 0 || allowed.has(exchange.method)) return undefined;
  const allow = [...allowed].sort().join(", ");
  return new ApiError(
    "method_not_allowed",
    `${exchange.path.slice(0, 200)} accepts ${allow}, not ${exchange.method}.`,
    {
      headers: { allow },
    },
  );
}

function addMethods(path: string, matchers: readonly RouteMatcher[], allowed: Set<string>): void {
  for (const { method, pattern, within } of matchers) {
    if (!pattern.test(path)) continue;
    if (within === undefined) allowed.add(method);
    else addMethods(path, within(), allowed);
  }
}

/** Finds the pattern of a path. Plain paths, which all busy routes have, are found by one look-up. */
function routeFinder(
  { direct, directGets }: Pick<EdgeDeps, "direct" | "directGets">,
  matchers: () => readonly RouteMatcher[],
): (path: string) => string {
  const plain = lazily(() => new Set(matchers().flatMap(({ path }) => (/[:*]/.test(path) ? [] : [path]))));
  return (path) => {
    if (direct.has(path) || directGets?.has(path) === true || plain().has(path)) return path;
    return patternIn(matchers(), path) ?? "unmatched";
  };
}

function patternIn(matchers: readonly RouteMatcher[], path: string): string | undefined {
  for (const matcher of matchers) {
    if (!matcher.pattern.test(path)) continue;
    const within = matcher.within?.();
    // A plain path goes before patterns there too.
    const isPlain = within === undefined || within.some((one) => one.path === path);
    const found = isPlain ? (within === undefined ? matcher.path : path) : patternIn(within, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface RouteMatcher {
  method: string;
  path: string;
  pattern: RegExp;
  within: (() => readonly RouteMatcher[]) | undefined;
}

function compileRoutes(routes: readonly RoutePattern[]): RouteMatcher[] {
  return routes.map(({ method, path, within }) => {
    const source = path
      .split("/")
      .map((segment) => {
        if (segment === "*") return ".*";
        if (segment.startsWith(":")) return "[^/]+";
        return segment.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      })
      .join("/");
    return {
      method: method.toUpperCase(),
      path,
      pattern: new RegExp(`^${source}$`),
      within: within && lazily(() => compileRoutes(within())),
    };
  });
}
