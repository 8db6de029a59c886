// Loads one page for an llms.txt when the scheduler allows it, with a time limit.

import { siteKey } from "../../base/page-key.ts";
import type { RunningJob } from "../../jobs/kind.ts";
import type { LoadedPage, LoadPage } from "../../pages/load.ts";
import { PageError } from "../../pages/page-error.ts";
import type { Robots } from "../../pages/robots/robots.ts";
import type { FrontierEntry } from "../../store/work/frontier.ts";
import { type VisitDeps, visitPage } from "../crawl-visit.ts";
import { creditsOf } from "../page-view.ts";

/** What loading a page needs. */
export interface SitePageDeps extends VisitDeps {
  readonly load: LoadPage;
  readonly robots: Robots;
  readonly settings: () => { readonly respectRobots: boolean };
}

/** The page, and the job for which it is loaded. */
export interface SitePageTask {
  readonly job: RunningJob;
  readonly entry: FrontierEntry;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The site to which the page must belong; undefined for the root page, which determines the site. */
  readonly home: string | undefined;
}

/** The page, or why it cannot be used; `credits` are for the pages that were loaded. */
export type SitePageRead = ({ readonly page: LoadedPage } | { readonly error: unknown }) & { readonly credits: number };

/** Loads a page. Throws only if the signal aborts. */
export async function readSitePage(task: SitePageTask, deps: SitePageDeps): Promise<SitePageRead> {
  let credits = 0;
  try {
    const page = await load(task, deps);
    credits = creditsOf(page);
    if (page.status >= 400) throw new PageError("upstream", `The server answered ${page.status}.`);
    if (task.home !== undefined && siteKey(page.url) !== siteKey(task.home))
      throw new PageError("refused", "The page redirects to another site.");
    return { page, credits };
  } catch (error) {
    task.signal.throwIfAborted();
    return { error, credits };
  }
}

async function load({ job, entry, timeoutMs, signal, home }: SitePageTask, deps: SitePageDeps): Promise<LoadedPage> {
  // robots.txt is read before the page is scheduled, since a page that may not be requested needs no slot.
  const rules = deps.settings().respectRobots
    ? await deps.robots.rulesFor(entry.url, signal, job.accountId)
    : undefined;
  await rules?.check(entry.url, signal, job.accountId);
  return visitPage({ job, entry, signal }, deps, (visiting) =>
    deps.load({
      url: entry.url,
      accountId: job.accountId,
      markdown: true,
      html: false,
      links: false,
      navigation: home === undefined,
      screenshot: "none",
      onlyMainContent: true,
      documents: false,
      timeoutMs: Math.max(1, timeoutMs),
      signal,
      ...visiting,
      later: true,
    }),
  );
}
