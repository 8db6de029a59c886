// A crawl's frontier and pages in memory, for a crawl that ends with the program that started it.

import type { CrawlStore, FrontierEntry, Visit } from "./crawl.ts";

/** The store, and the pages it has taken. */
export interface MemoryCrawlStore extends CrawlStore {
  readonly pages: readonly NonNullable<Visit["page"]>[];
  /** Pages known and not visited yet. */
  ahead(): number;
}

/** Makes an empty one. It serves one job, whatever its id. */
export function memoryCrawlStore(
  saved: (page: NonNullable<Visit["page"]>) => void = () => undefined,
): MemoryCrawlStore {
  const known = new Set<string>();
  const waiting: FrontierEntry[] = [];
  const done = new Set<string>();
  const pages: NonNullable<Visit["page"]>[] = [];
  const add = (entries: Iterable<FrontierEntry>, max: number): number => {
    let added = 0;
    for (const entry of entries) {
      if (known.size >= max) break;
      if (known.has(entry.urlKey)) continue;
      known.add(entry.urlKey);
      waiting.push(entry);
      added++;
    }
    return added;
  };
  return {
    pages,
    ahead: () => waiting.length,
    addFrontier: async (_job, entries, max) => add(entries, max),
    takeFrontier: async (_job, limit) => {
      waiting.sort((a, b) => a.depth - b.depth);
      const taken: FrontierEntry[] = [];
      while (taken.length < limit && waiting.length > 0) {
        const next = waiting.shift() as FrontierEntry;
        if (!done.has(next.urlKey)) taken.push(next);
      }
      return taken;
    },
    resetFrontier: async () => 0,
    saveVisit: async (_job, visit) => {
      for (const key of [visit.urlKey, ...(visit.aliases ?? []).map(({ urlKey }) => urlKey)]) {
        known.add(key);
        done.add(key);
      }
      if (visit.page !== undefined) {
        pages.push(visit.page);
        saved(visit.page);
      }
      return add(visit.links ?? [], visit.frontierMax);
    },
    countPages: async () => ({ pages: pages.length, failed: pages.filter(({ failed }) => failed).length }),
    listPages: async () => pages,
  };
}
