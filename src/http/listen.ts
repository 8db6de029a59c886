// Listens for connections, and stops gracefully: new connections are refused, while open requests and streams may finish until
// the drain timeout.

import { ApiError } from "../base/errors.ts";
import type { Certificate } from "./certificate.ts";
import { createMessageShare, type MessageLimits } from "./message-share.ts";
import { GOING_AWAY, type SocketPlan, socketPlanOf, wantsSocket } from "./web-socket.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/** An address to listen on. `url`, `link` and `port` throw until it is open. */
export interface Listener {
  /** The URL of the address. */
  readonly url: string;
  /** The URL for people on this machine, with `localhost` if the listener uses every interface. */
  readonly link: string;
  readonly port: number;
  /** Opens the port. Throws if it is taken. Requests wait until `serve` is called. */
  open(): void;
  /** Starts to answer requests with `fetch`, beginning with those that wait. */
  serve(fetch: Fetch): void;
  /**
   * Takes the certificate that is configured now. If it changed, the port is opened anew with it, since the runtime cannot exchange
   * the one of an open port. Connections that exist keep the old one. Throws if it is unusable; the old one then stays.
   */
  renewCertificate(): void;
  /** The address of the client of a running request. */
  addressOf(request: Request): string;
  /**
   * Called when a request was answered. Its connection is closed after some time without requests, which is longer for a proxy's.
   */
  release(request: Request, isProxied: boolean): void;
  /**
   * Stops accepting connections, waits at most `drainMs` for open requests, then closes the rest. Returns true if nothing had to
   * be closed. Calling it again, or before the listener is open, has no effect.
   */
  stop(drainMs: number): Promise<boolean>;
}

/** The parser's own limit of a body. Bodies above the configured limit are refused earlier, with the usual error format. */
const PARSER_BODY_MAX = Number.MAX_SAFE_INTEGER;

/**
 * How long a connection may be idle. The time includes the headers of the next request, about whose arrival the program is not
 * told, so this also limits how slowly they may arrive. The parser counts in steps of four seconds; the limit for headers is 30
 * s.
 */
const IDLE_SECONDS = 28;
/**
 * The same for a proxy's connection. It is longer than the idle timeout of common proxies, so that theirs ends first and no
 * request meets a closed connection.
 */
const PROXY_IDLE_SECONDS = 125;

interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port; the system distributes the connections. */
  readonly reusePort?: boolean;
  /** How long a connection may be idle between requests. */
  readonly idleSeconds?: number;
  /** The same for a connection that a proxy uses for many clients. */
  readonly proxyIdleSeconds?: number;
  /** How long a WebSocket may be silent, and its peer may leave pings without an answer. */
  readonly socketIdleSeconds?: number;
  /** How long the messages of clients over WebSockets may be. */
  readonly messages?: MessageLimits;
  /** Reads the certificate; undefined for plain HTTP. */
  readonly certificate?: () => Certificate | undefined;
}

/** Creates a listener that is not open yet. With `port` 0 the system chooses a free one. */
export function createListener(options: ListenerOptions): Listener {
  const { host, idleSeconds = IDLE_SECONDS, proxyIdleSeconds = PROXY_IDLE_SECONDS } = options;
  const sockets = createSockets(options, () => boundPort.limitMessages());
  let isStopped = false;
  let handler: Fetch | undefined;
  const served = Promise.withResolvers<Fetch>();
  const wait: Fetch = async (request) => (await served.promise)(request);
  const boundPort = createPort(options, (request) => (handler ?? wait)(request), sockets);
  return {
    get url() {
      return originOf(host, boundPort.port(), boundPort.isSecure());
    },
    get link() {
      return linkOf(host, boundPort.port(), boundPort.isSecure());
    },
    get port() {
      return boundPort.port();
    },
    open: boundPort.open,
    renewCertificate() {
      if (!isStopped) boundPort.renew();
    },
    serve(fetch) {
      handler = fetch;
      served.resolve(fetch);
    },
    addressOf: (request) => sockets.addressOf(request) ?? boundPort.server().requestIP(request)?.address ?? "",
    release: (request, isProxied) => {
      // A request that became a WebSocket has no idle time.
      if (!sockets.has(request)) boundPort.server().timeout(request, isProxied ? proxyIdleSeconds : idleSeconds);
    },
    async stop(drainMs) {
      const running = boundPort.servers();
      if (running.length === 0 || isStopped) return true;
      isStopped = true;
      sockets.leave();
      const drained = Promise.all(running.map((one) => one.stop())).then(() => true);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<false>((resolve) => {
        timer = setTimeout(() => resolve(false), drainMs);
      });
      const whole = await Promise.race([drained, late]);
      clearTimeout(timer);
      if (!whole) await Promise.all(running.map((one) => one.stop(true)));
      return whole;
    },
  };
}

