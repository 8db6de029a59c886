// Pages in turn: every request for one waits for its place and its time at the host it goes to. The wait counts within
// the request's own deadline, by its signal.

import type { GuardedFetch } from "../net/fetch.ts";
import type { Claim, Manners } from "./manners.ts";
import type { Renderer } from "./render.ts";

/** How turns are taken. */
export interface Politeness {
  readonly manners: Manners;
  claimOf(url: string, signal?: AbortSignal): Promise<Claim>;
}

/** A fetch that takes its turn. */
export function politeFetch(get: GuardedFetch, { manners, claimOf }: Politeness): GuardedFetch {
  return async (url, options) => {
    const leave = await manners.ask(await claimOf(url, options.signal), options.signal);
    try {
      return await get(url, options);
    } finally {
      leave();
    }
  };
}

/** A renderer that takes its turn: a page shown in a browser asks its host once more. */
export function politeRenderer(renderer: Renderer, { manners, claimOf }: Politeness): Renderer {
  return {
    ...renderer,
    render: async (request) => {
      const leave = await manners.ask(await claimOf(request.url, request.signal), request.signal);
      try {
        return await renderer.render(request);
      } finally {
        leave();
      }
    },
  };
}
