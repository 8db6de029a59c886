// Listens, and stops gracefully: no new connections, while open requests and streams may finish until the drain timeout.

import { type SocketPlan, socketPlanOf, wantsSocket } from "./web-socket.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/** An address to listen on. `url`, `link` and `port` are known once it is open, and throw before. */
export interface Listener {
  /** The address it listens on. */
  readonly url: string;
  /** The address for people on this machine: `localhost` if it listens on every interface. */
  readonly link: string;
  readonly port: number;
  /** Opens the port. Throws if it is taken. Requests wait until they are served. */
  open(): void;
  /** Passes requests to `fetch`, starting with the first. */
  serve(fetch: Fetch): void;
  /** The peer's address of a running request. */
  addressOf(request: Request): string;
  /** The request is answered: its connection is closed after an idle time, which is longer for a proxy's. */
  release(request: Request, isProxied: boolean): void;
  /**
   * Stops accepting, waits for open requests at most `drainMs`, then closes the rest. True if nothing had to be closed. A
   * second call does nothing, nor does a call before it is open.
   */
  stop(drainMs: number): Promise<boolean>;
}

/** Bodies above the configured limit are refused with the envelope; only above this does the HTTP parser refuse without one. */
const PARSER_BODY_MAX = Number.MAX_SAFE_INTEGER;

/**
 * The time includes the next request's headers, however slowly they arrive, without notice to us: so this also bounds them.
 * The parser counts in steps of four seconds; the limit for headers is 30 s.
 */
const IDLE_SECONDS = 28;
/** Longer than the idle timeout of common proxies, so that theirs ends first and no request meets a closed connection. */
const PROXY_IDLE_SECONDS = 125;

/** A listener that is not open yet. `port` 0 picks a free one. */
export function createListener(options: {
  host: string;
  port: number;
  /** Other processes may listen on the port too; the system shares the connections out. */
  reusePort?: boolean;
  /** How long a connection may lie idle between requests. */
  idleSeconds?: number;
  /** The same for a connection that a proxy uses for many clients. */
  proxyIdleSeconds?: number;
}): Listener {
  const { host, idleSeconds = IDLE_SECONDS, proxyIdleSeconds = PROXY_IDLE_SECONDS } = options;
  const sockets = createSockets();
  let opened: Bun.Server<SocketData> | undefined;
  let isStopped = false;
  let handler: Fetch | undefined;
  const served = Promise.withResolvers<Fetch>();
  const server = () => {
    if (opened === undefined) throw new Error("The listener is not open yet.");
    return opened;
  };
  const port = () => server().port ?? options.port;
  return {
    get url() {
      return originOf(host, port());
    },
    get link() {
      return linkOf(host, port());
    },
    get port() {
      return port();
    },
    open() {
      const wait: Fetch = async (request) => (await served.promise)(request);
      opened = bind(
        { hostname: host, port: options.port, reusePort: options.reusePort === true },
        (request) => (handler ?? wait)(request),
        sockets,
      );
    },
    serve(fetch) {
      handler = fetch;
      served.resolve(fetch);
    },
    addressOf: (request) => server().requestIP(request)?.address ?? "",
    release: (request, isProxied) => {
      // What has become a socket is no request any more.
      if (!sockets.has(request)) server().timeout(request, isProxied ? proxyIdleSeconds : idleSeconds);
    },
    async stop(drainMs) {
      if (opened === undefined || isStopped) return true;
      isStopped = true;
      const running = opened;
      sockets.close();
      const drained = running.stop().then(() => true);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<false>((resolve) => {
        timer = setTimeout(() => resolve(false), drainMs);
      });
      const whole = await Promise.race([drained, late]);
      clearTimeout(timer);
      if (!whole) await running.stop(true);
      return whole;
    },
  };
}

/** What a socket carries. */
interface SocketData {
  readonly plan: SocketPlan;
  readonly closed: AbortController;
}

/** From clients; they have nothing to say to those who only listen. */
const MESSAGE_BYTES_MAX = 64 * 1024;
/** What a client has not taken by then ends its connection. */
const BUFFERED_BYTES_MAX = 64 * 1024 * 1024;
const SOCKET_IDLE_SECONDS = 120;
const GOING_AWAY = 1001;

/** The open sockets, and what becomes of them. */
function createSockets() {
  const open = new Set<Bun.ServerWebSocket<SocketData>>();
  const upgraded = new WeakSet<Request>();
  return {
    has: (request: Request) => upgraded.has(request),
    /** Makes the upgrade where the routes took it. */
    async answer(
      answer: Response | Promise<Response>,
      request: Request,
      server: Bun.Server<SocketData>,
    ): Promise<Response | undefined> {
      const response = await answer;
      const plan = socketPlanOf(request);
      if (plan === undefined) return response;
      const headers = new Headers({ "x-request-id": response.headers.get("x-request-id") ?? "" });
      if (plan.protocol !== undefined) headers.set("sec-websocket-protocol", plan.protocol);
      upgraded.add(request);
      if (server.upgrade(request, { data: { plan, closed: new AbortController() }, headers })) return undefined;
      plan.ended();
      return new Response("The upgrade is not possible.", { status: 400 });
    },
    handlers: {
      maxPayloadLength: MESSAGE_BYTES_MAX,
      backpressureLimit: BUFFERED_BYTES_MAX,
      closeOnBackpressureLimit: true,
      idleTimeout: SOCKET_IDLE_SECONDS,
      open(socket: Bun.ServerWebSocket<SocketData>) {
        const { plan, closed } = socket.data;
        open.add(socket);
        plan.opened({
          send: (text) => void socket.send(text),
          close: (code, reason) => socket.close(code, reason),
          buffered: () => socket.getBufferedAmount(),
          closed: closed.signal,
        });
      },
      // What they say is not asked for.
      message: () => undefined,
      close(socket: Bun.ServerWebSocket<SocketData>) {
        open.delete(socket);
        socket.data.closed.abort(new Error("The connection has ended."));
        socket.data.plan.ended();
      },
    },
    close() {
      for (const socket of open) socket.close(GOING_AWAY, "The gateway is stopping.");
    },
  };
}

interface Place {
  readonly hostname: string;
  readonly port: number;
  readonly reusePort: boolean;
}

function bind({ hostname, port, reusePort }: Place, fetch: Fetch, sockets: ReturnType<typeof createSockets>) {
  return Bun.serve<SocketData>({
    hostname,
    port,
    // The default would close quiet streams after 10 s; our own deadlines and keepalives apply while a request runs. (The
    // first request's headers have a parser limit of about 12 s.)
    idleTimeout: 0,
    maxRequestBodySize: PARSER_BODY_MAX,
    development: false,
    // Bun shares the port outside development mode: only the operator may want that.
    reusePort,
    fetch: (request, server) => {
      const answer = fetch(request);
      return request.method === "GET" && wantsSocket(request) ? sockets.answer(answer, request, server) : answer;
    },
    websocket: sockets.handlers,
  });
}

/** An address that a person on this machine can open: the host for all interfaces is not one. */
export function linkOf(host: string, port: number): string {
  return originOf(host === "0.0.0.0" || host === "::" ? "localhost" : host, port);
}

function originOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
