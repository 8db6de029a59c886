// Loads one page. It is scheduled with its host, fetched by HTTP first and shown in a browser only if necessary, and converted in
// a thread. Throws `PageError`, `BlockedAddress`, or the caller's abort reason.
//
// robots.txt (robots/) is obeyed first, and again at each redirect. A request waits for the host's turn (schedule/) and goes through
// net/fetch.ts, where net/address-guard.ts refuses private addresses at every redirect; the browser's only way out is net/proxy.ts.
// The thread (convert/worker.ts) does the charset, the main content (content/main-content.ts) and the Markdown (markdown/).

import { pause } from "../base/retry.ts";
import { FetchError, type Fetched, type GuardedFetch } from "../net/fetch.ts";
import { PoolFull, TaskTimeout } from "../workers/pool.ts";
import type { Acted, Browsing } from "./browser/browsing.ts";
import type { Rendered, Renderer } from "./browser/render.ts";
import { isChallenge, refusalText, refusesPage } from "./challenge.ts";
import {
  type ConversionWish,
  convertAnswer,
  convertHtml,
  convertOptions,
  extractOptions,
  labelledAnswer,
  pageSourceOf,
} from "./conversion.ts";
import type { Converter } from "./convert/convert.ts";
import { type DocumentKind, documentKindOf } from "./convert/document-kind.ts";
import type { Extracted } from "./convert/extract.ts";
import { PageError } from "./page-error.ts";
import { RETRIED_STATUSES, retryAfterMs } from "./retry-after.ts";
import type { Robots } from "./robots/robots.ts";

/** What to load, and what to return. */
export interface LoadRequest extends ConversionWish {
  readonly url: string;
  /** Whether to take a screenshot of the page, and of which part. */
  readonly screenshot: "none" | "viewport" | "full";
  /** Whether to convert PDF, text, JSON, XML and feeds to Markdown. Otherwise they are a failure. */
  readonly documents: boolean;
  /** Whether to read PDFs if `documents` is set; by default they are read. */
  readonly pdf?: boolean | undefined;
  /** Additional request headers. Credentials among them are only sent to the origin for which they were given. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Options and steps that the caller wants in the browser. */
  readonly browsing?: Browsing | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Replaces the loader's own fetch, for callers that store the responses. */
  readonly fetch?: GuardedFetch | undefined;
  /** Wraps the rendering of an address, for the same callers. */
  readonly rendering?: ((url: string, render: () => Promise<Rendered>) => Promise<Rendered>) | undefined;
}

/** A loaded page. */
export interface LoadedPage extends Extracted {
  /** The address of the page after redirects. */
  readonly url: string;
  readonly status: number;
  readonly screenshot?: Uint8Array;
  readonly rendered: boolean;
  /** The content type that the server stated. */
  readonly contentType?: string | undefined;
  /** The results of the caller's steps in the browser. */
  readonly acted?: Acted;
}

/** Loads pages. */
export type LoadPage = (request: LoadRequest) => Promise<LoadedPage>;

/** What loading needs. */
export interface LoaderDeps {
  readonly fetch: GuardedFetch;
  readonly converter: Converter;
  /** If undefined, there is no browser. */
  readonly renderer: Renderer | undefined;
  readonly robots: Robots;
  readonly settings: () => LoaderSettings;
}

/** The operator's settings. */
export interface LoaderSettings {
  readonly userAgent: string;
  readonly pageBytesMax: number;
  readonly respectRobots: boolean;
  readonly render: "auto" | "always" | "never";
}

/** Maximum number of attempts for one page if the site asks for a later retry. */
const TRIES_MAX = 3;
/** Maximum number of <meta refresh> redirects that are followed without a browser. */
const REFRESHES_MAX = 3;
/** The text of a page, if it was requested. */
const textOf = ({ markdown, html }: Extracted) => markdown ?? html?.replace(/<[^<>]*>/g, "");
const CUT = "The server's answer ended too early: the end of the page may be missing.";
/** A page is not rendered if less time than this is left. */
const RENDER_TIME_MIN_MS = 500;

