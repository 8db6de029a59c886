// WebSockets behind the edge. A route accepts the upgrade and defines how the socket is used. Only the listener can
// make the upgrade, which it does after the edge has admitted the request.

import { maybeExchangeOf } from "./exchange.ts";

/** An open socket. */
export interface SocketSession {
  /** Sends text. The connection is closed if the client reads too slowly. */
  send(text: string): void;
  close(code: number, reason: string): void;
  /** The number of bytes that wait to be sent. */
  buffered(): number;
  /** Answers a request as if the client of the connection had sent it over HTTP. */
  ask(request: Request): Response | Promise<Response>;
  /** Aborts when the connection has ended, whichever side ended it. */
  readonly closed: AbortSignal;
}

/** How a route uses the socket. */
export interface SocketPlan {
  /** The chosen one of the client's subprotocols. */
  readonly protocol?: string;
  opened(session: SocketSession): void;
  /** Takes a message; undefined for one that is not text. If absent, messages are ignored. */
  message?(text: string | undefined): void;
  /** Called when all that waited was sent. */
  drained?(): void;
  /** Called when the gateway stops: the route closes the connection as soon as it can. If absent, it is closed at once. */
  leaving?(): void;
  /** Called when the connection has ended, or was never opened. */
  ended(): void;
}

const plans = new WeakMap<Request, SocketPlan>();

/** Whether a request asks for a WebSocket. HEAD, which is handled as GET, cannot: a socket planned for it would never be opened. */
export function wantsSocket(request: Request): boolean {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return false;
  return (maybeExchangeOf(request)?.method ?? request.method) === "GET";
}

/** The subprotocols that the client offers. */
export function offeredProtocols(request: Request): string[] {
  const names = request.headers.get("sec-websocket-protocol") ?? "";
  return names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** The code with which a connection is closed because the gateway, or the connection's time, ends. */
export const GOING_AWAY = 1001;

/** Accepts the upgrade and returns a placeholder response. */
export function takeSocket(request: Request, plan: SocketPlan): Response {
  plans.set(request, plan);
  return new Response(null);
}

/** Returns what was decided for a request, once. */
export function socketPlanOf(request: Request): SocketPlan | undefined {
  const plan = plans.get(request);
  plans.delete(request);
  return plan;
}
