// Scheduled requests: each waits for its host's turn, and again for each host to which it is redirected. The wait counts towards
// the request's own deadline, which its signal enforces.

import { siteKey } from "../../base/page-key.ts";
import type { FetchOptions, GuardedFetch } from "../../net/fetch.ts";
import type { Renderer, RenderRequest } from "../browser/render.ts";
import { createSlots } from "../slots.ts";
import type { Claim, HostScheduler } from "./host-scheduler.ts";

/** The scheduler, and the claims of requests. */
export interface FetchSchedule {
  readonly scheduler: Pick<HostScheduler, "ask">;
  claimOf(url: string, signal?: AbortSignal): Promise<Claim>;
}

/** A fetch that waits for its host's turn. */
export function scheduledFetch(get: GuardedFetch, schedule: FetchSchedule): GuardedFetch {
  return (url, options) =>
    inTurn(schedule, { url, signal: options.signal }, (follow) => get(url, followed(options, follow)));
}

/**
 * A renderer that waits for its slot in the browser and for its host's turn, since a page in a browser requests its host once
 * more. It waits for both at the same time: pages that navigate in the browser wait for hosts, and a request that has a host's
 * turn must never wait for the browser.
 */
export function scheduledRenderer(
  renderer: Renderer,
  schedule: FetchSchedule & { readonly scheduler: Pick<HostScheduler, "show"> },
): Renderer {
  return {
    ...renderer,
    render: async (request) => {
      const { url, signal, accountId } = request;
      const endsMs = performance.now() + request.timeoutMs;
      const place = await schedule.scheduler.show(accountId, await schedule.claimOf(url, signal), signal);
      const timeoutMs = Math.max(1, endsMs - performance.now());
      try {
        return await inTurn(schedule, { url, signal, leave: place.leaveHost }, (follow) =>
          renderer.render(followed<RenderRequest>({ ...request, timeoutMs }, follow)),
        );
      } finally {
        place.end();
      }
    },
  };
}

/** A request that is about to start. */
export interface Beginning {
  readonly url: string;
  readonly signal?: AbortSignal | undefined;
  /** Ends the turn that the request already has. */
  readonly leave?: (() => void) | undefined;
}

/** Waits for the host to which a request is redirected. `judge` runs after leaving one host and before waiting for the other. */
export type Follow = (url: string, signal: AbortSignal, judge: () => Promise<void>) => Promise<void>;

/** Runs a request in its host's turn, or in the turn that it already has. Redirects within a site belong to the same turn. */
export async function inTurn<T>(
  { scheduler, claimOf }: FetchSchedule,
  begin: Beginning,
  work: (follow: Follow) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  // A browser may navigate to two addresses at once, so redirects are handled one after the other.
  const redirects = createSlots(1);
  let at = begin.url;
  let leave = begin.leave;
  const take = async (url: string, signal: AbortSignal | undefined) => {
    const taken = await scheduler.ask(await claimOf(url, signal), signal);
    if (over.signal.aborted) taken();
    over.signal.throwIfAborted();
    at = url;
    leave = taken;
  };
  const follow: Follow = (url, signal, judge) => {
    const both = AbortSignal.any([signal, over.signal]);
    return redirects.run("", both, async () => {
      const isThere = leave !== undefined && siteKey(url) === siteKey(at);
      if (!isThere) leave?.();
      if (!isThere) leave = undefined;
      await judge();
      if (!isThere) await take(url, both);
    });
  };
  try {
    if (leave === undefined) await take(begin.url, begin.signal);
    return await work(follow);
  } finally {
    over.abort(new Error("The request is over."));
    leave?.();
  }
}

/** The options of the same request, which then waits for each host to which it is redirected. */
export function followed<T extends Pick<FetchOptions, "onRedirect">>(options: T, follow: Follow): T {
  const { onRedirect } = options;
  return { ...options, onRedirect: (url, signal) => follow(url, signal, async () => onRedirect?.(url, signal)) };
}
