// Loads one page of an llms.txt, scheduled and with a time limit.

import { siteKey } from "../../base/page-key.ts";
import type { RunningJob } from "../../jobs/kind.ts";
import type { LoadedPage, LoadPage } from "../../pages/load.ts";
import { PageError } from "../../pages/page-error.ts";
import type { Robots } from "../../pages/robots/robots.ts";
import type { FrontierEntry } from "../../store/work/frontier.ts";
import { type VisitDeps, visitPage } from "../crawl-visit.ts";
import { creditsOf } from "../page-view.ts";

/** What reading needs. */
export interface SitePageDeps extends VisitDeps {
  readonly load: LoadPage;
  readonly robots: Robots;
  readonly settings: () => { readonly respectRobots: boolean };
}

/** Which page, and for whom. */
export interface SitePageTask {
  readonly job: RunningJob;
  readonly entry: FrontierEntry;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The site that it must be on; undefined for the root page, which determines the site. */
  readonly home: string | undefined;
}

/** A page, or why it does not belong to the site; `credits` are for what was loaded. */
export type SitePageRead = ({ readonly page: LoadedPage } | { readonly error: unknown }) & { readonly credits: number };

/** Reads it. Throws only if the signal aborts. */
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
  // Before it is scheduled: a page that may not be requested takes no slot.
  const rules = deps.settings().respectRobots ? await deps.robots.rulesFor(entry.url, signal) : undefined;
  await rules?.check(entry.url, signal);
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
