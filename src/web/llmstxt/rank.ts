// Ranks the pages of a site by depth, by the site's own navigation and sitemap, and by what their addresses suggest. Pure and
// deterministic: pages of equal rank are in the order of their addresses.

import { LinearPattern } from "../../base/linear-pattern.ts";
import { createPause } from "../../base/time-slices.ts";
import type { Place } from "../../pages/convert/navigation.ts";

/** A page that may be selected. */
export interface Candidate {
  readonly key: string;
  readonly url: string;
  /** The text of the root page's link to it; empty if there is none. */
  readonly label: string;
  /** The menu or heading of the root page that contains the link. */
  readonly group: string;
  /** The part of the root page that contains the link; undefined if only a sitemap lists the page. */
  readonly place: Place | undefined;
  /** The index of the link in that part. */
  readonly order: number;
  /** The priority from 0 to 1 in the sitemap; undefined if there is none. */
  readonly priority: number | undefined;
}

/** The type of a page by its address. `secondary` pages are legal, login, tag, archive and similar pages, which come last. */
export type PageType = "main" | "article" | "plain" | "secondary";

const PLACE_WEIGHTS: Readonly<Record<Place, number>> = { header: 40, sidebar: 30, content: 15, footer: 5 };
const DEPTH_WEIGHT = 12;
const DEPTH_MAX = 6;
const ORDER_WEIGHT = 0.25;
const ORDER_MAX = 40;
const PRIORITY_WEIGHT = 40;
/** The default priority in a sitemap (sitemaps.org, "priority"). */
const PRIORITY_DEFAULT = 0.5;
const WITHIN_WEIGHT = 30;
const QUERY_WEIGHT = -15;
const LANGUAGE_WEIGHT = -60;
const TYPE_WEIGHTS: Readonly<Record<PageType, number>> = { main: 12, plain: 0, article: -8, secondary: -1000 };

/** Sorts pages by importance. `home` is the address of the root page after redirects. */
export async function rankPages(candidates: readonly Candidate[], home: string): Promise<Candidate[]> {
  const at = { within: folderOf(home), language: languageOf(home) };
  const pause = createPause();
  const weighed: { candidate: Candidate; weight: number }[] = [];
  for (const candidate of candidates) {
    await pause();
    weighed.push({ candidate, weight: weigh(candidate, at) });
  }
  return weighed
    .sort((a, b) => b.weight - a.weight || compare(a.candidate.key, b.candidate.key))
    .map(({ candidate }) => candidate);
}

function weigh(
  { url, place, order, priority }: Candidate,
  { within, language }: { within: string; language: string | undefined },
): number {
  const { pathname, search } = new URL(url);
  const isWithin = pathname.startsWith(within);
  const depth = segmentsOf(isWithin ? pathname.slice(within.length) : pathname).length;
  return (
    DEPTH_WEIGHT * -Math.min(depth, DEPTH_MAX) +
    (place === undefined ? 0 : PLACE_WEIGHTS[place] - ORDER_WEIGHT * Math.min(order, ORDER_MAX)) +
    PRIORITY_WEIGHT * ((priority ?? PRIORITY_DEFAULT) - PRIORITY_DEFAULT) +
    TYPE_WEIGHTS[typeOf(url)] +
    (within !== "/" && isWithin ? WITHIN_WEIGHT : 0) +
    (search === "" ? 0 : QUERY_WEIGHT) +
    (languageOf(url) === language ? 0 : LANGUAGE_WEIGHT)
  );
}

const LEGAL_NAME =
  "(?:privacy|terms|tos|legal|imprint|impressum|cookies?|disclaimer|gdpr|dsgvo|ccpa|datenschutz|agb|copyright|dmca|eula|dpa|subprocessors|mentions-legales|aviso-legal|conditions)";
