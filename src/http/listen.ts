// Listens, and ends gracefully: no new connections, open requests and streams may finish until the drain timeout.

type Fetch = (request: Request) => Response | Promise<Response>;

/** An address to listen on. `url`, `link` and `port` are known once it is open, and throw before. */
export interface Listener {
  /** The address it listens on. */
  readonly url: string;
  /** The address for people on this machine to open: `localhost` where it listens on every interface. */
  readonly link: string;
  readonly port: number;
  /** Takes the address. Throws when it is taken. Requests wait until they are served. */
  open(): void;
  /** Hands requests to `fetch`, from the first one on. */
  serve(fetch: Fetch): void;
  /** The peer's address of a running request. */
  addressOf(request: Request): string;
  /** The request is answered: its connection may lie idle for a while, then it is closed. A proxy's may for longer. */
  release(request: Request, isProxied: boolean): void;
  /**
   * Stops accepting, waits for what is open at most `drainMs`, then cuts the rest. True when nothing had to be cut. A second
   * call does nothing, nor does one before it is open.
   */
  stop(drainMs: number): Promise<boolean>;
}

/** Bodies beyond the configured limit are refused with the envelope; only beyond this does the HTTP parser refuse bare. */
const PARSER_BODY_MAX = Number.MAX_SAFE_INTEGER;

/**
 * The time runs on while the next request's headers come, however slowly, and the server tells no one of them: so this
 * is also what bounds them. The parser counts in steps of four seconds; the limit for headers is 30 s.
 */
const IDLE_SECONDS = 28;
/** Longer than common proxies keep idle connections to us, so that theirs ends first and no request meets a closed one. */
const PROXY_IDLE_SECONDS = 125;

/** A listener that is not open yet. `port` 0 picks a free one. */
export function createListener(options: {
  host: string;
  port: number;
  /** How long a connection may lie idle between requests. */
  idleSeconds?: number;
  /** The same for one that a proxy holds for many clients. */
  proxyIdleSeconds?: number;
}): Listener {
  const { host, idleSeconds = IDLE_SECONDS, proxyIdleSeconds = PROXY_IDLE_SECONDS } = options;
  let opened: Bun.Server<undefined> | undefined;
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
      opened = bind(host, options.port, (request) => (handler ?? wait)(request));
    },
    serve(fetch) {
      handler = fetch;
      served.resolve(fetch);
    },
    addressOf: (request) => server().requestIP(request)?.address ?? "",
    release: (request, isProxied) => server().timeout(request, isProxied ? proxyIdleSeconds : idleSeconds),
    async stop(drainMs) {
      if (opened === undefined || isStopped) return true;
      isStopped = true;
      const running = opened;
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

function bind(hostname: string, port: number, fetch: Fetch) {
  return Bun.serve({
    hostname,
    port,
    // The default would cut quiet streams after 10 s; our own deadlines and keepalives rule while a request runs. (The first
    // request's headers have a limit of the parser's own, about 12 s.)
    idleTimeout: 0,
    maxRequestBodySize: PARSER_BODY_MAX,
    development: false,
    // Bun shares the port outside development mode, and requests would then go to either of two gateways.
    reusePort: false,
    fetch,
  });
}

/** The address that a person on this machine can open: a host that stands for every interface is no address to go to. */
export function linkOf(host: string, port: number): string {
  return originOf(host === "0.0.0.0" || host === "::" ? "localhost" : host, port);
}

function originOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
