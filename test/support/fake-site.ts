// A small site on loopback whose pages a test describes, and that remembers what was asked for.

/** A page: its HTML, or a whole answer. */
export type SitePage = string | ((request: Request) => Response | Promise<Response>);

/** A running site. */
export interface FakeSite {
  readonly url: string;
  /** `127.0.0.1:PORT` */
  readonly host: string;
  /** Paths asked for, in order. */
  readonly hits: string[];
  stop(): void;
}

/** Serves the pages; other paths are 404. */
export function startFakeSite(pages: Readonly<Record<string, SitePage>>): FakeSite {
  const hits: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      hits.push(pathname + search);
      const page = pages[pathname + search] ?? pages[pathname];
      if (page === undefined)
        return new Response("<h1>Not found</h1>", { status: 404, headers: { "content-type": "text/html" } });
      return typeof page === "string"
        ? new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } })
        : page(request);
    },
  });
  const host = `127.0.0.1:${server.port}`;
  return { url: `http://${host}`, host, hits, stop: () => void server.stop(true) };
}