/** Creates a loader. */
export function createLoader(deps: LoaderDeps): LoadPage {
  return async (request) => {
    const endsMs = performance.now() + request.timeoutMs;
    const timer = AbortSignal.timeout(request.timeoutMs);
    const signal = request.signal === undefined ? timer : AbortSignal.any([request.signal, timer]);
    try {
      const at: Load = {
        deps,
        request,
        signal,
        leftMs: () => Math.max(1, endsMs - performance.now()),
        isHeldBack: false,
      };
      const page = await load(at);
      return at.isHeldBack ? { ...page, omissions: [...(page.omissions ?? []), HELD_BACK] } : page;
    } catch (error) {
      request.signal?.throwIfAborted();
      throw timer.aborted
        ? new PageError("timeout", "The page did not load in time.", { cause: error })
        : asPageError(error);
    }
  };
}

interface Load {
  readonly deps: LoaderDeps;
  readonly request: LoadRequest;
  readonly signal: AbortSignal;
  readonly leftMs: () => number;
  /** Whether the caller's headers were not sent to a host that is only allowed for pages. */
  isHeldBack: boolean;
}

/** The note on a page without the caller's headers. */
const HELD_BACK =
  "The request headers were not sent: the operator allows pages of this host, but no callers' data (web.allow_caller_data).";

async function load(at: Load): Promise<LoadedPage> {
  const settings = at.deps.settings();
  let url = at.request.url;
  for (let hop = 0; ; hop++) {
    await obeyRobots(at, url);
    const answer = await fetchPolitely(at, url);
    const challenged = isChallenge(answer.status, answer.headers, answer.body);
    const kind = documentKindOf(answer.headers.get("content-type"), answer.body);
    if (challenged || refusesPage(answer.status)) {
      if (challenged && settings.render !== "never" && at.deps.renderer !== undefined) return renderPage(at, answer);
      throw new PageError("refused", refusalText(answer.status, challenged), { status: answer.status });
    }
    if (answer.status >= 500)
      throw new PageError("upstream", `The server answered ${answer.status}.`, { status: answer.status });
    if (kind !== "html") return readDocument(at, answer, kind);
    if (at.request.screenshot !== "none" || at.request.browsing?.mustShow === true)
      return orAsSent(at, answer, await renderPage(at, answer));
    if (settings.render === "always") return orAsSent(at, answer, await renderUnlessLost(at, answer));
    const page = await convertAnswer(at, answer);
    if (page.refreshUrl !== undefined && hop < REFRESHES_MAX) {
      url = page.refreshUrl;
      continue;
    }
    const wantsBrowser = page.needsScript !== undefined && settings.render === "auto" && at.deps.renderer !== undefined;
    const shown = wantsBrowser ? await renderBetter(at, answer, page) : undefined;
    if (shown !== undefined) return shown;
    if (page.refreshUrl !== undefined && textOf(page)?.trim() === "")
      throw new PageError("upstream", "The page refreshes to other pages without end.", { status: answer.status });
    return finish(answer, await labelledAnswer(at, answer, page));
  }
}

async function obeyRobots({ deps, signal, request: { accountId } }: Load, url: string): Promise<void> {
  if (!deps.settings().respectRobots || !URL.canParse(url) || !/^https?:/.test(url)) return;
  const rules = await deps.robots.rulesFor(url, signal, accountId);
  await rules.check(url, signal, accountId);
}

