// GET /v1/key, and the same in OpenRouter's format. Requests do not count against the rate limit.

import { Type } from "@sinclair/typebox";
import type { AtOnce } from "../../../base/at-once.ts";
import type { Clock } from "../../../base/clock.ts";
import { ApiError } from "../../../base/errors.ts";
import type { TierGrant } from "../../../catalog/tiers.ts";
import type { TierId } from "../../../config/schema.ts";
import { orNull } from "../../../http/endpoint.ts";
import { type EndpointText, endpointsBehind, type ServedEndpoint } from "../../../http/served-endpoint.ts";
import type { KeyStore } from "../../../store/access/keys.ts";
import type { UsageStore } from "../../../store/usage/usage.ts";
import type { UsageWriter } from "../../../store/usage/writer.ts";
import type { Caller } from "../../admission/caller.ts";
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

const keySchema = () =>
  Type.Object(
    {
      id: Type.String(),
      name: Type.String(),
      tier: Type.String({ description: "The account's plan." }),
      rpm: Type.Integer({ description: "Requests per minute: the key's own limit, otherwise the plan's limit." }),
      budget: orNull(Type.Number({ description: "The budget in US dollars; null if there is none." })),
      spent: Type.Number({
        description:
          "The amount in US dollars that was spent since the budget was last reset; without a budget, all that the key has spent.",
      }),
      resets_at: orNull(
        Type.String({ description: "The time at which the budget is next reset; null if it is never reset." }),
      ),
      expires_at: orNull(Type.String({ description: "Null: never." })),
      debug_until: orNull(
        Type.String({
          description:
            "The time until which the operator records requests of this key for debugging; null if nothing is recorded.",
        }),
      ),
      models: Type.Array(Type.String(), { description: "Patterns of the models that the key may use." }),
    },
    { $id: "OwnKey" },
  );

const openRouterKeySchema = () =>
  Type.Object(
    {
      data: Type.Object({
        label: Type.String(),
        usage: Type.Number({ description: "All that the key has spent." }),
        usage_daily: Type.Number(),
        usage_weekly: Type.Number(),
        usage_monthly: Type.Number(),
        byok_usage: Type.Number(),
        byok_usage_daily: Type.Number(),
        byok_usage_weekly: Type.Number(),
        byok_usage_monthly: Type.Number(),
        limit: orNull(Type.Number()),
        limit_remaining: orNull(Type.Number()),
        limit_reset: orNull(Type.String({ description: "`daily`, `weekly` or `monthly`; null for other periods." })),
        include_byok_in_limit: Type.Boolean(),
        is_free_tier: Type.Boolean(),
        is_management_key: Type.Boolean(),
        is_provisioning_key: Type.Boolean(),
        creator_user_id: Type.Null(),
        organization_id: Type.Null(),
        workspace_id: Type.Null(),
        allowed_data_regions: Type.Array(Type.String()),
        free_model_daily_requests: Type.Object({
          limit: Type.Integer(),
          remaining: Type.Integer(),
          used: Type.Integer(),
        }),
        expires_at: orNull(Type.String()),
        rate_limit: Type.Object({ requests: Type.Integer(), interval: Type.String(), note: Type.String() }),
      }),
    },
    { $id: "OpenRouterKey" },
  );

const creditsSchema = () =>
  Type.Object(
    { data: Type.Object({ total_credits: Type.Number(), total_usage: Type.Number() }) },
    { $id: "OpenRouterCredits" },
  );

const inOpenRoutersFormat = (path: string, id: string) =>
  keyed("GET", path, {
    handle: async (deps, { caller }) => {
      const { view, spending, periodMs } = await look(deps, caller);
      return Response.json(openRouterKey(view, spending, periodMs));
    },
    describe: (): EndpointText => ({
      id,
      group: "Accounts",
      summary: "Get one's own key in OpenRouter's format",
      description:
        "Amounts are in US dollars. What the gateway does not have is zero or null. The request does not count against the rate limit.",
      answer: { description: "The key.", schema: openRouterKeySchema() },
    }),
  });

/** The endpoints that describe the caller's own key. */
export const OWN_KEY: readonly ServedEndpoint<OwnKeyDeps>[] = [
  keyed("GET", "/v1/key", {
    handle: async (deps, { caller }) => Response.json((await look(deps, caller)).view),
    describe: () => ({
      id: "getOwnKey",
      group: "Accounts",
      summary: "Get one's own key",
      description:
        "Returns the key's plan, limits and remaining budget. The request does not count against the rate limit. `/key/info` is the same endpoint.",
      answer: { description: "The key.", schema: keySchema() },
    }),
  }),
  inOpenRoutersFormat("/api/v1/key", "getOpenRouterKey"),
  inOpenRoutersFormat("/api/v1/auth/key", "getOpenRouterAuthKey"),
  keyed("GET", "/api/v1/credits", {
    handle: async (deps, { caller }) => {
      const { view, spending } = await look(deps, caller);
      return Response.json(openRouterCredits(view, spending));
    },
    describe: () => ({
      id: "getOpenRouterCredits",
      group: "Accounts",
      summary: "Get the credits of one's own key in OpenRouter's format",
      description:
        "Amounts are in US dollars: all that the key has spent, and that with the rest of its budget, which is 0 without a budget. The request does not count against the rate limit.",
      answer: { description: "The sums.", schema: creditsSchema() },
    }),
  }),
];
