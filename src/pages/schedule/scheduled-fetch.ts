// Scheduled requests: every request waits for its slot and its host's turn, and again for each host that it is redirected to.
// The wait counts towards the request's own deadline, by its signal.

import { siteKey } from "../../base/page-key.ts";
import type { FetchOptions, GuardedFetch } from "../../net/fetch.ts";
import type { Renderer, RenderRequest } from "../browser/render.ts";
import { createSlots } from "../slots.ts";
import type { Claim, HostScheduler } from "./host-scheduler.ts";

/** How turns are scheduled. */
export interface FetchSchedule {
  readonly scheduler: Pick<HostScheduler, "ask">;
  claimOf(url: string, signal?: AbortSignal): Promise<Claim>;
}

/** A fetch that waits for its turns. */
export function scheduledFetch(get: GuardedFetch, schedule: FetchSchedule): GuardedFetch {
  return (url, options) =>
    inTurn(schedule, { url, signal: options.signal }, (follow) => get(url, followed(options, follow)));
}

/**
 * A renderer that waits for its turns: a page shown in a browser requests its host once more. It gets its browser slot
 * together with its host's turn: pages that navigate inside the browser wait for hosts, and those must never wait for the
 * browser.
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

/** A request that starts. */
export interface Beginning {
  readonly url: string;
  readonly signal?: AbortSignal | undefined;
  /** Returns the turn that it already has. */
  readonly leave?: (() => void) | undefined;
}

/** Waits for the host that it is redirected to; `judge` runs between leaving one host and waiting for the other. */
export type Follow = (url: string, signal: AbortSignal, judge: () => Promise<void>) => Promise<void>;

/** Runs a request in its turn, or in the one it already has. Redirects within a site belong to the same turn. */
export async function inTurn<T>(
  { scheduler, claimOf }: FetchSchedule,
  begin: Beginning,
  work: (follow: Follow) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  // A browser may navigate to two addresses at once.
  const one = createSlots(1);
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
    return one.run(both, async () => {
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

/** The same request, scheduled at each host that it is redirected to. */
export function followed<T extends Pick<FetchOptions, "onRedirect">>(options: T, follow: Follow): T {
  const { onRedirect } = options;
  return { ...options, onRedirect: (url, signal) => follow(url, signal, async () => onRedirect?.(url, signal)) };
}