const LEGAL_BEGIN = new RegExp(`^${LEGAL_NAME}`, "i");
/** A word behind "of" or "and" may hold what could as well follow it, so a backtracking expression would try every combination. */
const LEGAL = new LinearPattern(
  String.raw`(?i)^${LEGAL_NAME}(?:[-_](?:of[-_]\w+|and[-_]\w+|policy|notice|statement|settings|preferences|conditions|use|service|center|information|info))*(?:\.\w{1,5})?$`,
);
const LOGIN =
  /^(?:log-?in|sign-?in|sign-?up|register|registration|log-?out|sign-?out|my-?account|account|password|forgot-?password|reset-?password|cart|basket|checkout|wishlist|wp-login|wp-admin|unsubscribe)(?:\.\w{1,5})?$/i;
const TAG =
  /^(?:tags?|categor(?:y|ies)|labels?|authors?|archives?|feed|rss|atom|search|sitemap|print|share|comments?|trackback)(?:\.\w{1,5})?$/i;
const MAIN =
  /^(?:docs?|documentation|guides?|getting-?started|quick-?start|introduction|overview|tutorials?|reference|api|about|about-us|products?|features|pricing|plans|services|solutions|faq|help|support|contact|install|installation|examples?|download|learn|manual|handbook)(?:\.\w{1,5})?$/i;
const ARTICLE = /^(?:blog|news|posts?|articles?|press|stories|updates|releases?|changelog|events?)$/i;
const PAGED = /[?&](?:page|paged|p|sort|order|filter|s|q|search|replytocom|share|print|tag|cat)=/i;

function isLegal(segment: string): boolean {
  return LEGAL_BEGIN.test(segment) && LEGAL.find(segment, 0)?.end === segment.length;
}

/** The type of a page, judged by its address alone. */
export function typeOf(address: string): PageType {
  const { pathname, search } = new URL(address);
  const segments = segmentsOf(pathname);
  const last = segments.at(-1) ?? "";
  if (segments.length === 0) return search === "" ? "main" : "plain";
  if (PAGED.test(search)) return "secondary";
  if (isLegal(last) || isLegal(segments[0] as string)) return "secondary";
  // Pages at a greater depth document such a subject instead.
  if (segments.length <= 2 && segments.some((segment) => LOGIN.test(segment))) return "secondary";
  if (segments.slice(0, 2).some((segment) => TAG.test(segment))) return "secondary";
  if (isArchive(segments)) return "secondary";
  if (MAIN.test(last) || (segments.length === 2 && MAIN.test(segments[0] as string))) return "main";
  const isDated = /^(?:19|20)\d\d$/.test(segments.find((segment) => /^\d{4}$/.test(segment)) ?? "");
  return isDated || (segments.length > 1 && ARTICLE.test(segments[0] as string)) ? "article" : "plain";
}

/** Whether a path ends in a year, a month, or the page number of a list. */
function isArchive(segments: readonly string[]): boolean {
  const [before = "", last = ""] = segments.slice(-2);
  if (/^\d{1,5}$/.test(last) && /^page$/i.test(before)) return true;
  if (segments.length === 1) return /^(?:19|20)\d\d$/.test(before);
  return /^(?:19|20)\d\d$/.test(last) || (/^(?:19|20)\d\d$/.test(before) && /^(?:0?[1-9]|1[0-2])$/.test(last));
}

const LANGUAGES = new Set(
  "ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nb nl no pl pt ro ru sk sl sr sv th tr uk ur vi zh".split(
    " ",
  ),
);

/** The language at the start of a path, such as /de/ or /pt-br/. */
export function languageOf(address: string): string | undefined {
  const first = segmentsOf(new URL(address).pathname)[0]?.toLowerCase() ?? "";
  return /^[a-z]{2}(?:[-_][a-z]{2,4})?$/.test(first) && LANGUAGES.has(first.slice(0, 2)) ? first : undefined;
}

/** The folder of an address, to which its relative links refer. */
function folderOf(address: string): string {
  return new URL(address).pathname.replace(/[^/]*$/, "");
}

/** The parts of a path. */
export function segmentsOf(pathname: string): string[] {
  return pathname.split("/").filter((segment) => segment !== "");
}

/** Compares by code units, which gives the same result on every machine. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
