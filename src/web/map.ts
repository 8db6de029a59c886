// Lists the addresses of a site: from robots.txt and sitemaps, and from the links of the root page if those are too few. No other
// page is fetched.

import type { AddressGuard } from "../net/address-guard.ts";
import type { Converter } from "../pages/convert/convert.ts";
import type { LoadedPage, LoadPage } from "../pages/load.ts";
import { PageError, type PageFault } from "../pages/page-error.ts";
import type { Robots, RobotsRules } from "../pages/robots/robots.ts";
import type { HostScheduler } from "../pages/schedule/host-scheduler.ts";
import type { SitemapOptions } from "../pages/sitemap.ts";
import type { PageCaller } from "./caller.ts";
import { type Body, readInteger, readText, readUrl } from "./params.ts";

/** What listing the addresses needs. */
export interface MapDeps {
  readonly guard: AddressGuard;
  /** Reads addresses from sitemaps and from the sitemaps that they list. */
  readonly readSitemaps: (starts: readonly string[], options: SitemapOptions) => Promise<string[]>;
  readonly robots: Robots;
  readonly load: LoadPage;
  readonly mapLinks: Converter["mapLinks"];
  readonly userAgent: () => string;
  readonly scheduler: Pick<HostScheduler, "visit">;
}

const LINKS_MAX = 5000;
const TIMEOUT_MS = 60_000;
/** If the sitemaps take longer, the root page is fetched meanwhile. */
const SLOW_SITEMAPS_MS = 2000;
/** Time limit for selecting the addresses, which only a busy machine can exceed. */
const PICK_TIMEOUT_MS = 20_000;
/** Errors after which the site is known to have answered, but not with a page that has links. */
const LINKLESS: ReadonlySet<PageFault> = new Set<PageFault>(["not_html", "too_large", "conversion"]);
/** Maximum number of addresses from sitemaps, which may list far more than is wanted, such as other sites. */
const SITEMAP_URLS_MAX = 50_000;

/** Options for listing addresses that only some endpoints have. */
export interface MapWays {
  /** `skip` uses only the links of the root page, `only` uses only the site's own lists. */
  readonly sitemap: "include" | "skip" | "only";
  /** Whether pages on subdomains of the site's host are included. */
  readonly subdomains: boolean;
  /** Whether addresses that differ only in their query count as one page. */
  readonly ignoresQuery: boolean;
}

const USUAL: MapWays = { sitemap: "include", subdomains: false, ignoresQuery: false };

/** Reads the parameters and lists the addresses of the site. Throws `ApiError` and the errors of loading a page. */
export async function mapSite(
  body: Body,
  deps: MapDeps,
  from: PageCaller,
  ways: MapWays = USUAL,
): Promise<Record<string, unknown>> {
  const url = readUrl(body);
  const limit = readInteger(body, ["limit"], { min: 1, max: LINKS_MAX }) ?? LINKS_MAX;
  const search = readText(body, ["search"]);
  const timeoutMs = readInteger(body, ["timeout_ms", "timeout"], { min: 1000, max: 300_000 }) ?? TIMEOUT_MS;
  const endsMs = performance.now() + timeoutMs;
  const leftMs = () => Math.max(1, endsMs - performance.now());
  const { signal, accountId } = from;
  const begin = await inTime(timeoutMs, signal, async (both) => {
    await deps.guard.check(url, { signal: both });
    const rules = await deps.robots.rulesFor(url, both, accountId);
    return { rules, place: await deps.scheduler.visit(accountId, undefined, both) };
  });
  try {
    const links = await findLinks(begin.rules, deps, { url, limit, search, leftMs, signal, accountId, ways });
    return { success: true, links, total: links.length };
  } finally {
    begin.place.end();
  }
}

/** What is wanted, and how much time is left. */
interface Wanted {
  readonly url: string;
  readonly limit: number;
  readonly search: string | undefined;
  readonly leftMs: () => number;
  readonly signal: AbortSignal;
  readonly accountId: string;
  readonly ways: MapWays;
}

async function findLinks(rules: RobotsRules, deps: MapDeps, wanted: Wanted): Promise<readonly string[]> {
  const { url, limit, search, signal, accountId, leftMs, ways } = wanted;
  const { sitemap, ...pages } = ways;
  const pick = async (addresses: string) => {
    const task = { addresses, home: url, limit, search, ...pages };
    // This step has a time limit of its own, since the found addresses should be returned even if it is late. The largest
    // possible number of them takes a second.
    const { links, seen } = await deps.mapLinks(task, { timeoutMs: PICK_TIMEOUT_MS, signal, account: accountId });
    return { links: links === "" ? [] : links.split("\n"), seen };
  };
  const starts = [...new Set([...rules.sitemaps, new URL("/sitemap.xml", url).href])];
  const options = {
    urlsMax: SITEMAP_URLS_MAX,
    timeoutMs: leftMs() * 0.7,
    userAgent: deps.userAgent(),
    home: url,
    account: accountId,
    signal,
  };
  const enough = new AbortController();
  let root: ReturnType<typeof loadRoot> | undefined;
  const begin = () => {
    root ??= loadRoot(deps, wanted, AbortSignal.any([signal, enough.signal]));
    return root;
  };
  // If the sitemaps are slow, the root page is fetched meanwhile, as a site that hangs on sitemaps may still answer for the page.
  const slow = sitemap === "only" ? undefined : setTimeout(begin, SLOW_SITEMAPS_MS);
  try {
    const inSitemaps = sitemap === "skip" ? [] : await deps.readSitemaps(starts, options);
    const listed = [url, ...inSitemaps].join("\n");
    const found = await pick(listed);
    if (found.links.length >= limit || (sitemap === "only" && found.seen > 1)) return found.links;
    const { page, error } = await begin();
    if (page !== undefined) {
      const more = page.allLinks === "" ? [] : [page.allLinks];
      return (await pick([listed, page.url, ...more].join("\n"))).links;
    }
    signal.throwIfAborted();
    // If there are addresses from the sitemaps, a root page that cannot be read does not matter. A body that is not a page has no
    // links.
    const hasAnswered = error instanceof PageError && LINKLESS.has(error.fault);
    if (found.seen < 2 && !hasAnswered) throw error;
    return found.links;
  } finally {
    clearTimeout(slow);
    enough.abort();
  }
}

/** Loads the root page and returns it or the error. It never rejects, because the result may never be awaited. */
async function loadRoot(
  deps: MapDeps,
  { url, accountId, leftMs }: Wanted,
  signal: AbortSignal,
): Promise<{ readonly page?: LoadedPage; readonly error?: unknown }> {
  try {
    const page = await deps.load({
      url,
      accountId,
      markdown: false,
      html: false,
      links: true,
      screenshot: "none",
      onlyMainContent: false,
      documents: false,
      timeoutMs: leftMs(),
      signal,
    });
    return { page };
  } catch (error) {
    return { error };
  }
}

/** Runs `work` with a time limit. Throws `PageError` `timeout` if it takes longer, or the signal's reason. */
async function inTime<T>(ms: number, signal: AbortSignal, work: (both: AbortSignal) => Promise<T>): Promise<T> {
  const timer = AbortSignal.timeout(ms);
  try {
    return await work(AbortSignal.any([signal, timer]));
  } catch (error) {
    signal.throwIfAborted();
    throw timer.aborted ? new PageError("timeout", "The site did not answer in time.", { cause: error }) : error;
  }
}
