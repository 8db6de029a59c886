// Trying a model from the dashboard: a chat completion of the signed-in account, held to its plan and rate limit like any
// other and counted under a key of the house that nobody has.
import { ApiError } from "../base/errors.ts";
import { isTierId, type TierId } from "../catalog/tiers.ts";
import type { Caller } from "../http/guards.ts";
import type { KeyStore } from "../store/keys.ts";
import { type Endpoint, member } from "./endpoint.ts";

export interface PlaygroundApiDeps {
  readonly keys: Pick<KeyStore, "houseKey">;
  /** Answers a chat completion for a caller who needs no key. */
  chat(request: Request, caller: Caller<TierId>): Promise<Response>;
}

const KEY_NAME = "Playground";

/** The endpoint; its body and its answer are those of `POST /v1/chat/completions`. */
export function playgroundApi({ keys, chat }: PlaygroundApiDeps): Endpoint[] {
  return [
    member("POST", "/playground", async ({ request, who: { account } }) => {
      const key = await keys.houseKey(account.id, KEY_NAME);
      if (key.revokedAtMs !== null || !isTierId(account.tier)) {
        throw new ApiError("invalid_request", "The operator has closed the playground for this account.");
      }
      const { tier, trialEndsAtMs, subscriptionUntilMs, emailVerified, admin } = account;
      return chat(request, {
        keyId: key.id,
        accountId: account.id,
        rpm: key.rpm,
        expiresAtMs: null,
        budgetMicros: key.budgetMicros,
        account: { tier, trialEndsAtMs, subscriptionUntilMs, emailVerified, admin },
      });
    }),
  ];
}
