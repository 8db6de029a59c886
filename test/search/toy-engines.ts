// Search engines with a simple format of their own, and the loopback server that answers for all of them: each at its own path,
// as the test defines.

import { FakeClock } from "../../src/base/clock.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/schema.ts";
import { createAddressGuard } from "../../src/net/address-guard.ts";
import { createFetch } from "../../src/net/fetch.ts";
import { createResolve } from "../../src/net/resolve.ts";
import type { Hit, Parsed, SearchEngine } from "../../src/search/engine.ts";
import { createSearch, type Search, type SearchRequest } from "../../src/search/run.ts";

/** How an engine answers. It is called for each request. */
export type Way = (request: Request, times: number) => Response | Promise<Response>;

/** Results for the query. Except for the given addresses, they are at addresses of the engine's own. */
export function pages(name: string, count: number, shared: readonly string[] = []): Response {
  const own = Array.from({ length: count }, (_, index) => `https://${name}.example/${index + 1}`);
  return Response.json([...shared, ...own].map((url) => ({ url, title: `Bread of ${url}`, snippet: `From ${name}` })));
}

/** An engine that received the request and does not answer until its client has left. */
export const silent: Way = (request) =>
  new Promise((resolve) => request.signal.addEventListener("abort", () => resolve(new Response()), { once: true }));

/** A failure that the engine's own parser reports. */
export const fails = (kind: string, retryAfterMs?: number): Way => {
  return () => Response.json({ kind: "failure", failure: { kind, message: "A failure.", retryAfterMs } });
};

/** An engine with the toy format. */
export function toyEngine(name: string, facts: Partial<SearchEngine> = {}): SearchEngine {
  return {
    name,
    categories: ["general"],
    weight: 1,
    about: { website: "https://example.com", official: true },
    enabledByDefault: true,
    network: `network of ${name}`,
    timeoutMs: 5000,
    pagesMax: 1,
    timeRanges: [],
    safeSearch: true,
    suggestions: true,
    selectors: { results: "" },
    request: ({ query, settings, remembered }) => ({
      method: "GET",
      url: `${settings.baseUrl ?? "http://127.0.0.1:9"}/${name}?${new URLSearchParams({ q: query.text, language: query.language ?? "", token: remembered ?? "", safe: query.safe })}`,
      headers: {},
    }),
    parse(response): Parsed {
      if (response.status >= 500)
        return { kind: "failure", failure: { kind: "server_error", message: `HTTP ${response.status}.` } };
      const body = JSON.parse(response.body) as Hit[] | Parsed;
      return Array.isArray(body) ? { kind: "hits", hits: body } : body;
    },
    ...facts,
  };
}

/** The engines, their server, and a search that uses them. */
export interface Toys {
  readonly search: Search;
  readonly clock: FakeClock;
  readonly url: string;
  /** The queries that an engine received, in order. */
  asked(name: string): URLSearchParams[];
  /** The number of requests to an engine whose client has left. */
  left(name: string): number;
  /** Resolves when an engine has received this many requests. */
  wasAsked(name: string, times?: number): Promise<void>;
  set(name: string, way: Way): void;
  /** The outcomes that were reported to the metrics, as `engine outcome`. */
  readonly outcomes: string[];
  reconfigure(search: Record<string, unknown>): void;
  stop(): Promise<void>;
}

export interface ToyOptions {
  readonly engines?: readonly SearchEngine[];
  /** The `search` settings as the program reads them. */
  readonly search?: Record<string, unknown>;
  /** Whether engines without an address from the operator use the server too, as if loopback were the internet. */
  readonly isOpen?: boolean;
}

/** Starts them. Every engine uses the server's address unless `search` says otherwise. */
export function startToys(
  ways: Readonly<Record<string, Way>>,
  { engines, search = {}, isOpen = false }: ToyOptions = {},
): Toys {
  const known = new Map(Object.entries(ways));
  const queries = new Map<string, URLSearchParams[]>();
  const left = new Map<string, number>();
  let waiting: { name: string; times: number; done: () => void }[] = [];
  const asked = (name: string) => queries.get(name) ?? [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const name = url.pathname.slice(1);
      queries.set(name, [...asked(name), url.searchParams]);
      request.signal.addEventListener("abort", () => left.set(name, (left.get(name) ?? 0) + 1));
      waiting = waiting.filter((one) => {
        if (asked(one.name).length < one.times) return true;
        one.done();
        return false;
      });
      const way = known.get(name);
      return way === undefined
        ? new Response("There is nothing here.", { status: 404 })
        : way(request, asked(name).length);
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  const list = engines ?? Object.keys(ways).map((name) => toyEngine(name));
  const clock = new FakeClock();
  const outcomes: string[] = [];
  let config = configOf(list, url, search);
  const open = createFetch(createAddressGuard({ ...config.web, allowPrivateNetworks: true }, createResolve([])));
  const running = createSearch({
    config: () => config,
    clock,
    fetch: isOpen
      ? (address, options) => open(address.replace("http://127.0.0.1:9", url), options)
      : createFetch(createAddressGuard(config.web, createResolve([]))),
    engines: list,
    asked: (engine, outcome) => outcomes.push(`${engine} ${outcome}`),
    unexpected: (message, error) => {
      throw new Error(message, { cause: error });
    },
  });
  return {
    search: running,
    clock,
    url,
    asked,
    left: (name) => left.get(name) ?? 0,
    wasAsked(name, times = 1) {
      if (asked(name).length >= times) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ name, times, done: resolve });
      return promise;
    },
    set: (name, way) => void known.set(name, way),
    outcomes,
    reconfigure(changed) {
      config = configOf(list, url, changed);
      running.reconfigure();
    },
    async stop() {
      running.close();
      await server.stop(true);
    },
  };
}

/** The configuration for a file with these settings. The names of the toy engines are not valid in a file. */
function configOf(engines: readonly SearchEngine[], url: string, search: Record<string, unknown>): Config {
  const loaded = loadConfig({ env: {}, cwd: import.meta.dir });
  if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
  const own = (search["engines"] ?? {}) as Record<string, object>;
  const entries = engines.map(({ name }) => [name, { baseUrl: url, ...own[name] }] as const);
  return {
    ...loaded.config,
    search: { ...loaded.config.search, ...search, engines: new Map(entries) },
  } as Config;
}

/** A search for bread. */
export function bread(more: Partial<SearchRequest> = {}): SearchRequest {
  return { text: "bread", category: "general", language: "auto", limit: 5, timeoutMs: 5000, ...more };
}

/** A signal that is never aborted. */
export const nobody = (): AbortSignal => new AbortController().signal;