/** Fetches a page. If the server answers "too many requests" or with an error, the request is repeated while there is time. */
async function fetchPolitely(at: Load, url: string): Promise<Fetched> {
  const { userAgent, pageBytesMax } = at.deps.settings();
  const get = at.request.fetch ?? at.deps.fetch;
  for (let attempt = 1; ; attempt++) {
    const answer = await get(url, {
      bytesMax: pageBytesMax,
      timeoutMs: at.leftMs(),
      signal: at.signal,
      // robots.txt may also forbid the target of a redirect.
      onRedirect: (next) => obeyRobots(at, next),
      headers: {
        "user-agent": userAgentOf(userAgent, at.request),
        accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "accept-language": "en-US,en;q=0.9,*;q=0.5",
      },
      callerHeaders: at.request.headers,
    });
    at.isHeldBack ||= answer.heldBack === true;
    if (attempt >= TRIES_MAX || !RETRIED_STATUSES.has(answer.status)) return answer;
    if (isChallenge(answer.status, answer.headers, answer.body)) return answer;
    const waitMs = retryAfterMs(answer.headers.get("retry-after"), attempt);
    // If the retry would come after the deadline, the response that arrived is the result.
    if (waitMs > at.leftMs() - RENDER_TIME_MIN_MS) return answer;
    await pause(waitMs, at.signal);
  }
}

async function readDocument(at: Load, answer: Fetched, kind: DocumentKind | undefined): Promise<LoadedPage> {
  const isUnwanted = kind === "pdf" && at.request.pdf === false;
  if (kind === undefined || !at.request.documents || isUnwanted) {
    // What a page with an error holds is not what was wanted.
    if (answer.status >= 400)
      throw new PageError("not_html", `The page answered ${answer.status}, with ${nameOf(answer, kind)}.`, {
        status: answer.status,
      });
    const hint = kind === undefined || isUnwanted ? "" : " (documents: true reads it)";
    const text = `The address holds ${nameOf(answer, kind)}, not an HTML page${hint}.`;
    throw new PageError("not_html", text, { status: answer.status });
  }
  if (kind === "pdf") {
    const { pageBytesMax: bytesMax } = at.deps.settings();
    return finish(answer, await at.deps.converter.readPdf(answer.body, { bytesMax, ...convertOptions(at) }));
  }
  const task = {
    kind: "document" as const,
    document: kind,
    ...pageSourceOf(answer),
    options: extractOptions(at, answer.url),
    pick: at.request.pickAt?.(answer.url),
  };
  return finish(answer, await at.deps.converter.convert(task, convertOptions(at)));
}

/** Describes the kind of a body in an error message, by its declared type if that is plausible. */
function nameOf({ headers }: Fetched, kind: DocumentKind | undefined): string {
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim() ?? "";
  if (kind === "pdf") return "a PDF";
  if (type === "" || /html/i.test(type)) return kind === undefined ? "binary data" : "plain text";
  return type;
}

async function renderPage(at: Load, answer: Fetched): Promise<LoadedPage> {
  const { renderer } = at.deps;
  if (renderer === undefined)
    throw new PageError("no_browser", "This page needs a browser, and this gateway has none.");
  const render = () =>
    renderer.render({
      url: answer.url,
      accountId: at.request.accountId,
      timeoutMs: at.leftMs(),
      signal: at.signal,
      screenshot: at.request.screenshot,
      userAgent: userAgentOf(at.deps.settings().userAgent, at.request),
      browsing: browsingAt(at, answer.url),
      bytesMax: at.deps.settings().pageBytesMax,
      onRedirect: (next) => obeyRobots(at, next),
    });
  const { rendering } = at.request;
  const rendered = await (rendering === undefined ? render() : rendering(answer.url, render));
  if (
    rendered.status !== undefined &&
    (refusesPage(rendered.status) || isChallenge(rendered.status, new Headers(), encode(rendered.html)))
  )
    throw new PageError("refused", refusalText(rendered.status, true), { status: rendered.status });
  if ((rendered.status ?? 200) >= 500)
    throw new PageError("upstream", `The server answered ${rendered.status}.`, { status: rendered.status });
  // Scripts can navigate to generated documents (blob:, about:blank). In that case, the page keeps its own address.
  const url = /^https?:/.test(rendered.url) ? rendered.url : answer.url;
  return finishRendered(at, { ...rendered, url }, answer.status);
}

