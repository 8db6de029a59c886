// Selects the addresses of a site's pages from those that were found. There may be very many, so it runs in a thread.

import { pageKey, siteKey } from "../../base/page-key.ts";
import { isTrap } from "../addresses.ts";

/** What is searched. */
export interface MapLinksTask {
  /** One per line, the most important first. */
  readonly addresses: string;
  /** A page of the site. */
  readonly home: string;
  readonly limit: number;
  /** What an address must contain. */
  readonly search: string | undefined;
  /** Pages of hosts below the site's own, too. */
  readonly subdomains?: boolean;
  /** Addresses that differ in their query alone are one page. */
  readonly ignoresQuery?: boolean;
}

/** What was found. */
export interface MapLinks {
  /** One per line, each page once. */
  readonly links: string;
  /** Pages of the site that were found, wanted or not. */
  readonly seen: number;
}

/** Selects the pages of the site, each once. */
export function mapLinks({
  addresses,
  home,
  limit,
  search,
  subdomains = false,
  ignoresQuery = false,
}: MapLinksTask): MapLinks {
  const site = siteKey(home);
  const keys = new Set<string>();
  const links: string[] = [];
  const isOfSite = (key: string) => key === site || (subdomains && key.endsWith(`.${site}`));
  for (const found of addresses.split("\n")) {
    const address = ignoresQuery ? found.replace(/\?[^#]*/, "") : found;
    if (!isOfSite(siteKey(address)) || isTrap(address)) continue;
    const key = pageKey(address);
    if (keys.has(key)) continue;
    keys.add(key);
    const plain = new URL(address).href.replace(/#.*$/, "");
    if (links.length < limit && (search === undefined || plain.includes(search))) links.push(plain);
  }
  return { links: links.join("\n"), seen: keys.size };
}
