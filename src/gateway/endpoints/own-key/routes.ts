// GET /v1/key, and the same in OpenRouter's format. Requests do not count against the rate limit.

import type { AtOnce } from "../../../base/at-once.ts";
import type { Clock } from "../../../base/clock.ts";
import { ApiError } from "../../../base/errors.ts";
import type { TierGrant } from "../../../catalog/tiers.ts";
import type { TierId } from "../../../config/schema.ts";
import { endpointsBehind, type ServedEndpoint } from "../../../http/served-endpoint.ts";
import type { KeyStore } from "../../../store/access/keys.ts";
import type { UsageStore } from "../../../store/usage/usage.ts";
import type { UsageWriter } from "../../../store/usage/writer.ts";
import type { Caller } from "../../admission/caller.ts";
import { gatewayText } from "../texts.ts";
import { keySpending, openRouterCredits, openRouterKey, ownKeyView } from "./key-view.ts";

/** What the endpoints need. */
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

const keyed = endpointsBehind("key", (deps: OwnKeyDeps, request) => deps.authenticate(request));

/** What is known of the caller's key. */
async function look({ keys, usage, writer, grants, clock }: OwnKeyDeps, caller: Caller) {
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
}

const inOpenRoutersFormat = (path: string, describe: ServedEndpoint<OwnKeyDeps>["describe"]) =>
  keyed("GET", path, {
    describe,
    handle: async (deps, { caller }) => {
      const { view, spending, periodMs } = await look(deps, caller);
      return Response.json(openRouterKey(view, spending, periodMs));
    },
  });

/** The endpoints that describe the caller's own key. */
export const OWN_KEY: readonly ServedEndpoint<OwnKeyDeps>[] = [
  keyed("GET", "/v1/key", {
    describe: gatewayText("getOwnKey"),
    handle: async (deps, { caller }) => Response.json((await look(deps, caller)).view),
  }),
  inOpenRoutersFormat("/api/v1/key", gatewayText("getOpenRouterKey")),
  inOpenRoutersFormat("/api/v1/auth/key", gatewayText("getOpenRouterAuthKey")),
  keyed("GET", "/api/v1/credits", {
    describe: gatewayText("getOpenRouterCredits"),
    handle: async (deps, { caller }) => {
      const { view, spending } = await look(deps, caller);
      return Response.json(openRouterCredits(view, spending));
    },
  }),
];
