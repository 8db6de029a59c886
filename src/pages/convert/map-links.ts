// Selects the addresses of a site's pages from those that were found. There may be very many, so this runs in a thread.

import { pageKey, siteKey } from "../../base/page-key.ts";
import { isTrap } from "../addresses.ts";

/** The addresses and the selection criteria. */
export interface MapLinksTask {
  /** The addresses, one per line, the most important first. */
  readonly addresses: string;
  /** The address of a page of the site. */
  readonly home: string;
  readonly limit: number;
  /** A text that an address must contain. */
  readonly search: string | undefined;
  /** Whether pages on subdomains of the site's host are included. */
  readonly subdomains?: boolean;
  /** Whether addresses that differ only in their query count as one page. */
  readonly ignoresQuery?: boolean;
}

/** The selected pages. */
export interface MapLinks {
  /** Addresses, one per line; each page occurs once. */
  readonly links: string;
  /** The number of pages of the site that were found, selected or not. */
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