/** The open port, which a changed certificate opens anew. */
function createPort(options: ListenerOptions, fetch: Fetch, sockets: ReturnType<typeof createSockets>) {
  const { host: hostname, reusePort = false, certificate = () => undefined } = options;
  let current: Bun.Server<SocketData> | undefined;
  let tls: Certificate | undefined;
  /** Servers of earlier certificates, while they have requests. */
  const former = new Set<Bun.Server<SocketData>>();
  const server = () => {
    if (current === undefined) throw new Error("The listener is not open yet.");
    return current;
  };
  const openAt = (port: number, own: Certificate | undefined) => {
    current = Bun.serve(
      served({ hostname, port, reusePort, ...(own === undefined ? {} : { tls: own }) }, fetch, sockets),
    );
    tls = own;
  };
  const port = () => server().port ?? options.port;
  return {
    server,
    port,
    /** Those that may have requests. */
    servers: () => (current === undefined ? [] : [current, ...former]),
    /** Gives the sockets the limit of messages that holds now. It holds for those that are open too. */
    limitMessages() {
      if (current === undefined) return;
      for (const one of [current, ...former]) one.reload(served({ hostname, port: port(), reusePort }, fetch, sockets));
    },
    isSecure: () => tls !== undefined,
    open: () => openAt(options.port, certificate()),
    renew() {
      if (current === undefined || tls === undefined) return;
      const before = tls;
      const next = certificate();
      if (next === undefined || (next.cert === before.cert && next.key === before.key)) return;
      const old = current;
      const at = port();
      former.add(old);
      void old.stop().then(() => former.delete(old));
      try {
        openAt(at, next);
      } catch (error) {
        openAt(at, before);
        throw error;
      }
    },
  };
}

/** The data of a socket. */
interface SocketData {
  readonly plan: SocketPlan;
  readonly closed: AbortController;
  readonly fetch: Fetch;
}

/** If a client leaves this many bytes unread, its connection is closed. */
const BUFFERED_BYTES_MAX = 64 * 1024 * 1024;
/** A client that does not answer pings for this long is gone. */
const SOCKET_IDLE_SECONDS = 120;

