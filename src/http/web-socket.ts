// WebSockets behind the edge: a route says that it takes an upgrade and what it does with the socket; the listener, which
// alone can, makes the upgrade once the edge has let the request through.

/** An open socket. */
export interface SocketSession {
  /** Text. What the client does not take in time ends the connection. */
  send(text: string): void;
  close(code: number, reason: string): void;
  /** Bytes that wait to be taken. */
  buffered(): number;
  /** Aborts when the connection has ended, whoever ended it. */
  readonly closed: AbortSignal;
}

/** What a route does with the socket. */
export interface SocketPlan {
  /** The one of the client's subprotocols that is spoken. */
  readonly protocol?: string;
  opened(session: SocketSession): void;
  /** The connection has ended, or was never opened. */
  ended(): void;
}

const plans = new WeakMap<Request, SocketPlan>();

/** Whether a request asks for a socket. */
export function wantsSocket(request: Request): boolean {
  return request.headers.get("upgrade")?.toLowerCase() === "websocket";
}

/** The subprotocols that the client offers. */
export function offeredProtocols(request: Request): string[] {
  const names = request.headers.get("sec-websocket-protocol") ?? "";
  return names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** Takes the upgrade; the response only stands for it. */
export function takeSocket(request: Request, plan: SocketPlan): Response {
  plans.set(request, plan);
  return new Response(null);
}

/** What was decided for a request; once. */
export function socketPlanOf(request: Request): SocketPlan | undefined {
  const plan = plans.get(request);
  plans.delete(request);
  return plan;
}
