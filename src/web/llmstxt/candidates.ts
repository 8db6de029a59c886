// Finds the candidate pages for a site's llms.txt in the root page's links and the sitemaps, the most important first. None of
// them is fetched here.

import { pageKey } from "../../base/page-key.ts";
import { createPause } from "../../base/time-slices.ts";
import { mayBePage } from "../../pages/addresses.ts";
import type { NavigationLink } from "../../pages/convert/navigation.ts";
import type { MapDeps } from "../map.ts";
import { type Candidate, rankPages } from "./rank.ts";

/** What finding candidates needs. */
export type CandidateDeps = Pick<MapDeps, "readSitemaps" | "robots" | "mapLinks" | "userAgent">;

/** The links of the root page. */
export interface RootLinks {
  /** The address of the root page after redirects. */
  readonly home: string;
  /** The address that was requested. */
  readonly asked: string;
  readonly navigation: readonly NavigationLink[];
  /** All links, one per line. */
  readonly allLinks: string;
}

/** Maximum number of addresses from sitemaps, which may list far more pages than are wanted. */
const SITEMAP_URLS_MAX = 50_000;
const SITEMAPS_TIMEOUT_MS = 30_000;
/** Maximum number of addresses to compare. */
const CANDIDATES_MAX = 5000;
/** Time limit for selecting the pages, which only a busy machine can exceed. */
const PICK_TIMEOUT_MS = 20_000;
const PRIORITY_DEFAULT = 0.5;

/** Returns at most `max` pages, without the root page. */
export async function findCandidates(
  root: RootLinks,
  deps: CandidateDeps,
  { max, account, signal }: { max: number; account: string; signal: AbortSignal },
): Promise<Candidate[]> {
  const { home, asked, navigation, allLinks } = root;
  const { urls, priorities } = await readSite(home, deps, { account, signal });
  // The most important addresses come first, because those beyond the limit are not examined.
  const addresses = [home, ...navigation.map(({ url }) => url), ...lines(allLinks), ...urls].join("\n");
  const task = { addresses, home, limit: CANDIDATES_MAX, search: undefined };
  const { links } = await deps.mapLinks(task, { timeoutMs: PICK_TIMEOUT_MS, signal, account });
  const pause = createPause();
  const linked = new Map<string, Pick<Candidate, "label" | "group" | "place" | "order">>();
  const orders = { header: 0, sidebar: 0, content: 0, footer: 0 };
  for (const { url, label, group, place } of navigation) {
    const key = pageKey(url);
    if (!linked.has(key)) linked.set(key, { label, group, place, order: orders[place]++ });
  }
  const own = new Set([pageKey(home), pageKey(asked)]);
  const candidates: Candidate[] = [];
  for (const url of lines(links)) {
    await pause();
    const key = pageKey(url);
    if (own.has(key) || !mayBePage(url, { documents: false })) continue;
    const { label = "", group = "", place, order = 0 } = linked.get(key) ?? {};
    candidates.push({ key, url, label, group, place, order, priority: priorities.get(key) });
  }
  return (await rankPages(candidates, home)).slice(0, max);
}

/** The pages that the sitemaps list: the highest priority first, then the shallowest. */
async function readSite(
  home: string,
  { readSitemaps, robots, userAgent }: CandidateDeps,
  { account, signal }: { account: string; signal: AbortSignal },
): Promise<{ urls: string[]; priorities: ReadonlyMap<string, number> }> {
  const { sitemaps } = await robots.rulesFor(home, signal, account);
  const stated = new Map<string, number>();
  const urls = await readSitemaps([...new Set([...sitemaps, new URL("/sitemap.xml", home).href])], {
    urlsMax: SITEMAP_URLS_MAX,
    timeoutMs: SITEMAPS_TIMEOUT_MS,
    userAgent: userAgent(),
    home,
    account,
    signal,
    onPriority: (url, priority) => stated.set(url, priority),
  });
  const pause = createPause();
  const priorities = new Map<string, number>();
  for (const [url, priority] of stated) {
    await pause();
    priorities.set(pageKey(url), priority);
  }
  const weighed = urls.map((url) => ({
    url,
    weight: 100 * (stated.get(url) ?? PRIORITY_DEFAULT) - url.split("/").length,
  }));
  return { urls: weighed.sort((a, b) => b.weight - a.weight).map(({ url }) => url), priorities };
}

function lines(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}
