// A web site on loopback that is defined by a page for each path. It records its requests.

/** The answer for a path: HTML, or a function of the request. */
export type SitePage = string | ((request: Request) => Response | Promise<Response>);

export interface FakeSite {
  /** The address without a trailing slash. */
  readonly url: string;
  /** `127.0.0.1:PORT`, for `allow_hosts`. */
  readonly host: string;
  /** The requested paths with their queries, in order, including robots.txt and sitemaps. */
  readonly hits: string[];
  /** How often a path was requested. */
  count(path: string): number;
  /** Resolves when the path was requested `times` times. */
  asked(path: string, times?: number): Promise<void>;
  set(path: string, page: SitePage): void;
  stop(): Promise<void>;
}

/** Starts a site. Paths are looked up with their query first, then without it; all others are 404. */
export function startFakeSite(pages: Record<string, SitePage>): FakeSite {
  const known = new Map(Object.entries(pages));
  const hits: string[] = [];
  let waiting: { path: string; times: number; done: () => void }[] = [];
  const count = (path: string) => hits.filter((hit) => hit === path).length;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      hits.push(pathname + search);
      waiting = waiting.filter(({ path, times, done }) => {
        if (count(path) < times) return true;
        done();
        return false;
      });
      const page = known.get(pathname + search) ?? known.get(pathname);
      if (page === undefined) return html("<h1>Not found</h1><p>There is nothing here.</p>", { status: 404 });
      return typeof page === "string" ? html(page) : page(request);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    host: `127.0.0.1:${server.port}`,
    hits,
    count,
    asked: (path, times = 1) => {
      if (count(path) >= times) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ path, times, done: resolve });
      return promise;
    },
    set: (path, page) => void known.set(path, page),
    stop: () => server.stop(true),
  };
}

/** An HTML answer. */
export function html(body: string, init: { status?: number; headers?: Record<string, string> } = {}): Response {
  return new Response(body, { ...init, headers: { "content-type": "text/html; charset=utf-8", ...init.headers } });
}

/** A page with a title, links, and enough text for a page. */
export function page(title: string, links: readonly string[] = [], head = ""): string {
  const list = links.map((href) => `<li><a href="${href}">${href}</a></li>`).join("");
  return `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body>
    <main><h1>${title}</h1><p>This is the page about ${title}. It says enough about ${title} to be taken for the main
    content of the page, and it goes on for a second sentence so that nobody mistakes it for a menu.</p>
    <ul>${list}</ul></main></body></html>`;
}
