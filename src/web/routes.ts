// The web endpoints: search, scrape, map, crawl, extract and llms.txt, and the older paths of scrape and search in the formats of
// other services. POSTs, and searches by GET, are admitted and counted; polls and cancellations need only a valid key.

import { Elysia } from "elysia";
import type { AtOnce } from "../base/at-once.ts";
import { ApiError } from "../base/errors.ts";
import type { SentForm } from "../http/form.ts";
import { jsonAnswer } from "../http/json-answer.ts";
import { wantsSocket } from "../http/web-socket.ts";
import type { PageCaller, WebCaller } from "./caller.ts";
import { loadForOpenWebUi, searchAsSearxng, searchForOpenWebUi } from "./compat.ts";
import { type CrawlJobsDeps, cancelCrawl, pollCrawl, startCrawl } from "./crawl-jobs.ts";
import { cancelExtract, type ExtractJobsDeps, pollExtract, startExtract } from "./extract/jobs.ts";
import { asWebError, inClientFormat, type WebFeature } from "./failure.ts";
import { cancelLlmstxt, type LlmstxtJobsDeps, pollLlmstxt, startLlmstxt } from "./llmstxt/jobs.ts";
import { type MapDeps, mapSite } from "./map.ts";
import type { Body } from "./params.ts";
import { scrape } from "./scrape.ts";
import { searchWeb, type WebSearchDeps } from "./search.ts";
import type { SinglePageDeps } from "./single-page.ts";

/** What the endpoints need. */
export interface WebRoutesDeps {
  /** Admits a request by key, plan, rate limit and budget. Throws 401, 402, 403 or 429. */
  admit(request: Request): AtOnce<Pick<WebCaller, "accountId" | "keyId">>;
  /** The same, but a client without a key is admitted if its address is listed. */
  admitSearcher(request: Request): AtOnce<Pick<WebCaller, "accountId">>;
  /** Checks only the key. Throws 401. */
  authenticate(request: Request): AtOnce<Pick<WebCaller, "accountId">>;
  /** Reads the body as a JSON object. Throws 400, 408 or 413. */
  readJson(request: Request): Promise<Body>;
  /** The scheme and host under which clients reach the gateway. */
  publicUrl(request: Request): string;
  readonly pages: SinglePageDeps;
  readonly search: WebSearchDeps;
  readonly map: MapDeps;
  readonly crawls: CrawlJobsDeps;
  readonly extracts: ExtractJobsDeps;
  /** Reads the body as a form. Throws 400, 408 or 413. */
  readForm(request: Request): Promise<SentForm>;
  /** The request's id, as in logs and usage. */
  requestId(request: Request): string;
  readonly llmstxts: LlmstxtJobsDeps;
  /** Called when a job was started; the request may still wait for it. */
  jobStarted(request: Request, id: string): void;
  /** Called when the client left before its response. */
  clientGone(request: Request): void;
  /** Marks a request that lasts as long as its WebSocket. Call the returned function when the socket has closed. */
  becomesSocket(request: Request): () => void;
  /** Called for an unexpected error. */
  unexpected(request: Request, error: unknown): void;
}

/** The status in logs and metrics for clients that left, as web servers commonly use it. */
const CLIENT_GONE = 499;

/**
 * Statuses of refusals for which the body is read, so that they can be in the client's own format: the plan or the rights of a
 * valid key. A request above the rate limit is refused without reading its body.
 */
const REPORTED_IN_CLIENT_FORMAT: ReadonlySet<number> = new Set([402, 403]);

/** Elysia must not read the bodies: this program reads them itself, within limits. */
const RAW = { parse: "none" } as const;

type Answer<From = PageCaller> = (body: Body, from: From) => Promise<object>;

/** The tools' answers, independent of how a request was admitted. `waits`: whether requests wait for extractions and llms.txt. */
export function webAnswers(deps: WebRoutesDeps, { waits }: { waits: boolean }) {
  const { answering } = createAnswering(deps);
  const wait = waits ? {} : { waitMs: 0 };
  return {
    scrape: answering("scrape", (body, from) => scrape(body, deps.pages, from)),
    map: answering("map", (body, from) => mapSite(body, deps.map, from)),
    crawl: answering("crawl", (body, from) => startCrawl(body, { ...from, deps: deps.crawls })),
    search: answering("search", (body, from) => searchWeb(body, deps.search, from)),
    extract: answering("extract", (body, from) => startExtract(body, { ...from, ...wait, deps: deps.extracts })),
    llmstxt: answering("llmstxt", (body, from) => startLlmstxt(body, { ...from, ...wait, deps: deps.llmstxts })),
  } satisfies Record<WebFeature, unknown>;
}

