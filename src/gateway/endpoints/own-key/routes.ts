// GET /v1/key, the same in OpenRouter's format, and what one answer cost. Requests do not count against the rate limit.

import type { AtOnce } from "../../../base/at-once.ts";
import type { Clock } from "../../../base/clock.ts";
import { ApiError } from "../../../base/errors.ts";
import type { Catalog } from "../../../catalog/models.ts";
import { resolveModel } from "../../../catalog/resolve.ts";
import type { TierGrant } from "../../../catalog/tiers.ts";
import type { TierId } from "../../../config/schema.ts";
import { endpointsBehind, type ServedEndpoint } from "../../../http/served-endpoint.ts";
import type { KeyStore } from "../../../store/access/keys.ts";
import type { UsageStore } from "../../../store/usage/usage.ts";
import type { UsageWriter } from "../../../store/usage/writer.ts";
import type { Caller } from "../../admission/caller.ts";
import { gatewayText } from "../texts.ts";
import { openRouterGeneration } from "./generation-view.ts";
import { keySpending, openRouterCredits, openRouterKey, ownKeyView } from "./key-view.ts";

/** What the endpoints need. */
export interface OwnKeyDeps {
  /** Identifies the caller by an ordinary key. Throws 401. */
  authenticate(request: Request): AtOnce<Caller>;
  /** Identifies the caller by a key of any kind. Throws 401. */
  authenticateAny(request: Request): AtOnce<Caller>;
  keys: Pick<KeyStore, "findKey">;
  usage: Pick<UsageStore, "spendingByDay" | "findAnswer">;
  /** The usage that is not yet written. */
  writer: Pick<UsageWriter, "pendingCostMicros" | "readBetweenWrites" | "flush">;
  grants(): Readonly<Record<TierId, TierGrant>>;
  clock: Clock;
  catalog(): Catalog;
}

const keyed = endpointsBehind("key", (deps: OwnKeyDeps, request) => deps.authenticate(request));
const anyKeyed = endpointsBehind("any_key", (deps: OwnKeyDeps, request) => deps.authenticateAny(request));

/** What is known of the caller's key. */
async function look({ keys, usage, writer, grants, clock }: OwnKeyDeps, caller: Caller) {
  const { accountId, keyId } = caller;
  const row = await keys.findKey(keyId, { accountId });
  // The key was deleted after it was looked up.
  if (row === undefined) throw new ApiError("invalid_api_key", "The API key is not valid. It may have been revoked.");
  const spending = await writer.readBetweenWrites(async () => {
    const days = await usage.spendingByDay(accountId, keyId);
    return keySpending(days, { nowMs: clock.now(), pendingMicros: writer.pendingCostMicros(keyId) });
  });
  const view = ownKeyView(caller, row, { clock, planRpm: grants()[caller.account.tier].rpm, spending });
  return { view, spending, periodMs: row.budgetPeriodMs };
}

/** No answer has a longer id. */
const ANSWER_ID_CHARS = 200;

/** The usage row of an answer of the caller's account. It may not be written yet. Throws 400 and 404. */
async function findGeneration({ usage, writer }: OwnKeyDeps, { accountId }: Caller, request: Request) {
  const id = new URL(request.url).searchParams.get("id");
  if (id === null || id === "" || id.length > ANSWER_ID_CHARS) {
    const message = `Invalid 'id': expected the id of an answer, of at most ${ANSWER_ID_CHARS} characters.`;
    throw new ApiError("invalid_request", message, { param: "id" });
  }
  let row = await usage.findAnswer(accountId, id);
  if (row === undefined) {
    await writer.flush();
    row = await usage.findAnswer(accountId, id);
  }
  if (row !== undefined) return { id, row };
  throw new ApiError(
    "generation_not_found",
    "No answer with this 'id' is known. Answers of chats are known to the account that asked for them, as long as the request log keeps them.",
    { param: "id" },
  );
}

const inOpenRoutersFormat = (path: string, describe: ServedEndpoint<OwnKeyDeps>["describe"]) =>
  anyKeyed("GET", path, {
    describe,
    handle: async (deps, { caller }) => {
      const { view, spending, periodMs } = await look(deps, caller);
      return Response.json(openRouterKey(view, spending, { periodMs, isManagement: caller.management !== null }));
    },
  });

/** The endpoints that describe the caller's own key. */
export const OWN_KEY: readonly ServedEndpoint<OwnKeyDeps>[] = [
  anyKeyed("GET", "/v1/key", {
    describe: gatewayText("getOwnKey"),
    handle: async (deps, { caller }) => Response.json((await look(deps, caller)).view),
  }),
  inOpenRoutersFormat("/api/v1/key", gatewayText("getOpenRouterKey")),
  inOpenRoutersFormat("/api/v1/auth/key", gatewayText("getOpenRouterAuthKey")),
  keyed("GET", "/api/v1/generation", {
    describe: gatewayText("getOpenRouterGeneration"),
    handle: async (deps, { caller, request }) => {
      const { id, row } = await findGeneration(deps, caller, request);
      return Response.json(
        openRouterGeneration(id, row, resolveModel(deps.catalog(), row.model)?.model.prices !== undefined),
      );
    },
  }),
  anyKeyed("GET", "/api/v1/credits", {
    describe: gatewayText("getOpenRouterCredits"),
    handle: async (deps, { caller }) => {
      const { view, spending } = await look(deps, caller);
      return Response.json(openRouterCredits(view, spending));
    },
  }),
];
