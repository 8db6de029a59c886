// Listens, and ends gracefully: no new connections, open requests and streams may finish until the drain timeout.

/** A listening server. */
export interface Listener {
  url: string;
  port: number;
  /** The peer's address of a running request. */
  addressOf(request: Request): string;
  /** Stops accepting, waits for what is open at most `drainMs`, then cuts the rest. True when nothing had to be cut. */
  stop(drainMs: number): Promise<boolean>;
}

/** Bodies beyond the configured limit are refused with the envelope; only beyond this does the HTTP parser refuse bare. */
const PARSER_BODY_MAX = Number.MAX_SAFE_INTEGER;

/** Starts listening. Throws when the address is taken. `port` 0 picks a free one. */
export function listen(options: {
  host: string;
  port: number;
  fetch(request: Request): Response | Promise<Response>;
}): Listener {
  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    // The default would cut quiet streams after 10 s; our own deadlines and keepalives rule instead.
    idleTimeout: 0,
    maxRequestBodySize: PARSER_BODY_MAX,
    development: false,
    fetch: options.fetch,
  });
  const port = server.port ?? options.port;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    port,
    addressOf: (request) => server.requestIP(request)?.address ?? "",
    async stop(drainMs) {
      const drained = server.stop().then(() => true);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<false>((resolve) => {
        timer = setTimeout(() => resolve(false), drainMs);
      });
      const whole = await Promise.race([drained, late]);
      clearTimeout(timer);
      if (!whole) await server.stop(true);
      return whole;
    },
  };
}
