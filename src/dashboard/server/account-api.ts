// The signed-in account's own settings: password, sessions, linked providers, audit log and deletion.

import type { Accounts } from "../../accounts/accounts.ts";
import { requiredText } from "../../accounts/fields.ts";
import { ApiError } from "../../base/errors.ts";
import { type Endpoint, member } from "./endpoint.ts";
import { pageOf } from "./form.ts";
import { sessionCookie } from "./guard.ts";

const EVENTS_PER_PAGE = 20;

export interface AccountApiDeps {
  readonly accounts: Accounts;
  /** The secrets that sign the accounts' webhooks. */
  readonly webhookSecrets: {
    secretOf(accountId: string): Promise<string>;
    renew(accountId: string): Promise<string>;
  };
}

/** The endpoints of the account's own settings. */
export function accountApi({ accounts, webhookSecrets }: AccountApiDeps): Endpoint[] {
  return [
    member("GET", "/webhook-secret", async ({ who }) => ({ secret: await webhookSecrets.secretOf(who.account.id) })),

    member("POST", "/webhook-secret/renew", async ({ who }) => ({
      secret: await webhookSecrets.renew(who.account.id),
    })),

    member("POST", "/account/password", async (visit) => {
      const body = await visit.body();
      const current = requiredText(body, "current_password");
      const next = requiredText(body, "password");
      await accounts.changePassword(visit.who, { current, next }, visit.client).catch((error: unknown) => {
        // Named, so that the form can point at the field; a 401 would make the page believe that the session has ended.
        if (!(error instanceof ApiError) || error.apiCode !== "invalid_credentials") throw error;
        throw new ApiError("invalid_request", error.message, { param: "current_password" });
      });
      return { success: true };
    }),

    member("POST", "/account/password/mail", async ({ who, client }) => {
      await accounts.passwordReset.request(who.account.email, client);
      return { success: true };
    }),

    member("GET", "/sessions", async ({ who }) => ({ data: await accounts.sessions(who) })),

    member("DELETE", "/sessions/:id", async ({ who, client, params }) => {
      await accounts.endSession(who, params["id"] ?? "", client);
      return { success: true };
    }),

    member("POST", "/sessions/end-others", async ({ who, client }) => ({
      ended: await accounts.endAllSessions(who, { keepCurrent: true, client }),
    })),

    member("DELETE", "/oauth/:provider", async ({ who, client, params }) => {
      await accounts.oauth.unlink(who.account, params["provider"] ?? "", client);
      return { success: true };
    }),

    member("GET", "/events", async ({ who, query }) => ({
      data: await accounts.audit(who.account.id, { ...pageOf(query), limit: EVENTS_PER_PAGE }),
    })),

    member("POST", "/account/delete", async (visit) => {
      const { account } = visit.who;
      // The username confirms it, since an account that signs in through a provider has no password.
      if (requiredText(await visit.body(), "username") !== account.username) {
        throw new ApiError("invalid_request", "That is not your username.", { param: "username" });
      }
      await accounts.deleteAccount(account.id);
      visit.cookies.push(sessionCookie({ value: "", seconds: 0 }, visit));
      return { success: true };
    }),
  ];
}
