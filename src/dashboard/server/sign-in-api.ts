// Sign-up, sign-in, sign-in providers, forgotten passwords, verification of addresses and sign-out.

import type { Accounts } from "../../accounts/accounts.ts";
import { optionalText, requiredText } from "../../accounts/fields.ts";
import { COOKIE_SECONDS, cookieOf, type PlaceDeps, placeOf } from "../../accounts/oauth/place.ts";
import { ApiError } from "../../base/errors.ts";
import type { Account } from "../../store/access/accounts.ts";
import type { Boot, PendingPerson, Profile } from "../contract.ts";
import { anyone, type DashboardRequest, type Endpoint, member } from "./endpoint.ts";
import { sessionCookie } from "./guard.ts";

export interface SignInApiDeps extends PlaceDeps {
  readonly accounts: Accounts;
  profile(account: Account): Promise<Profile>;
  boot(request: Request, account: Account | undefined): Promise<Boot>;
}

/** The endpoints of signing in. */
export function signInApi(deps: SignInApiDeps): Endpoint[] {
  return [...sessionApi(deps), ...oauthApi(deps), ...mailApi(deps)];
}

function sessionApi(deps: SignInApiDeps): Endpoint[] {
  const { accounts } = deps;
  return [
    anyone("GET", "/session", ({ request, who }) => deps.boot(request, who?.account)),

    anyone("POST", "/signup", async (visit) => {
      const body = await visit.body();
      const account = await accounts.signUp(
        {
          email: requiredText(body, "email"),
          username: requiredText(body, "username"),
          password: optionalText(body, "password"),
          invite: filled(body, "invite"),
          setup: filled(body, "setup"),
          pending: filled(body, "pending"),
        },
        visit.client,
      );
      await admit(accounts, visit, account.id);
      return deps.profile(account);
    }),

    anyone("POST", "/login", async (visit) => {
      const body = await visit.body();
      const login = requiredText(body, "username_or_email", "username", "email");
      const account = await accounts.signIn({ login, password: requiredText(body, "password") }, visit.client);
      await admit(accounts, visit, account.id);
      return deps.profile(account);
    }),

    anyone("POST", "/logout", async (visit) => {
      if (visit.who !== undefined) await accounts.logout(visit.who, undefined, visit.client);
      visit.cookies.push(sessionCookie({ value: "", seconds: 0 }, visit));
      return { success: true };
    }),
  ];
}

/** Sign-in providers: completing a sign-in, signing up through a provider, and linking. */
function oauthApi(deps: SignInApiDeps): Endpoint[] {
  const { accounts } = deps;
  return [
    anyone("POST", "/oauth/exchange", async (visit) => {
      const body = await visit.body();
      const code = requiredText(body, "code");
      await admit(accounts, visit, await accounts.oauth.redeem({ code, provider: requiredText(body, "provider") }));
      return { success: true };
    }),

    anyone("POST", "/oauth/pending", async (visit): Promise<PendingPerson> => {
      const person = await accounts.oauth.peekPending(requiredText(await visit.body(), "pending"));
      if (person === undefined) {
        throw new ApiError("invalid_code", "Signing up through the provider took too long. Start again.", {
          param: "pending",
        });
      }
      return { provider: person.provider, email: person.email, name: person.name };
    }),

    member("POST", "/oauth/:provider/connect", async (visit) => {
      const state = filled(await visit.body(), "state");
      const onward = await accounts.oauth.begin({
        slug: visit.params["provider"] ?? "",
        redirectUri: undefined,
        clientState: state,
        who: visit.who,
        place: placeOf(visit.request, deps),
        client: visit.client,
      });
      visit.cookies.push(cookieOf(onward, { seconds: COOKIE_SECONDS, secure: visit.secure }));
      return { authorization_url: onward.location };
    }),
  ];
}

/** Actions that use a mail: forgotten passwords and the verification of the address. */
function mailApi({ accounts }: SignInApiDeps): Endpoint[] {
  return [
    anyone("POST", "/password/forgot", async (visit) => {
      await accounts.passwordReset.request(requiredText(await visit.body(), "email"), visit.client);
      return { success: true };
    }),

    anyone("POST", "/password/reset", async (visit) => {
      const body = await visit.body();
      const token = requiredText(body, "token");
      await accounts.passwordReset.confirm({ token, password: requiredText(body, "password") }, visit.client);
      return { success: true };
    }),

    member("POST", "/verification/send", ({ who }) => accounts.verification.sendCode(who.account)),

    member("POST", "/verification/verify", async (visit) => {
      const code = requiredText(await visit.body(), "code");
      return accounts.verification.verifyCode(visit.who.account, code, visit.client);
    }),
  ];
}

async function admit(accounts: Accounts, visit: DashboardRequest, accountId: string): Promise<void> {
  // Ends the browser's former session, which would otherwise stay valid unseen.
  if (visit.who !== undefined) await accounts.logout(visit.who, undefined, visit.client);
  visit.cookies.push(sessionCookie(await accounts.cookies.start(accountId, visit.client), visit));
}

/** A field that pages send empty when it was not filled in. */
function filled(body: Record<string, unknown>, name: string): string | undefined {
  return body[name] === "" ? undefined : optionalText(body, name);
}
