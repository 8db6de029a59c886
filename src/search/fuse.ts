// Merges the hits of several engines into one list. Pure: the same hits give the same list, in whatever order they arrive.
// This is reciprocal rank fusion: every engine that lists a page adds weight / (RANK_OFFSET + rank). Agreement therefore counts,
// an engine never changes the order of two pages that it does not list, and a better rank never lowers a page.

import { pageKey } from "../base/page-key.ts";
import type { Category, Hit } from "./engine.ts";
import { cleanSnippet, cleanTitle } from "./snippet.ts";

/** With this offset, a page that two engines rank tenth counts slightly more than one that one engine ranks first. */
const RANK_OFFSET = 10;

/** The hits of one engine, best first. */
export interface Ranking {
  readonly engine: string;
  readonly weight: number;
  readonly hits: readonly Hit[];
}

/** A page that one or more engines list. */
export interface Fused {
  readonly url: string;
  readonly title: string;
  /** The longest of the engines' snippets; may be empty. */
  readonly content: string;
  /** The engines that list it, in the order of their contribution. */
  readonly engines: readonly string[];
  /** Its score from 0 to 1, relative to the highest that the queried engines could give. */
  readonly score: number;
  readonly publishedDate?: string;
  readonly thumbnail?: string;
  readonly file?: string;
  readonly category: Category;
}

interface Listing {
  readonly engine: string;
  readonly points: number;
  readonly rank: number;
  readonly hit: Hit;
}

/**
 * Merges the rankings. `askedWeight` is the sum of the weights of all queried engines, including those that failed, so that the
 * score of a page does not depend on which other engines failed.
 */
export function fuse(
  rankings: readonly Ranking[],
  { askedWeight, category }: { askedWeight: number; category: Category },
) {
  const byPage = new Map<string, Listing[]>();
  // The rankings are sorted, because sums of floating-point numbers depend on their order.
  for (const ranking of [...rankings].sort((a, b) => compare(a.engine, b.engine))) collect(ranking, byPage);
  const best = askedWeight / (RANK_OFFSET + 1);
  return [...byPage]
    .map(([key, listings]) => ({ key, rank: Math.min(...listings.map(({ rank }) => rank)), ...merge(listings) }))
    .sort((a, b) => b.points - a.points || a.rank - b.rank || compare(a.key, b.key))
    .map(({ points, page }): Fused => ({ ...page, score: best > 0 ? round(Math.min(1, points / best)) : 0, category }));
}

/** Each page counts once for each engine; duplicates are ignored. */
function collect({ engine, weight, hits }: Ranking, byPage: Map<string, Listing[]>): void {
  const seen = new Set<string>();
  hits.forEach((hit, index) => {
    if (!URL.canParse(hit.url)) return;
    const key = pageKey(hit.url);
    if (seen.has(key)) return;
    seen.add(key);
    const listing = { engine, rank: index + 1, points: weight / (RANK_OFFSET + index + 1), hit };
    const others = byPage.get(key);
    if (others === undefined) byPage.set(key, [listing]);
    else others.push(listing);
  });
}

/** Merges all engines' hits for one page. */
function merge(listings: readonly Listing[]) {
  const ordered = [...listings].sort((a, b) => b.points - a.points || compare(a.engine, b.engine));
  const hits = ordered.map(({ hit }) => hit);
  const first = hits[0] as Hit;
  const { url } = hits.find((hit) => hit.url.startsWith("https:")) ?? first;
  const content = longest(hits.map(({ snippet }) => cleanSnippet(snippet)));
  const publishedDate = bestDate(hits.flatMap(({ publishedAt }) => publishedAt ?? []));
  const thumbnail = hits.find((hit) => hit.thumbnail !== undefined)?.thumbnail;
  const file = hits.find((hit) => hit.file !== undefined)?.file;
  const engines = [...new Set(ordered.flatMap(({ engine, hit }) => hit.engines ?? [engine]))];
  const points = listings.reduce((sum, listing) => sum + listing.points, 0);
  const page = {
    url,
    title: hits.map(({ title }) => cleanTitle(title)).find((title) => title !== "") ?? url,
    content,
    engines,
    ...(publishedDate === undefined ? {} : { publishedDate }),
    ...(thumbnail === undefined ? {} : { thumbnail }),
    ...(file === undefined ? {} : { file }),
  };
  return { points, page };
}

function longest(texts: readonly string[]): string {
  return texts.reduce((best, text) => (text.length > best.length ? text : best), "");
}

/** The most precise date. Of several, the earliest one, since pages are changed after they are published. */
function bestDate(dates: readonly string[]): string | undefined {
  return [...dates].sort((a, b) => exactness(b) - exactness(a) || compare(a, b))[0];
}

/** How precise a date is: year, month, day or time. */
function exactness(date: string): number {
  return Math.min(date.length, "2026-11-22T".length);
}

/** Compares by code units, which gives the same result on every machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function round(score: number): number {
  return Math.round(score * 1e4) / 1e4;
}
