// The web endpoints: search, scrape, map, crawl, extract and llms.txt, with the older paths of scrape and search in the
// formats of other services. POSTs, and searches by GET, are admitted and counted; polls and cancellations only need the key.

import { Elysia } from "elysia";
import type { AtOnce } from "../base/at-once.ts";
import { ApiError } from "../base/errors.ts";
import { jsonAnswer } from "../http/json-answer.ts";
import { loadForOpenWebUi, searchAsSearxng, searchForOpenWebUi } from "./compat.ts";
import { type CrawlJobsDeps, cancelCrawl, pollCrawl, startCrawl } from "./crawl-jobs.ts";
import { cancelExtract, type ExtractJobsDeps, pollExtract, startExtract } from "./extract/jobs.ts";
import { asWebError, inClientsWords, type WebFeature } from "./failure.ts";
import { cancelLlmstxt, type LlmstxtJobsDeps, pollLlmstxt, startLlmstxt } from "./llmstxt/jobs.ts";
import { type MapDeps, mapSite } from "./map.ts";
import type { Body } from "./params.ts";
import { type Asker, scrape } from "./scrape.ts";
import { searchWeb, type WebSearchDeps } from "./search.ts";
import type { SinglePageDeps } from "./single-page.ts";

/** The client. */
export interface WebCaller {
  readonly accountId: string;
}

/** The client with its key. */
export interface KeyHolder extends WebCaller {
  readonly keyId: string;
}

/** What the endpoints need. */
export interface WebRoutesDeps {
  /** Key, plan, rate limit and budget; throws 401, 402, 403 or 429. */
  admit(request: Request): AtOnce<KeyHolder>;
  /** The same, but admits clients without a key by their address. */
  admitSearcher(request: Request): AtOnce<WebCaller>;
  /** Key alone; throws 401. */
  authenticate(request: Request): AtOnce<WebCaller>;
  /** The body as a JSON object; throws 400, 408 or 413. */
  readJson(request: Request): Promise<Body>;
  /** Scheme and host under which clients reach the gateway. */
  publicUrl(request: Request): string;
  readonly pages: SinglePageDeps;
  readonly search: WebSearchDeps;
  readonly map: MapDeps;
  readonly crawls: CrawlJobsDeps;
  readonly extracts: ExtractJobsDeps;
  /** The body as a form; throws 400, 408 or 413. */
  readForm(request: Request): Promise<FormData>;
  /** As in logs and usage. */
  requestId(request: Request): string;
  readonly llmstxts: LlmstxtJobsDeps;
  /** A job was started, and the request may wait for it. */
  jobStarted(request: Request, id: string): void;
  /** The client left before its response. */
  clientGone(request: Request): void;
  /** The request ends with its socket: call the result then. */
  becomesSocket(request: Request): () => void;
  /** An unexpected error. */
  unexpected(request: Request, error: unknown): void;
}

/** In logs and metrics only: the status that web servers commonly record. */
const CLIENT_GONE = 499;

/** Plan and rights of a valid key. A request above the rate limit is refused without reading its body. */
const TOLD_AFTER_READING: ReadonlySet<number> = new Set([402, 403]);

/** Bodies are read by our own code, within limits. */
const RAW = { parse: "none" } as const;

type Answer<From = Asker> = (body: Body, from: From) => Promise<object>;

/** The client: its key and its request. */
interface KeyAsker extends Asker {
  readonly keyId: string;
  readonly requestId: string;
  /** Called with the id of the requested job. */
  started(id: string): void;
}

/** What answers a request for each tool, by whichever way it was let in. `waits`: extractions and llms.txt are waited for. */
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

/** The endpoints. */
export function webRoutes(deps: WebRoutesDeps) {
  const answers = webAnswers(deps, { waits: true });
  // The status preserves method and body; nothing is requested or read before the client sends the request again.
  const toScrape = () => new Response(null, { status: 307, headers: { location: "/v1/scrape" } });
  return new Elysia()
    .post("/v1/fetch", toScrape, RAW)
    .post("/fetch", toScrape, RAW)
    .post("/v1/scrape", answers.scrape, RAW)
    .post("/v1/map", answers.map, RAW)
    .post("/v1/crawl", answers.crawl, RAW)
    .get("/v1/crawl/:id", async ({ request, params: { id } }) => {
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

/** Extraction, and its jobs. */
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

/** llms.txt, and its jobs. */
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

/** Search in our own format and in those of other services. */
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
  const admit = async (request: Request): Promise<KeyHolder> => {
    try {
      return await deps.admit(request);
    } catch (error) {
      // A client with a valid key gets failures in its own format, which only the body tells; no other body is read.
      if (!(error instanceof ApiError) || !TOLD_AFTER_READING.has(error.status)) throw error;
      throw inClientsWords(error, await deps.readJson(request).catch(() => undefined));
    }
  };
  const translate = (feature: WebFeature, request: Request, error: unknown): ApiError => {
    const known = asWebError(feature, error);
    if (known.status === 500) deps.unexpected(request, error);
    return known;
  };
  /** The result, or the failure in the format of the body's client. */
  const finish = async (feature: WebFeature, request: Request, work: () => Promise<object>, body?: Body) => {
    try {
      return await jsonAnswer(request, await work());
    } catch (error) {
      if (request.signal.aborted) {
        // Nobody reads the response any more, and it is nobody's failure.
        deps.clientGone(request);
        return new Response(null, { status: CLIENT_GONE });
      }
      throw inClientsWords(translate(feature, request, error), body);
    }
  };
  const answering =
    (feature: WebFeature, answer: Answer<KeyAsker>) =>
    async ({ request }: { request: Request }) => {
      const { accountId, keyId } = await admit(request);
      const body = await deps.readJson(request);
      const started = (id: string) => deps.jobStarted(request, id);
      const from = { signal: request.signal, accountId, keyId, requestId: deps.requestId(request), started };
      return finish(feature, request, () => answer(body, from), body);
    };
  return { answering, finish };
}
