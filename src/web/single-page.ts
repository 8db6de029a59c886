// Loads a page for which someone waits. Such pages have slots of their own. The page waits for its slot and for its host at the
// same time, so that a page with a slow host, or one that may not be read, occupies no slot while it waits.

import type { WebPayer } from "../gateway/inner/web-model.ts";
import type { GuardedFetch } from "../net/fetch.ts";
import type { BlockLabeller } from "../pages/conversion.ts";
import type { LoadedPage, LoadPage, LoadRequest } from "../pages/load.ts";
import type { HostScheduler, PageSlot } from "../pages/schedule/host-scheduler.ts";
import { type FetchSchedule, followed, inTurn } from "../pages/schedule/scheduled-fetch.ts";

/** What loading such a page needs. */
export interface SinglePageDeps extends FetchSchedule {
  readonly load: LoadPage;
  readonly fetch: GuardedFetch;
  readonly scheduler: Pick<HostScheduler, "ask" | "visit">;
  /** Who labels the blocks of doubtful pages for a caller; undefined if the built-in rules always decide. */
  labellerFor?(payer: WebPayer): BlockLabeller | undefined;
}

/** Loads a page. Throws the errors of loading, and `PoolFull`. */
export async function loadSingle(request: LoadRequest, deps: SinglePageDeps): Promise<LoadedPage> {
  let place: PageSlot | undefined;
  const fetch: GuardedFetch = async (url, options) => {
    const { signal } = options;
    const isFirst = place === undefined;
    place ??= await deps.scheduler.visit(request.accountId, await deps.claimOf(url, signal), signal);
    const begin = { url, signal, leave: isFirst ? place.leaveHost : undefined };
    return inTurn(deps, begin, (follow) => deps.fetch(url, followed(options, follow)));
  };
  try {
    const labeller = request.labeller && {
      ...request.labeller,
      // The page is there by then, so others need not wait for the model.
      label: (...given: Parameters<BlockLabeller["label"]>) => {
        place?.end();
        return (request.labeller as BlockLabeller).label(...given);
      },
    };
    return await deps.load({ ...request, labeller, fetch });
  } finally {
    place?.end();
  }
}
