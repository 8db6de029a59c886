// The same for endpoints whose answer is one text, as that of embeddings: what is kept is the text.

import { exchangeOf } from "../../../http/exchange.ts";
import { wholeBody } from "../../../http/whole-body.ts";
import { AnswerCache } from "./answer-cache.ts";
import { cacheWish } from "./cache-control.ts";
import { cacheKey } from "./cache-key.ts";
import type { CacheDeps, LookedUp, LookedUpRequest } from "./deps.ts";
import { CACHED_CHARS_MAX } from "./recording.ts";
import { CACHE_HEADER, COST_HEADER, isYoungEnough, REQUEST_CHARS_MAX } from "./rules.ts";

/** Creates the function that looks a request up. Every answer of these endpoints is meant to be the same each time. */
export function createTextLookUp(deps: CacheDeps): (asked: LookedUpRequest) => Promise<LookedUp> {
  const cache = new AnswerCache<{ readonly text: string }>(deps);
  return async ({ request, caller, model, text, body }) => {
    const { mode, share } = deps.settings();
    const wish = cacheWish(request.headers.get("cache-control"));
    if (wish.noStore || caller.noStore || text.length > REQUEST_CHARS_MAX) return {};
    if (mode === "ask" && wish.maxAgeMs === undefined) return {};
    const exchange = exchangeOf(request);
    const { accountId, keyId } = caller;
    const holder = share === "key" ? keyId : accountId;
    const key = cacheKey({ holder, path: exchange.path, model, betas: "", text, content: body, messages: [] });
    const kept = { key, accountId, keyId, model };
    const underWay = wish.noCache ? undefined : cache.underWay(key);
    const flight = underWay === undefined && cache.underWay(key) === undefined ? cache.begin(key) : undefined;
    if (flight !== undefined) exchange.atEnd(() => flight.end(undefined));
    const found = wish.noCache ? undefined : await (underWay ?? cache.find(kept));
    const nowMs = deps.clock.now();
    if (found !== undefined && (underWay !== undefined || isYoungEnough(found, wish, nowMs))) {
      flight?.end(found);
      const ageSeconds = Math.max(0, Math.floor((nowMs - found.createdAtMs) / 1000));
      exchange.headers[CACHE_HEADER] = `hit; age=${ageSeconds}`;
      exchange.headers[COST_HEADER] = "0";
      exchange.log["cache"] = "hit";
      deps.looked(model, "hit", undefined);
      return { hit: new Response(wholeBody(found.text), { headers: { "content-type": "application/json" } }) };
    }
    exchange.headers[CACHE_HEADER] = "miss";
    exchange.log["cache"] = "miss";
    deps.looked(model, "miss", undefined);
    return {
      async keep(response) {
        if (response.status !== 200) return response;
        const bytes = await response.arrayBuffer();
        if (bytes.byteLength <= CACHED_CHARS_MAX) {
          const answer = { text: new TextDecoder().decode(bytes) };
          flight?.end({ ...answer, createdAtMs: deps.clock.now() }, cache.keep(kept, answer));
        }
        return new Response(bytes, { headers: response.headers });
      },
    };
  };
}
