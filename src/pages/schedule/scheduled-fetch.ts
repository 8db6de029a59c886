// Pages in turn: every request for one waits for its place and its time at the host it goes to, and again at each host it
// is sent on to. The wait counts within the request's own deadline, by its signal.

import { siteKey } from "../../base/page-key.ts";
import type { FetchOptions, GuardedFetch } from "../../net/fetch.ts";
import type { Renderer, RenderRequest } from "../browser/render.ts";
import { createSlots } from "../slots.ts";
import type { Claim, HostScheduler } from "./host-scheduler.ts";

/** How turns are taken. */
export interface FetchSchedule {
  readonly scheduler: Pick<HostScheduler, "ask">;
  claimOf(url: string, signal?: AbortSignal): Promise<Claim>;
}

/** A fetch that takes its turns. */
export function scheduledFetch(get: GuardedFetch, schedule: FetchSchedule): GuardedFetch {
  return (url, options) =>
    inTurn(schedule, { url, signal: options.signal }, (follow) => get(url, followed(options, follow)));
}

/**
 * A renderer that takes its turns: a page shown in a browser asks its host once more. It gets its place in the browser with
 * its host's turn: pages that are sent on from within the browser wait for hosts, and those must never wait for the browser.
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

/** A request that begins. */
export interface Beginning {
  readonly url: string;
  readonly signal?: AbortSignal | undefined;
  /** Gives back the turn that it has already. */
  readonly leave?: (() => void) | undefined;
}

/** Waits until the host it is sent on to may be asked; `judge` comes between leaving the one and waiting for the other. */
export type Follow = (url: string, signal: AbortSignal, judge: () => Promise<void>) => Promise<void>;

/** Runs a request in its turn, or the one it has. Going on within a site is a part of the same turn. */
export async function inTurn<T>(
  { scheduler, claimOf }: FetchSchedule,
  begin: Beginning,
  work: (follow: Follow) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  // A browser may be sent to two places at once.
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

/** The same request, in turn at each host it is sent on to. */
export function followed<T extends Pick<FetchOptions, "onRedirect">>(options: T, follow: Follow): T {
  const { onRedirect } = options;
  return { ...options, onRedirect: (url, signal) => follow(url, signal, async () => onRedirect?.(url, signal)) };
}