/** Creates the endpoints. `watchJob` answers the WebSocket by which a client watches a crawl. */
export function webRoutes(deps: WebRoutesDeps, watchJob: (request: Request, id: string) => Promise<Response>) {
  const answers = webAnswers(deps, { waits: true });
  // Status 307 preserves the method and the body. Nothing is checked or read before the client sends the request again.
  const toScrape = () => new Response(null, { status: 307, headers: { location: "/v1/scrape" } });
  return new Elysia()
    .post("/v1/fetch", toScrape, RAW)
    .post("/fetch", toScrape, RAW)
    .post("/v1/scrape", answers.scrape, RAW)
    .post("/v1/map", answers.map, RAW)
    .post("/v1/crawl", answers.crawl, RAW)
    .get("/v1/crawl/:id", async ({ request, params: { id } }) => {
      if (wantsSocket(request)) return watchJob(request, id);
      const { accountId } = await deps.authenticate(request);
      const query = new URL(request.url).searchParams;
      const address = `${deps.publicUrl(request)}/v1/crawl/${id}`;
      return jsonAnswer(request, await pollCrawl({ id, accountId }, deps.crawls, { query, address }));
    })
    .delete("/v1/crawl/:id", async ({ request, params: { id } }) => {
      const { accountId } = await deps.authenticate(request);
      return Response.json(await cancelCrawl({ id, accountId }, deps.crawls));
    })
    .use(extractRoutes(deps, answers))
    .use(llmstxtRoutes(deps, answers))
    .use(searchRoutes(deps, answers));
}

type WebAnswers = ReturnType<typeof webAnswers>;

/** The endpoints of extractions and their jobs. */
function extractRoutes(deps: WebRoutesDeps, answers: WebAnswers) {
  return new Elysia()
    .post("/v1/extract", answers.extract, RAW)
    .get("/v1/extract/:id", async ({ request, params: { id } }) => {
      const { accountId } = await deps.authenticate(request);
      return jsonAnswer(request, await pollExtract({ id, accountId }, deps.extracts));
    })
    .delete("/v1/extract/:id", async ({ request, params: { id } }) => {
      const { accountId } = await deps.authenticate(request);
      return Response.json(await cancelExtract({ id, accountId }, deps.extracts));
    });
}

/** The endpoints of llms.txt and its jobs. */
function llmstxtRoutes(deps: WebRoutesDeps, answers: WebAnswers) {
  return new Elysia()
    .post("/v1/llmstxt", answers.llmstxt, RAW)
    .get("/v1/llmstxt/:id", async ({ request, params: { id } }) => {
      const { accountId } = await deps.authenticate(request);
      return jsonAnswer(request, await pollLlmstxt({ id, accountId }, deps.llmstxts));
    })
    .delete("/v1/llmstxt/:id", async ({ request, params: { id } }) => {
      const { accountId } = await deps.authenticate(request);
      return Response.json(await cancelLlmstxt({ id, accountId }, deps.llmstxts));
    });
}

/** The endpoints of search, in the gateway's own format and in those of other services. */
function searchRoutes(deps: WebRoutesDeps, answers: WebAnswers) {
  const { answering, finish } = createAnswering(deps);
  const compatible =
    (feature: WebFeature, answer: Answer) =>
    async ({ request }: { request: Request }) => {
      const { accountId } = await deps.admitSearcher(request);
      const body = await deps.readJson(request);
      return finish(feature, request, () => answer(body, { signal: request.signal, accountId }));
    };
  return new Elysia()
    .post("/v1/search", answers.search, RAW)
    .post(
      "/v1/crowd/search",
      answering("search", (body, from) => searchWeb({ ...body, include_content: true }, deps.search, from)),
      RAW,
    )
    .get("/searxng/search", async ({ request }) => {
      const { accountId } = await deps.admitSearcher(request);
      const query = new URL(request.url).searchParams;
      return finish("search", request, () =>
        searchAsSearxng(query, deps.search, { signal: request.signal, accountId }),
      );
    })
    .post(
      "/v1/compat/openwebui/search",
      compatible("search", (body, from) => searchForOpenWebUi(body, deps.search, from)),
      RAW,
    )
    .post(
      "/v1/compat/openwebui/load",
      compatible("scrape", (body, from) => loadForOpenWebUi(body, deps.search, from)),
      RAW,
    );
}

/** What the endpoints share: admission, and how failures are reported. */
function createAnswering(deps: WebRoutesDeps) {
  const admit = async (request: Request): Promise<Pick<WebCaller, "accountId" | "keyId">> => {
    try {
      return await deps.admit(request);
    } catch (error) {
      // A client with a valid key gets errors in its own format, which only the body shows. The bodies of other clients are not
      // read.
      if (!(error instanceof ApiError) || !REPORTED_IN_CLIENT_FORMAT.has(error.status)) throw error;
      throw inClientFormat(error, await deps.readJson(request).catch(() => undefined));
    }
  };
  const translate = (feature: WebFeature, request: Request, error: unknown): ApiError => {
    const known = asWebError(feature, error);
    if (known.status === 500) deps.unexpected(request, error);
    return known;
  };
  /** The result, or the error in the format of the client that sent the body. */
  const finish = async (feature: WebFeature, request: Request, work: () => Promise<object>, body?: Body) => {
    try {
      return await jsonAnswer(request, await work());
    } catch (error) {
      if (request.signal.aborted) {
        // The client has left, so nobody reads the response, and the request does not count as a failure.
        deps.clientGone(request);
        return new Response(null, { status: CLIENT_GONE });
      }
      throw inClientFormat(translate(feature, request, error), body);
    }
  };
  const answering =
    (feature: WebFeature, answer: Answer<Required<Omit<WebCaller, "waitMs" | "explain">> & PageCaller>) =>
    async ({ request }: { request: Request }) => {
      const { accountId, keyId } = await admit(request);
      const body = await deps.readJson(request);
      const started = (id: string) => deps.jobStarted(request, id);
      const from = { signal: request.signal, accountId, keyId, requestId: deps.requestId(request), started };
      return finish(feature, request, () => answer(body, from), body);
    };
  return { answering, finish };
}
