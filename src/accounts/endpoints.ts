// What the account endpoints share: who is signed in, and where their descriptions stand.

import { describedBy, endpointsBehind } from "../http/served-endpoint.ts";
import type { Accounts } from "./accounts.ts";
import type { PlaceDeps } from "./oauth/place.ts";

/** What the endpoints need. */
export interface AccountRoutesDeps extends PlaceDeps {
  readonly accounts: Accounts;
}

/** Makes an endpoint for whoever sends an access token. */
export const signedIn = endpointsBehind("token", ({ accounts }: AccountRoutesDeps, request) =>
  accounts.authenticate(request),
);

/** The description of an operation. */
export const accountText = describedBy(() => {
  const { ACCOUNT_TEXTS }: typeof import("./openapi.ts") = require("./openapi.ts");
  return ACCOUNT_TEXTS;
});

/** Tokens and profiles must not be cached. */
export const NO_STORE = { "cache-control": "no-store" };
