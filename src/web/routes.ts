// The web endpoints: search, scrape, map, crawl, extract and llms.txt, and the older paths of scrape and search in the formats of
// other services. POSTs, and searches by GET, are admitted and counted; polls and cancellations need only a valid key.

import type { AtOnce } from "../base/at-once.ts";
import { ApiError } from "../base/errors.ts";
import { exchangeOf } from "../http/exchange.ts";
import { jsonAnswer } from "../http/json-answer.ts";
import {
  admittingEndpoint,
  describedBy,
  endpointsBehind,
  openEndpoint,
  type ServedEndpoint,
} from "../http/served-endpoint.ts";
import { wantsSocket } from "../http/web-socket.ts";
import type { AdmitAnonymous } from "./anonymous.ts";
import type { PageCaller, WebCaller } from "./caller.ts";
import { loadForOpenWebUi, searchAsSearxng, searchForOpenWebUi } from "./compat.ts";
import { type CrawlJobsDeps, cancelCrawl, pollCrawl, startCrawl } from "./crawl-jobs.ts";
import { cancelExtract, type ExtractJobsDeps, pollExtract, startExtract } from "./extract/jobs.ts";
import { asWebError, inClientFormat, type WebFeature } from "./failure.ts";
import { cancelLlmstxt, type LlmstxtJobsDeps, pollLlmstxt, startLlmstxt } from "./llmstxt/jobs.ts";
import { type MapDeps, mapSite } from "./map.ts";
import type { Body } from "./params.ts";
import {
  type AdmittedCaller,
  answerIfGone,
  jobCallerOf,
  publicUrlOf,
  readWebBody,
  type WebEdge,
  warnOfUnexpected,
} from "./requests.ts";
import { scrape } from "./scrape.ts";
import { searchWeb, type WebSearchDeps } from "./search.ts";
import type { SinglePageDeps } from "./single-page.ts";

/** What the endpoints need. */
export interface WebRoutesDeps {
  readonly edge: WebEdge;
  readonly anonymous: AdmitAnonymous;
  readonly pages: SinglePageDeps;
  readonly search: WebSearchDeps;
  readonly map: MapDeps;
  readonly crawls: CrawlJobsDeps;
  readonly extracts: ExtractJobsDeps;
  readonly llmstxts: LlmstxtJobsDeps;
}

/**
 * Statuses of refusals for which the body is read, so that they can be in the client's own format: the plan or the rights of a
 * valid key. A request above the rate limit is refused without reading its body.
 */
const REPORTED_IN_CLIENT_FORMAT: ReadonlySet<number> = new Set([402, 403]);

type Answer = (body: Body, from: AdmittedCaller) => Promise<object>;

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

type WebAnswers = ReturnType<typeof webAnswers>;

/** What the endpoints are made of. */
export interface WebServing {
  readonly deps: WebRoutesDeps;
  readonly answers: WebAnswers;
  /** Answers the WebSocket by which a client watches a crawl. */
  watchJob(request: Request, id: string): Promise<Response>;
}

type WebEndpoint = ServedEndpoint<WebServing>;

const webText = describedBy(() => {
  const { WEB_TEXTS }: typeof import("./openapi.ts") = require("./openapi.ts");
  return WEB_TEXTS;
});

const keyed = endpointsBehind("key", ({ deps }: WebServing, request) => deps.edge.authenticate(request));

/** An endpoint that does the work of a tool, and is counted. */
const working = (feature: WebFeature, path: string, describe: WebEndpoint["describe"]): WebEndpoint =>
  admittingEndpoint("counted", "POST", path, {
    describe,
    handle: ({ answers }, call) => answers[feature](call),
  });

/** Status 307 preserves the method and the body. Nothing is checked or read before the client sends the request again. */
const moved = (path: string, describe: WebEndpoint["describe"]): WebEndpoint =>
  openEndpoint("POST", path, {
    describe,
    handle: () => new Response(null, { status: 307, headers: { location: "/v1/scrape" } }),
  });

/** An endpoint in the format of another program. */
const compatible = (
  feature: WebFeature,
  path: string,
  {
    describe,
    answer,
  }: Pick<WebEndpoint, "describe"> & {
    answer(body: Body, deps: WebRoutesDeps, from: PageCaller): Promise<object>;
  },
): WebEndpoint =>
  admittingEndpoint("counted", "POST", path, {
    describe,
    handle: async ({ deps }, { request }) => {
      const { accountId } = await admitSearcher(request, deps);
      const body = await readWebBody(request, deps.edge);
      const { finish } = createAnswering(deps);
      return finish(feature, request, () => answer(body, deps, { signal: request.signal, accountId }));
    },
  });

/** Pages and sites. */
const PAGES: readonly WebEndpoint[] = [
  working("scrape", "/v1/scrape", webText("scrape")),
  working("map", "/v1/map", webText("map")),
  working("crawl", "/v1/crawl", webText("startCrawl")),
  admittingEndpoint("key", "GET", "/v1/crawl/:id", {
    describe: webText("getCrawl"),
    handle: async ({ deps, watchJob }, { request, params: { id } }) => {
      if (wantsSocket(request)) return watchJob(request, id);
      const { accountId } = await deps.edge.authenticate(request);
      const query = new URL(request.url).searchParams;
      const address = `${publicUrlOf(request, deps.edge)}/v1/crawl/${id}`;
      return jsonAnswer(request, await pollCrawl({ id, accountId }, deps.crawls, { query, address }));
    },
  }),
  keyed("DELETE", "/v1/crawl/:id", {
    describe: webText("cancelCrawl"),
    handle: async ({ deps }, { params: { id }, caller: { accountId } }) =>
      Response.json(await cancelCrawl({ id, accountId }, deps.crawls)),
  }),
  moved("/v1/fetch", webText("fetchMoved")),
  moved("/fetch", webText("fetchMovedShort")),
];