/** Creates the set of open sockets. `limited`: called when the limit of messages has changed. */
function createSockets({ messages, socketIdleSeconds }: ListenerOptions, limited: () => void) {
  const openSockets = new Set<Bun.ServerWebSocket<SocketData>>();
  const share = createMessageShare(messages);
  /** Requests that have no connection of their own, or have it no more, with the address of the client if it is known. */
  const carried = new WeakMap<Request, string | undefined>();
  let isLeaving = false;
  const leave = (socket: Bun.ServerWebSocket<SocketData>) => {
    const { plan } = socket.data;
    if (plan.leaving === undefined) socket.close(GOING_AWAY, "The gateway is stopping.");
    else plan.leaving();
  };
  return {
    has: (request: Request) => carried.has(request),
    addressOf: (request: Request) => carried.get(request),
    /** Performs the upgrade if a route accepted it. */
    async answer(
      answer: Response | Promise<Response>,
      request: Request,
      server: Bun.Server<SocketData>,
      fetch: Fetch,
    ): Promise<Response | undefined> {
      const response = await answer;
      const plan = socketPlanOf(request);
      if (plan === undefined) return response;
      const requestId = response.headers.get("x-request-id") ?? "";
      if (share.isFull(openSockets.size)) {
        plan.ended();
        const error = new ApiError("server_busy", "Too many WebSockets are open. Try again shortly.");
        const headers = { "retry-after": "5", "x-request-id": requestId };
        return Response.json({ error: error.body() }, { status: error.status, headers });
      }
      const headers = new Headers({ "x-request-id": requestId });
      if (plan.protocol !== undefined) headers.set("sec-websocket-protocol", plan.protocol);
      carried.set(request, server.requestIP(request)?.address);
      if (server.upgrade(request, { data: { plan, closed: new AbortController(), fetch }, headers })) return undefined;
      plan.ended();
      return new Response("The upgrade is not possible.", { status: 400 });
    },
    handlers: {
      get maxPayloadLength() {
        return share.bytes();
      },
      backpressureLimit: BUFFERED_BYTES_MAX,
      closeOnBackpressureLimit: true,
      idleTimeout: socketIdleSeconds ?? SOCKET_IDLE_SECONDS,
      open(socket: Bun.ServerWebSocket<SocketData>) {
        const { plan, closed, fetch } = socket.data;
        openSockets.add(socket);
        if (share.changes(openSockets.size)) limited();
        plan.opened({
          send: (text) => void socket.send(text),
          close: (code, reason) => socket.close(code, reason),
          buffered: () => socket.getBufferedAmount(),
          ask(request) {
            carried.set(request, socket.remoteAddress);
            return fetch(request);
          },
          closed: closed.signal,
        });
        // Its upgrade was under way when the gateway began to stop.
        if (isLeaving) leave(socket);
      },
      message({ data: { plan } }: Bun.ServerWebSocket<SocketData>, message: string | Buffer) {
        plan.message?.(typeof message === "string" ? message : undefined);
      },
      drain: ({ data: { plan } }: Bun.ServerWebSocket<SocketData>) => plan.drained?.(),
      close(socket: Bun.ServerWebSocket<SocketData>) {
        openSockets.delete(socket);
        if (share.changes(openSockets.size)) limited();
        socket.data.closed.abort(new Error("The connection has ended."));
        socket.data.plan.ended();
      },
    },
    leave() {
      isLeaving = true;
      for (const socket of openSockets) leave(socket);
    },
  };
}

interface Place {
  readonly hostname: string;
  readonly port: number;
  readonly reusePort: boolean;
  readonly tls?: Certificate;
}

function served(place: Place, fetch: Fetch, sockets: ReturnType<typeof createSockets>) {
  return {
    // Outside of its development mode, Bun shares the port by default, which only the operator may decide.
    ...place,
    // The default would close quiet streams after 10 s. While a request runs, the program's own deadlines and keepalives apply
    // instead. (For the headers of the first request, the parser has a limit of about 12 s.)
    idleTimeout: 0,
    maxRequestBodySize: PARSER_BODY_MAX,
    development: false,
    fetch: (request: Request, server: Bun.Server<SocketData>) => {
      // Asked first, since the edge handles HEAD as GET.
      const isSocket = request.method === "GET" && wantsSocket(request);
      const answer = fetch(request);
      return isSocket ? sockets.answer(answer, request, server, fetch) : answer;
    },
    websocket: { ...sockets.handlers },
  };
}

/** A URL that a person on this machine can open. The host that stands for all interfaces cannot be opened. */
export function linkOf(host: string, port: number, isSecure = false): string {
  return originOf(host === "0.0.0.0" || host === "::" ? "localhost" : host, port, isSecure);
}

/** The URL of an address; an IPv6 address stands in brackets. */
export function originOf(host: string, port: number, isSecure: boolean): string {
  return `http${isSecure ? "s" : ""}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
