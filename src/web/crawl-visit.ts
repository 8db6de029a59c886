// One page of a crawl in its turn. What its site answers is stored before anything is made of it, so a killed program
// that starts again makes the page of what is stored and does not ask again. A page whose answer had not wholly arrived
// is asked for again: the site may have been asked twice then, and there is no telling.

import type { Fetched, GuardedFetch } from "../net/fetch.ts";
import type { Rendered } from "../pages/browser/render.ts";
import type { LoadRequest } from "../pages/load.ts";
import { RETRIED_STATUSES } from "../pages/retry-after.ts";
import type { Claim, HostScheduler, JobRef } from "../pages/schedule/host-scheduler.ts";
import { followed, inTurn } from "../pages/schedule/scheduled-fetch.ts";
import type { FrontierEntry } from "../store/work/frontier.ts";

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
  readonly scheduler: HostScheduler;
  readonly claimOf: (url: string, signal?: AbortSignal) => Promise<Claim>;
  readonly problem: (message: string, error: unknown) => void;
}

/** What a page is loaded with: both know what came before, and keep what comes. */
export type Visiting = { readonly [Name in "fetch" | "rendering"]: NonNullable<LoadRequest[Name]> };

/** Runs `work` when it is the page's turn. */
export async function visitPage<T>(
  { job, entry, signal }: { job: JobRef; entry: FrontierEntry; signal: AbortSignal },
  deps: VisitDeps,
  work: (visiting: Visiting) => Promise<T>,
): Promise<T> {
  const { scheduler, claimOf, store } = deps;
  const known = new Map((await store.listAnswers(job.id, entry.urlKey)).map((answer) => [answer.asked, answer]));
  const claim = known.has(entry.url) ? undefined : await claimOf(entry.url, signal);
  const turn = await scheduler.work(job, claim, signal);
  const keep = (answer: KeptAnswer) =>
    store
      .keepAnswer(job.id, entry.urlKey, answer)
      .catch((error: unknown) => deps.problem("an answer could not be kept; a restart would ask again", error));
  let place = claim === undefined ? undefined : turn.leaveHost;
  const get: GuardedFetch = async (url, options) => {
    const answer = known.get(url);
    if (answer !== undefined) return { ...answer, chain: [url] };
    // The page's first request has its place already; a second try, or another address, waits for one.
    const begin = { url, signal: options.signal, leave: place };
    place = undefined;
    const fetched = await inTurn(deps, begin, (follow) => deps.fetch(url, followed(options, follow)));
    // "Later" is no answer to keep.
    if (!RETRIED_STATUSES.has(fetched.status)) await keep({ asked: url, ...fetched });
    return fetched;
  };
  const rendering: Visiting["rendering"] = async (url, render) => {
    const asked = `rendered ${url}`;
    const shown = known.get(asked);
    if (shown !== undefined) return asRendered(shown);
    const rendered = await render();
    // Steps of the caller's are done again after a restart: what they gave may be many times the page.
    if (rendered.acted === undefined) await keep(asAnswer(asked, rendered));
    return rendered;
  };
  try {
    return await work({ fetch: get, rendering });
  } finally {
    turn.end();
  }
}

/** Where the picture begins in what is kept of a rendered page. */
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
