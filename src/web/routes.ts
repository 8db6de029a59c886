// The web endpoints: scrape, map and crawl, with the old paths of scrape. POSTs are admitted and counted; polls and
// cancellations need the key alone.

import { Elysia } from "elysia";
import { ApiError } from "../base/errors.ts";
import { jsonInTurns } from "../base/json-turns.ts";
import { type CrawlJobsDeps, cancelCrawl, pollCrawl, startCrawl } from "./crawl-jobs.ts";
import { asWebError, inClientsWords, type WebFeature } from "./failure.ts";
import { type MapDeps, mapSite } from "./map.ts";
import type { Body } from "./params.ts";
import { type Asker, scrape } from "./scrape.ts";
import type { SinglePageDeps } from "./single-page.ts";

/** Who asks. */
export interface WebCaller {
  readonly accountId: string;
}

/** What the endpoints need. */
export interface WebRoutesDeps {
  /** Key, plan, rate limit and budget; throws 401, 402, 403 or 429. */
  admit(request: Request): WebCaller;
  /** Key alone; throws 401. */
  authenticate(request: Request): WebCaller;
  /** The body as a JSON object; throws 400, 408 or 413. */
  readJson(request: Request): Promise<Body>;
  /** Scheme and host under which clients reach the gateway. */
  publicUrl(request: Request): string;
  readonly pages: SinglePageDeps;
  readonly map: MapDeps;
  readonly crawls: CrawlJobsDeps;
  /** The client left before its answer. */
  clientGone(request: Request): void;
  /** An error nobody expected. */
  unexpected(request: Request, error: unknown): void;
}

/** In logs and metrics only: by what web servers commonly write there. */
const CLIENT_GONE = 499;

/** Plan and rights of a key that is good. What is refused for its rate is refused unread. */
const TOLD_AFTER_READING: ReadonlySet<number> = new Set([402, 403]);

type Answer = (body: Body, from: Asker) => Promise<Record<string, unknown>>;

/** Pages have megabytes, and streams do not wait for them. */
async function json(value: Record<string, unknown>): Promise<Response> {
  return new Response(await jsonInTurns(value), { headers: { "content-type": "application/json;charset=utf-8" } });
}

/** The endpoints. */
export function webRoutes(deps: WebRoutesDeps) {
  const answering =
    (feature: WebFeature, answer: Answer) =>
    async ({ request }: { request: Request }) => {
      const { accountId } = await admit(request);
      const body = await deps.readJson(request);
      try {
        return await json(await answer(body, { signal: request.signal, accountId }));
      } catch (error) {
        if (request.signal.aborted) {
          // Nobody reads the answer any more, and it is nobody's failure.
          deps.clientGone(request);
          return new Response(null, { status: CLIENT_GONE });
        }
        throw inClientsWords(translate(feature, request, error), body);
      }
    };
  const admit = async (request: Request): Promise<WebCaller> => {
    try {
      return deps.admit(request);
    } catch (error) {
      // Whose key is good is told in its client's words, which only the body tells; nobody else's body is read.
      if (!(error instanceof ApiError) || !TOLD_AFTER_READING.has(error.status)) throw error;
      throw inClientsWords(error, await deps.readJson(request).catch(() => undefined));
    }
  };
  const translate = (feature: WebFeature, request: Request, error: unknown): ApiError => {
    const known = asWebError(feature, error);
    if (known.status === 500) deps.unexpected(request, error);
    return known;
  };
  const raw = { parse: "none" } as const;
  // Method and body are kept by the status; nothing is asked for or read before the caller comes again.
  const toScrape = () => new Response(null, { status: 307, headers: { location: "/v1/scrape" } });
  return new Elysia()
    .post("/v1/fetch", toScrape, raw)
    .post("/fetch", toScrape, raw)
    .post(
      "/v1/scrape",
      answering("scrape", (body, from) => scrape(body, deps.pages, from)),
      raw,
    )
    .post(
      "/v1/map",
      answering("map", (body, from) => mapSite(body, deps.map, from)),
      raw,
    )
    .post(
      "/v1/crawl",
      answering("crawl", (body, from) => startCrawl(body, { ...from, deps: deps.crawls })),
      raw,
    )
    .get("/v1/crawl/:id", async ({ request, params: { id } }) => {
      const { accountId } = deps.authenticate(request);
      const query = new URL(request.url).searchParams;
      const address = `${deps.publicUrl(request)}/v1/crawl/${id}`;
      return json(await pollCrawl({ id, accountId }, deps.crawls, { query, address }));
    })
    .delete("/v1/crawl/:id", async ({ request, params: { id } }) => {
      const { accountId } = deps.authenticate(request);
      return Response.json(await cancelCrawl({ id, accountId }, deps.crawls));
    });
}
