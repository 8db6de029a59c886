// GET /v1/key, and the same in OpenRouter's format. Requests do not count against the rate limit.

import { Elysia } from "elysia";
import type { AtOnce } from "../../base/at-once.ts";
import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import type { TierGrant } from "../../catalog/tiers.ts";
import type { TierId } from "../../config/schema.ts";
import type { KeyStore } from "../../store/access/keys.ts";
import type { Caller } from "../caller.ts";
import { type OwnKeyView, openRouterCredits, openRouterKey, ownKeyView } from "./key-view.ts";

export interface OwnKeyDeps {
  /** Identifies the caller. Throws 401. */
  authenticate(request: Request): AtOnce<Caller>;
  keys: Pick<KeyStore, "listKeys">;
  grants(): Readonly<Record<TierId, TierGrant>>;
  clock: Clock;
}

/** Creates the endpoints that describe the caller's own key. */
export function ownKeyRoutes({ authenticate, keys, grants, clock }: OwnKeyDeps) {
  const view = async (request: Request): Promise<OwnKeyView> => {
    const caller = await authenticate(request);
    const row = (await keys.listKeys(caller.accountId)).find(({ id }) => id === caller.keyId);
    // The key was deleted after it was looked up.
    if (row === undefined) throw new ApiError("invalid_api_key", "The API key is not valid. It may have been revoked.");
    return ownKeyView(caller, row, { clock, planRpm: grants()[caller.account.tier].rpm });
  };
  return new Elysia()
    .get("/v1/key", async ({ request }) => Response.json(await view(request)))
    .get("/api/v1/key", async ({ request }) => Response.json(openRouterKey(await view(request))))
    .get("/api/v1/auth/key", async ({ request }) => Response.json(openRouterKey(await view(request))))
    .get("/api/v1/credits", async ({ request }) => Response.json(openRouterCredits(await view(request))));
}
