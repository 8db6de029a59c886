// One page of a crawl in its turn. What its site answers is stored before anything is made of it, so a killed program
// that starts again makes the page of what is stored and does not ask again. A page whose answer had not wholly arrived
// is asked for again: the site may have been asked twice then, and there is no telling.

import type { Fetched, GuardedFetch } from "../net/fetch.ts";
import type { Claim, Manners } from "../pages/manners.ts";
import { RETRIED_STATUSES } from "../pages/retry-after.ts";
import type { FrontierEntry } from "./crawl-scope.ts";

/** An answer as stored, and the address it answers. */
export type KeptAnswer = Omit<Fetched, "chain"> & { readonly asked: string };

/** The store's side. */
export interface AnswerVerbs {
  keepAnswer(jobId: string, urlKey: string, answer: KeptAnswer): Promise<boolean>;
  listAnswers(jobId: string, urlKey: string): Promise<readonly KeptAnswer[]>;
}

/** What a visit needs. */
export interface VisitDeps {
  readonly store: AnswerVerbs;
  readonly fetch: GuardedFetch;
  readonly manners: Manners;
  readonly claimOf: (url: string) => Promise<Claim>;
  readonly problem: (message: string, error: unknown) => void;
}

/** Runs `work` when it is the page's turn, with a fetch that knows what was answered before. */
export async function visitPage<T>(
  { job, entry, signal }: { job: string; entry: FrontierEntry; signal: AbortSignal },
  deps: VisitDeps,
  work: (fetch: GuardedFetch) => Promise<T>,
): Promise<T> {
  const { manners, claimOf, store } = deps;
  const known = new Map((await store.listAnswers(job, entry.urlKey)).map((answer) => [answer.asked, answer]));
  const claim = known.has(entry.url) ? undefined : await claimOf(entry.url);
  const turn = await manners.work(job, claim, signal);
  let place = claim === undefined ? undefined : turn.leaveHost;
  const get: GuardedFetch = async (url, options) => {
    const answer = known.get(url);
    if (answer !== undefined) return { ...answer, chain: [url] };
    // The page's first request has its place already; a second try, or another address, waits for one.
    const leave = place ?? (await manners.ask(await claimOf(url), options.signal));
    place = undefined;
    let fetched: Fetched;
    try {
      fetched = await deps.fetch(url, options);
    } finally {
      leave();
    }
    // "Later" is no answer to keep.
    if (!RETRIED_STATUSES.has(fetched.status))
      await store
        .keepAnswer(job, entry.urlKey, { asked: url, ...fetched })
        .catch((error: unknown) => deps.problem("an answer could not be kept; a restart would ask again", error));
    return fetched;
  };
  try {
    return await work(get);
  } finally {
    turn.end();
  }
}