/** Extractions and llms.txt, with their jobs. */
const JOBS: readonly WebEndpoint[] = [
  working("extract", "/v1/extract", webText("startExtract")),
  keyed("GET", "/v1/extract/:id", {
    describe: webText("getExtract"),
    handle: async ({ deps }, { request, params: { id }, caller: { accountId } }) =>
      jsonAnswer(request, await pollExtract({ id, accountId }, deps.extracts)),
  }),
  keyed("DELETE", "/v1/extract/:id", {
    describe: webText("cancelExtract"),
    handle: async ({ deps }, { params: { id }, caller: { accountId } }) =>
      Response.json(await cancelExtract({ id, accountId }, deps.extracts)),
  }),
  working("llmstxt", "/v1/llmstxt", webText("startLlmstxt")),
  keyed("GET", "/v1/llmstxt/:id", {
    describe: webText("getLlmstxt"),
    handle: async ({ deps }, { request, params: { id }, caller: { accountId } }) =>
      jsonAnswer(request, await pollLlmstxt({ id, accountId }, deps.llmstxts)),
  }),
  keyed("DELETE", "/v1/llmstxt/:id", {
    describe: webText("cancelLlmstxt"),
    handle: async ({ deps }, { params: { id }, caller: { accountId } }) =>
      Response.json(await cancelLlmstxt({ id, accountId }, deps.llmstxts)),
  }),
];

/** Search, in the gateway's own format and in those of other programs. */
const SEARCHES: readonly WebEndpoint[] = [
  working("search", "/v1/search", webText("search")),
  admittingEndpoint("counted", "POST", "/v1/crowd/search", {
    describe: webText("searchWithContent"),
    handle: ({ deps }, call) =>
      createAnswering(deps).answering("search", (body, from) =>
        searchWeb({ ...body, include_content: true }, deps.search, from),
      )(call),
  }),
  admittingEndpoint("counted", "GET", "/searxng/search", {
    describe: webText("searchSearxng"),
    handle: async ({ deps }, { request }) => {
      const { accountId } = await admitSearcher(request, deps);
      const query = new URL(request.url).searchParams;
      return createAnswering(deps).finish("search", request, () =>
        searchAsSearxng(query, deps.search, { signal: request.signal, accountId }),
      );
    },
  }),
  compatible("search", "/v1/compat/openwebui/search", {
    describe: webText("searchOpenWebui"),
    answer: (body, { search }, from) => searchForOpenWebUi(body, search, from),
  }),
  compatible("scrape", "/v1/compat/openwebui/load", {
    describe: webText("loadOpenWebui"),
    answer: (body, { search }, from) => loadForOpenWebUi(body, search, from),
  }),
];

/** The endpoints of search, scrape, map, crawl, extract and llms.txt. */
export const WEB_ENDPOINTS: readonly WebEndpoint[] = [...PAGES, ...JOBS, ...SEARCHES];

/** Admits a search: a client without a key is admitted if its address is listed. */
function admitSearcher(request: Request, { edge, anonymous }: WebRoutesDeps): AtOnce<Pick<WebCaller, "accountId">> {
  const exchange = exchangeOf(request);
  const nameless = request.headers.has("authorization") ? undefined : anonymous(exchange);
  return nameless ?? edge.admit(request, exchange);
}

/** What the endpoints share: admission, and how failures are reported. */
function createAnswering({ edge }: WebRoutesDeps) {
  const admit = async (request: Request): Promise<Pick<WebCaller, "accountId" | "keyId">> => {
    try {
      return await edge.admit(request, exchangeOf(request));
    } catch (error) {
      // A client with a valid key gets errors in its own format, which only the body shows. The bodies of other clients are not
      // read.
      if (!(error instanceof ApiError) || !REPORTED_IN_CLIENT_FORMAT.has(error.status)) throw error;
      throw inClientFormat(error, await readWebBody(request, edge).catch(() => undefined));
    }
  };
  const translate = (feature: WebFeature, request: Request, error: unknown): ApiError => {
    const known = asWebError(feature, error);
    if (known.status === 500) warnOfUnexpected(request, error, edge);
    return known;
  };
  /** The result, or the error in the format of the client that sent the body. */
  const finish = async (feature: WebFeature, request: Request, work: () => Promise<object>, body?: Body) => {
    try {
      return await jsonAnswer(request, await work());
    } catch (error) {
      const unread = answerIfGone(request);
      if (unread !== undefined) return unread;
      throw inClientFormat(translate(feature, request, error), body);
    }
  };
  const answering =
    (feature: WebFeature, answer: Answer) =>
    async ({ request }: { request: Request }) => {
      const from = jobCallerOf(request, await admit(request));
      const body = await readWebBody(request, edge);
      return finish(feature, request, () => answer(body, from), body);
    };
  return { answering, finish };
}