/** Renders the page. Undefined if its scripts navigated to an unreachable host; then the HTTP response is the page. */
async function renderUnlessLost(at: Load, answer: Fetched): Promise<LoadedPage | undefined> {
  try {
    return await renderPage(at, answer);
  } catch (error) {
    at.signal.throwIfAborted();
    if (error instanceof PageError && error.fault === "upstream") return undefined;
    throw error;
  }
}

/**
 * Returns the rendered page. If scripts have removed its text or left it for an empty address, the text that was sent is used.
 */
async function orAsSent(at: Load, answer: Fetched, shown: LoadedPage | undefined): Promise<LoadedPage> {
  if (shown === undefined) return finish(answer, await labelledAnswer(at, answer, await convertAnswer(at, answer)));
  const text = textOf(shown);
  if (text === undefined || text.trim() !== "") return shown;
  const { url, status, rendered, screenshot, acted } = shown;
  const sent = await labelledAnswer(at, answer, await convertAnswer(at, answer, url), url);
  const page = { ...sent, url, status, rendered };
  return { ...page, ...(screenshot === undefined ? {} : { screenshot }), ...(acted === undefined ? {} : { acted }) };
}

/** The user agent of a mobile browser. The configured user agent is appended to it. */
const MOBILE_AGENT =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36";

function userAgentOf(own: string, { browsing, headers }: LoadRequest): string {
  return headers?.["user-agent"] ?? (browsing?.isMobile === true ? `${MOBILE_AGENT} ${own}` : own);
}

/** The caller's options for the browser. Its headers are left out at another origin, and where they were held back. */
function browsingAt({ request: { url, browsing }, isHeldBack }: Load, now: string): Browsing | undefined {
  if (browsing === undefined || (new URL(url).origin === new URL(now).origin && !isHeldBack)) return browsing;
  return { ...browsing, headers: {} };
}

/** Renders a page that looked empty. Undefined if the result has less text than the page as it was sent. */
async function renderBetter(at: Load, answer: Fetched, plain: Extracted): Promise<LoadedPage | undefined> {
  if (at.leftMs() < RENDER_TIME_MIN_MS) return undefined;
  try {
    const page = await renderPage(at, answer);
    return (page.markdown ?? page.html ?? "").length >= (plain.markdown ?? plain.html ?? "").length ? page : undefined;
  } catch (error) {
    at.request.signal?.throwIfAborted();
    // The page fetched by HTTP is better than none, even if the browser is busy or fails. Only a refusal by the site or
    // by the address guard ends the request.
    if (error instanceof PoolFull || (error instanceof PageError && error.fault !== "refused")) return undefined;
    throw error;
  }
}

async function finishRendered(at: Load, rendered: Rendered, status: number): Promise<LoadedPage> {
  const source = { bytes: encode(rendered.html), contentType: "text/html; charset=utf-8" };
  const page = await convertHtml(at, source, rendered.url);
  return {
    ...page,
    url: rendered.url,
    status: rendered.status ?? status,
    rendered: true,
    contentType: "text/html",
    ...(rendered.screenshot === undefined ? {} : { screenshot: rendered.screenshot }),
    ...(rendered.acted === undefined ? {} : { acted: rendered.acted }),
  };
}

function finish(answer: Fetched, page: Extracted): LoadedPage {
  const contentType = answer.headers.get("content-type") ?? undefined;
  const omissions = answer.isCut === true ? { omissions: [...(page.omissions ?? []), CUT] } : {};
  return { ...page, ...omissions, url: answer.url, status: answer.status, rendered: false, contentType };
}

function asPageError(error: unknown): unknown {
  if (error instanceof TaskTimeout)
    return new PageError("conversion", "The page took too long to convert.", { cause: error });
  if (!(error instanceof FetchError)) return error;
  switch (error.fault) {
    case "timeout":
      return new PageError("timeout", "The page did not load in time.", { cause: error });
    case "too_large":
      return new PageError("too_large", "The page is larger than allowed.", { cause: error });
    default:
      return new PageError("upstream", error.message, { cause: error });
  }
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
