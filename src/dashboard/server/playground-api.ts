// Trying things from the dashboard: a chat in any format, a decision or a web tool of the signed-in account, subject to its plan and
// rate limit like any other and counted under an internal key that never authenticates.

import { ApiError } from "../../base/errors.ts";
import { isTierId, tierIncludes } from "../../catalog/tiers.ts";
import type { TierId } from "../../config/schema.ts";
import type { createSpenders } from "../../gateway/budgets.ts";
import type { Caller } from "../../gateway/caller.ts";
import type { Account } from "../../store/access/accounts.ts";
import type { KeyStore } from "../../store/access/keys.ts";
import type { DecisionChoice, Listing } from "../contract.ts";
import { type Endpoint, member } from "./endpoint.ts";

export interface PlaygroundApiDeps {
  readonly keys: Pick<KeyStore, "houseKey">;
  /** What can be tried, by the path it is tried at: each answers for a caller who needs no key. */
  readonly play: Readonly<Record<`/playground${string}`, (request: Request, caller: Caller) => Promise<Response>>>;
  /** The budgets that a caller's requests count against. */
  budgetsOf: ReturnType<typeof createSpenders>;
  /** Decision models that are listed, by id and alias. */
  decisionChoices(): Promise<readonly { readonly id: string; readonly tier: TierId }[]>;
}

const KEY_NAME = "Playground";

/** The endpoints; bodies and answers are those of the API's own, but jobs are started and not waited for. */
export function playgroundApi({ keys, play, decisionChoices, budgetsOf }: PlaygroundApiDeps): Endpoint[] {
  const callerFor = async (account: Account): Promise<Caller> => {
    const key = await keys.houseKey(account.id, KEY_NAME);
    const { tier, trialEndsAtMs, subscriptionUntilMs, emailVerified, admin } = account;
    if (key.revokedAtMs !== null || !isTierId(tier)) {
      throw new ApiError("invalid_request", "The operator has closed the playground for this account.");
    }
    return {
      keyId: key.id,
      accountId: account.id,
      rpm: key.rpm,
      expiresAtMs: null,
      noStore: false,
      debugUntilMs: null,
      models: null,
      passthrough: false,
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
