// The verbs of signing in through providers, whose code is loaded when the first of them is used: many gateways have no provider.

import { lazily } from "../../base/lazily.ts";
import type { OAuth, OAuthDeps } from "./flow.ts";

/** Builds the verbs. */
export function lateOAuthFlow(deps: OAuthDeps): OAuth {
  const flow = lazily(() => {
    const { oauthFlow }: typeof import("./flow.ts") = require("./flow.ts");
    return oauthFlow(deps);
  });
  return {
    begin: (start) => flow().begin(start),
    comeBack: (back) => flow().comeBack(back),
    redeem: (input) => flow().redeem(input),
    exchange: (input, client) => flow().exchange(input, client),
    unlink: (account, slug, client) => flow().unlink(account, slug, client),
    peekPending: (token) => flow().peekPending(token),
    takePending: (token) => flow().takePending(token),
    applyGroups: (accountId, person, client) => flow().applyGroups(accountId, person, client),
  };
}
