// GET /v1/key, and the same in OpenRouter's format. Requests do not count against the rate limit.

import { Elysia } from "elysia";
import type { AtOnce } from "../../../base/at-once.ts";
import type { Clock } from "../../../base/clock.ts";
import { ApiError } from "../../../base/errors.ts";
import type { TierGrant } from "../../../catalog/tiers.ts";
import type { TierId } from "../../../config/schema.ts";
import type { KeyStore } from "../../../store/access/keys.ts";
import type { UsageStore } from "../../../store/usage/usage.ts";
import type { UsageWriter } from "../../../store/usage/writer.ts";
import type { Caller } from "../../admission/caller.ts";
import { keySpending, openRouterCredits, openRouterKey, ownKeyView } from "./key-view.ts";

export interface OwnKeyDeps {
  /** Identifies the caller. Throws 401. */
  authenticate(request: Request): AtOnce<Caller>;
  keys: Pick<KeyStore, "listKeys">;
  usage: Pick<UsageStore, "spendingByDay">;
  /** The usage that is not yet written. */
  writer: Pick<UsageWriter, "pendingCostMicros" | "readBetweenWrites">;
  grants(): Readonly<Record<TierId, TierGrant>>;
  clock: Clock;
}

/** Creates the endpoints that describe the caller's own key. */
export function ownKeyRoutes({ authenticate, keys, usage, writer, grants, clock }: OwnKeyDeps) {
  const look = async (request: Request) => {
    const caller = await authenticate(request);
    const { accountId, keyId } = caller;
    const row = (await keys.listKeys(accountId)).find(({ id }) => id === keyId);
    // The key was deleted after it was looked up.
    if (row === undefined) throw new ApiError("invalid_api_key", "The API key is not valid. It may have been revoked.");
    const spending = await writer.readBetweenWrites(async () => {
      const days = await usage.spendingByDay(accountId, keyId);
      return keySpending(days, { nowMs: clock.now(), pendingMicros: writer.pendingCostMicros(keyId) });
    });
    const view = ownKeyView(caller, row, { clock, planRpm: grants()[caller.account.tier].rpm, spending });
    return { view, spending, periodMs: row.budgetPeriodMs };
  };
  const asOpenRouter = async ({ request }: { request: Request }) => {
    const { view, spending, periodMs } = await look(request);
    return Response.json(openRouterKey(view, spending, periodMs));
  };
  return new Elysia()
    .get("/v1/key", async ({ request }) => Response.json((await look(request)).view))
    .get("/api/v1/key", asOpenRouter)
    .get("/api/v1/auth/key", asOpenRouter)
    .get("/api/v1/credits", async ({ request }) => {
      const { view, spending } = await look(request);
      return Response.json(openRouterCredits(view, spending));
    });
}
