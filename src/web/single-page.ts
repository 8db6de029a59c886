// Loads a page that someone waits for, in its own kind of slot. It takes the slot together with its host's turn, so that a
// page that waits for a slow host, or may not be read, blocks no one.

import type { GuardedFetch } from "../net/fetch.ts";
import type { LoadedPage, LoadPage, LoadRequest } from "../pages/load.ts";
import type { HostScheduler, PageTurn } from "../pages/schedule/host-scheduler.ts";
import { type FetchSchedule, followed, inTurn } from "../pages/schedule/scheduled-fetch.ts";

/** What loading one needs. */
export interface SinglePageDeps extends FetchSchedule {
  readonly load: LoadPage;
  readonly fetch: GuardedFetch;
  readonly scheduler: Pick<HostScheduler, "ask" | "visit">;
}

/** Loads the page. Throws what loading throws, and `PoolFull`. */
export async function loadSingle(request: LoadRequest, deps: SinglePageDeps): Promise<LoadedPage> {
  let place: PageTurn | undefined;
  const fetch: GuardedFetch = async (url, options) => {
    const { signal } = options;
    const isFirst = place === undefined;
    place ??= await deps.scheduler.visit(request.accountId, await deps.claimOf(url, signal), signal);
    const begin = { url, signal, leave: isFirst ? place.leaveHost : undefined };
    return inTurn(deps, begin, (follow) => deps.fetch(url, followed(options, follow)));
  };
  try {
    return await deps.load({ ...request, fetch });
  } finally {
    place?.end();
  }
}
