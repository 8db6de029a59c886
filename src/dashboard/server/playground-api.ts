// Requests from the playground: a chat in any format, a decision or a web tool. They run for the signed-in account, are
// subject to its plan and rate limit, and are counted under an internal key that cannot authenticate.

import { ApiError } from "../../base/errors.ts";
import { isTierId, tierIncludes } from "../../catalog/tiers.ts";
import type { TierId } from "../../config/schema.ts";
import type { createSpenders } from "../../gateway/admission/budgets.ts";
import type { Caller } from "../../gateway/admission/caller.ts";
import type { Account } from "../../store/access/accounts.ts";
import { UNLIMITED } from "../../store/access/key-rows.ts";
import type { KeyStore } from "../../store/access/keys.ts";
import type { DecisionChoice, Listing } from "../contract.ts";
import { type Endpoint, member } from "./endpoint.ts";
import type { PlaygroundPath } from "./playground-paths.ts";

export interface PlaygroundApiDeps {
  readonly keys: Pick<KeyStore, "houseKey">;
  /** The handlers that can be called, by path. Each answers a caller who needs no key. */
  readonly play: Readonly<Record<PlaygroundPath, (request: Request, caller: Caller) => Promise<Response>>>;
  /** The budgets against which a caller's requests count. */
  budgetsOf: ReturnType<typeof createSpenders>;
  /** The listed decision models, by id and alias. */
  decisionChoices(): Promise<readonly { readonly id: string; readonly tier: TierId }[]>;
}

const KEY_NAME = "Playground";

/** The endpoints. Bodies and answers are those of the public API, but jobs are started without waiting for them. */
export function playgroundApi({ keys, play, decisionChoices, budgetsOf }: PlaygroundApiDeps): Endpoint[] {
  const callerFor = async (account: Account): Promise<Caller> => {
    const key = await keys.houseKey(account.id, KEY_NAME);
    const { tier, trialEndsAtMs, subscriptionUntilMs, emailVerified, admin } = account;
    if (key.revokedAtMs !== null || !isTierId(tier)) {
      throw new ApiError("invalid_request", "The operator has closed the playground for this account.");
    }
    return {
      ...UNLIMITED,
      keyId: key.id,
      accountId: account.id,
      rpm: key.rpm,
      budgets: await budgetsOf({
        keyId: key.id,
        accountId: account.id,
        budgetMicros: key.budgetMicros,
        account: { tier },
      }),
      account: { tier, trialEndsAtMs, subscriptionUntilMs, emailVerified, admin },
    };
  };
  return [
    ...Object.entries(play).map(([path, answer]) =>
      member("POST", path, async ({ request, who }) => answer(request, await callerFor(who.account))),
    ),

    member("GET", "/decision-models", async ({ who: { account } }): Promise<Listing<DecisionChoice>> => {
      const { tier: own } = account;
      const usable = (tier: TierId) => isTierId(own) && tierIncludes(own, tier);
      return { data: (await decisionChoices()).map(({ id, tier }) => ({ id, tier, usable: usable(tier) })) };
    }),
  ];
}
