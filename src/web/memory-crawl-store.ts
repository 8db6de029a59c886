// Holds a crawl's frontier and pages in memory, for a crawl that ends with the program.

import type { FrontierEntry } from "../store/work/frontier.ts";
import type { CrawlStore, VisitOutcome } from "./crawl.ts";

/** A page, or why it could not be read. */
export type VisitedPage = NonNullable<VisitOutcome["page"]>;

/** The store, and what it contains. */
export interface MemoryCrawlStore extends CrawlStore {
  readonly pages: readonly VisitedPage[];
  /** The progress of the crawl, as it was last saved. */
  readonly progress: Readonly<Record<string, unknown>>;
  /** The number of known pages that have not been visited. */
  readonly ahead: number;
}

/** The only job of such a store. */
export const LOCAL_JOB = { id: "local", accountId: "local", lease: "local" } as const;

/** Creates an empty store. It serves one job, whatever its id. `visited` is called after each visit. */
export function memoryCrawlStore(visited: (page: VisitedPage | undefined, isRoot: boolean) => void): MemoryCrawlStore {
  const known = new Set<string>();
  const roots = new Set<string>();
  const visitedKeys = new Set<string>();
  const pages: VisitedPage[] = [];
  let progress: Readonly<Record<string, unknown>> = {};
  // The frontier by depth, and then in the order of discovery.
  const levels = new Map<number, FrontierEntry[]>();
  const waiting = () => [...levels.values()].reduce((sum, level) => sum + level.length, 0);
  const add = (entries: Iterable<FrontierEntry>, max: number): number => {
    const before = known.size;
    for (const entry of entries) {
      if (known.size >= max) break;
      if (known.has(entry.urlKey)) continue;
      known.add(entry.urlKey);
      if (entry.depth === 0) roots.add(entry.urlKey);
      const level = levels.get(entry.depth);
      if (level === undefined) levels.set(entry.depth, [entry]);
      else level.push(entry);
    }
    return known.size - before;
  };
  const next = (): FrontierEntry | undefined => {
    for (const depth of [...levels.keys()].sort((a, b) => a - b)) {
      for (let entry = levels.get(depth)?.shift(); entry !== undefined; entry = levels.get(depth)?.shift())
        if (!visitedKeys.has(entry.urlKey)) return entry;
      levels.delete(depth);
    }
    return undefined;
  };
  return {
    pages,
    get progress() {
      return progress;
    },
    get ahead() {
      return waiting();
    },
    addFrontier: async (_job, entries, max) => add(entries, max),
    takeFrontier: async (_job, limit) => {
      const taken: FrontierEntry[] = [];
      while (taken.length < limit) {
        const entry = next();
        if (entry === undefined) break;
        taken.push(entry);
      }
      return taken;
    },
    resetFrontier: async () => 0,
    // Responses need not be stored, as nothing survives the program.
    listAnswers: async () => [],
    keepAnswer: async () => false,
    saveVisit: async (_job, visit) => {
      for (const key of [visit.urlKey, ...(visit.aliases ?? []).map(({ urlKey }) => urlKey)]) {
        known.add(key);
        visitedKeys.add(key);
      }
      progress = visit.progress ?? progress;
      if (visit.page !== undefined) pages.push(visit.page);
      const added = add(visit.links ?? [], visit.frontierMax);
      visited(visit.page, roots.has(visit.urlKey));
      return added;
    },
    // A crawl is started only once here, so there are no pages of an earlier run.
    listPageKeys: async () => [],
  };
}
