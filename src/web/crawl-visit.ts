// Visits one page of a crawl when the scheduler allows it. The site's response is stored before it is processed, so that a
// restarted program uses it instead of fetching the page again. A response that had not arrived completely is fetched again, so
// the site may get a request twice.

import type { Fetched, GuardedFetch } from "../net/fetch.ts";
import type { Rendered } from "../pages/browser/render.ts";
import type { LoadRequest } from "../pages/load.ts";
import { RETRIED_STATUSES } from "../pages/retry-after.ts";
import type { Claim, HostScheduler, JobRef } from "../pages/schedule/host-scheduler.ts";
import { followed, inTurn } from "../pages/schedule/scheduled-fetch.ts";
import type { FrontierEntry } from "../store/work/frontier.ts";
import type { JobLease } from "../store/work/job-hold.ts";

/** A stored response, and what was requested. */
export type KeptAnswer = Omit<Fetched, "chain"> & { readonly asked: string };

/** The store's functions for responses. */
export interface AnswerVerbs {
  keepAnswer(job: JobLease, urlKey: string, answer: KeptAnswer): Promise<boolean>;
  listAnswers(jobId: string, urlKey: string): Promise<readonly KeptAnswer[]>;
}

/** What visiting a page needs. */
export interface VisitDeps {
  readonly store: AnswerVerbs;
  readonly fetch: GuardedFetch;
  readonly scheduler: HostScheduler;
  readonly claimOf: (url: string, signal?: AbortSignal) => Promise<Claim>;
  readonly problem: (message: string, error: unknown) => void;
}

/** How the page is loaded: both functions return stored responses where there are any, and store new ones. */
export type Visiting = { readonly [Name in "fetch" | "rendering"]: NonNullable<LoadRequest[Name]> };

/** Runs `work` when the scheduler allows the page. */
export async function visitPage<T>(
  { job, entry, signal }: { job: JobRef & JobLease; entry: FrontierEntry; signal: AbortSignal },
  deps: VisitDeps,
  work: (visiting: Visiting) => Promise<T>,
): Promise<T> {
  const { scheduler, claimOf, store } = deps;
  const known = new Map((await store.listAnswers(job.id, entry.urlKey)).map((answer) => [answer.asked, answer]));
  const claim = known.has(entry.url) ? undefined : await claimOf(entry.url, signal);
  const turn = await scheduler.work(job, claim, signal);
  const keep = (answer: KeptAnswer) =>
    store
      .keepAnswer(job, entry.urlKey, answer)
      .catch((error: unknown) =>
        deps.problem("a response could not be stored; after a restart it would be requested again", error),
      );
  let place = claim === undefined ? undefined : turn.leaveHost;
  const get: GuardedFetch = async (url, options) => {
    const answer = known.get(url);
    if (answer !== undefined) return { ...answer, chain: [url] };
    // The page's first request already has its slot. A second attempt, or another address, waits for a slot of its own.
    const begin = { url, signal: options.signal, leave: place };
    place = undefined;
    const fetched = await inTurn(deps, begin, (follow) => deps.fetch(url, followed(options, follow)));
    // A response that asks for a later retry is not stored.
    if (!RETRIED_STATUSES.has(fetched.status)) await keep({ asked: url, ...fetched });
    return fetched;
  };
  const rendering: Visiting["rendering"] = async (url, render) => {
    const asked = `rendered ${url}`;
    const shown = known.get(asked);
    if (shown !== undefined) return asRendered(shown);
    const rendered = await render();
    // The results of the caller's steps may be many times the size of the page, so they are not stored, and a restart repeats the
    // steps.
    if (rendered.acted === undefined) await keep(asAnswer(asked, rendered));
    return rendered;
  };
  try {
    return await work({ fetch: get, rendering });
  } finally {
    turn.end();
  }
}

/** The header that holds the position of the screenshot in a stored rendered page. */
const PICTURE_AT = "x-picture-at";

function asAnswer(asked: string, { url, status, html, screenshot }: Rendered): KeptAnswer {
  const text = Buffer.from(html);
  const headers = new Headers(screenshot === undefined ? {} : { [PICTURE_AT]: String(text.byteLength) });
  return { asked, url, status: status ?? 0, headers, body: Buffer.concat([text, screenshot ?? new Uint8Array(0)]) };
}

function asRendered({ url, status, headers, body }: KeptAnswer): Rendered {
  const at = headers.get(PICTURE_AT);
  const end = at === null ? body.byteLength : Number(at);
  const html = new TextDecoder().decode(body.subarray(0, end));
  const shown = { url, status: status === 0 ? undefined : status, html };
  return at === null ? shown : { ...shown, screenshot: body.subarray(end) };
}
