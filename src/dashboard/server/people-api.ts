// Accounts and invitations for operators: find accounts, set their plan, revoke their keys, delete them; create and
// withdraw invitations. An operator's actions are written to the operator's own audit log.

import type { Accounts } from "../../accounts/accounts.ts";
import { optionalText, requiredText } from "../../accounts/fields.ts";
import { sessionView } from "../../accounts/sessions/session-list.ts";
import type { Clock } from "../../base/clock.ts";
import { ApiError } from "../../base/errors.ts";
import { randomText, sha256Hex } from "../../base/ids.ts";
import { isoTime } from "../../base/iso-time.ts";
import { isTierId } from "../../catalog/tiers.ts";
import { TIER_IDS } from "../../config/schema-server.ts";
import type { Account, AccountStore } from "../../store/access/accounts.ts";
import type { CodeStore, Invite } from "../../store/access/codes.ts";
import { HOUSE_KEY } from "../../store/access/key-listing.ts";
import type { KeyStore } from "../../store/access/keys.ts";
import type { SessionStore } from "../../store/access/sessions.ts";
import type { UsageStore } from "../../store/usage/usage.ts";
import type { AccountRow, AccountView, InviteView, Listing, NewInvite, ResetLink } from "../contract.ts";
import { admin, type Endpoint } from "./endpoint.ts";
import { namedPageOf, optionalSwitch, optionalTime } from "./form.ts";
import { budgetView, type KeysApiDeps, keyViewer } from "./keys-api.ts";

export interface PeopleApiDeps extends Pick<KeysApiDeps, "note" | "keysChanged" | "unpriced" | "budgetOf"> {
  readonly accounts: Pick<Accounts, "deleteAccount" | "passwordReset">;
  readonly sessions: Pick<SessionStore, "listSessions" | "revokeAllSessions">;
  readonly people: Pick<AccountStore, "searchAccounts" | "findAccount" | "updateAccount">;
  readonly keys: Pick<KeyStore, "listKeys" | "revokeKey" | "countLiveKeys">;
  readonly usage: Pick<UsageStore, "tokensOf">;
  readonly invites: Pick<CodeStore, "createInvite" | "listInvites" | "deleteInvite">;
  readonly clock: Clock;
}

const PER_PAGE = 50;
const SEARCH_CHARS_MAX = 200;
const NOTE_CHARS_MAX = 200;
/** Long enough that it cannot be guessed. */
const INVITE_CHARS = 24;

/** The endpoints of accounts and invitations. */
export function peopleApi(deps: PeopleApiDeps): Endpoint[] {
  const { people, keys, note } = deps;

  const find = async (id: string | undefined): Promise<Account> => {
    const account = await people.findAccount(id ?? "");
    if (account === undefined) throw new ApiError("account_not_found", "There is no such account.");
    return account;
  };

  return [
    admin("GET", "/admin/accounts", async ({ query }): Promise<Listing<AccountRow>> => {
      const begins = (query.get("q") ?? "").slice(0, SEARCH_CHARS_MAX);
      return {
        data: await rowsOf(deps, await people.searchAccounts(begins, { ...namedPageOf(query), limit: PER_PAGE })),
      };
    }),

    admin("GET", "/admin/accounts/:id", async ({ params }): Promise<AccountView> => {
      const account = await find(params["id"]);
      const [row] = await rowsOf(deps, [account]);
      const own = (await keys.listKeys(account.id)).filter(({ id }) => !id.startsWith(HOUSE_KEY));
      return {
        ...row!,
        keys: own.reverse().map(keyViewer(deps, account)),
        budget: budgetView(await deps.budgetOf(account)),
        tiers: TIER_IDS,
        sessions: (await deps.sessions.listSessions(account.id)).map((session) => sessionView(session, "")),
      };
    }),

    admin("POST", "/admin/accounts/:id", async (visit) => {
      const account = await find(visit.params["id"]);
      const body = await visit.body();
      const tier = requiredText(body, "tier");
      if (!isTierId(tier)) {
        throw new ApiError("invalid_request", `A plan is one of ${TIER_IDS.join(", ")}.`, { param: "tier" });
      }
      const untilMs = optionalTime(body, "subscription_until") ?? null;
      await people.updateAccount(account.id, { tier, trialEndsAtMs: null, subscriptionUntilMs: untilMs });
      deps.keysChanged();
      await note("plan_set", visit, { account: account.username, tier, until: isoTime(untilMs) });
      return { success: true };
    }),

    admin("DELETE", "/admin/accounts/:id", async (visit) => {
      const account = await find(visit.params["id"]);
      if (account.id === visit.who.account.id) {
        throw new ApiError("invalid_request", "This is your own account. Delete it on your account's page.");
      }
      await deps.accounts.deleteAccount(account.id);
      await note("account_removed", visit, { account: account.username, email: account.email });
      return { success: true };
    }),

    admin("DELETE", "/admin/accounts/:id/keys/:key", async (visit) => {
      const account = await find(visit.params["id"]);
      const id = visit.params["key"] ?? "";
      const revoked = !id.startsWith(HOUSE_KEY) && (await keys.revokeKey(id, { accountId: account.id }));
      if (!revoked) throw new ApiError("key_not_found", "There is no such key, or it was already revoked.");
      deps.keysChanged();
      await note("account_key_revoked", visit, { account: account.username, key_id: id });
      return { success: true };
    }),

    ...helpApi(deps, find),
    ...invitesApi(deps),
  ];
}

/** Actions of an administrator for a person who cannot do them alone. */
function helpApi(deps: PeopleApiDeps, find: (id: string | undefined) => Promise<Account>): Endpoint[] {
  const { people, sessions, note } = deps;
  return [
    admin("POST", "/admin/accounts/:id/reset-link", async (visit): Promise<ResetLink> => {
      const account = await find(visit.params["id"]);
      const link = await deps.accounts.passwordReset.linkFor(account);
      await note("account_reset_link_made", visit, { account: account.username });
      return link;
    }),

    admin("POST", "/admin/accounts/:id/verify", async (visit) => {
      const account = await find(visit.params["id"]);
      await people.updateAccount(account.id, { emailVerified: true });
      deps.keysChanged();
      await note("account_verified", visit, { account: account.username });
      return { success: true };
    }),

    admin("POST", "/admin/accounts/:id/admin", async (visit) => {
      const account = await find(visit.params["id"]);
      const wanted = optionalSwitch(await visit.body(), "admin");
      // Refused, so that at least one administrator remains who can restore the role.
      if (account.id === visit.who.account.id)
        throw new ApiError("invalid_request", "Another administrator must change this for your own account.");
      await people.updateAccount(account.id, { admin: wanted });
      deps.keysChanged();
      await note("account_admin_set", visit, { account: account.username, admin: wanted });
      return { success: true };
    }),

    admin("POST", "/admin/accounts/:id/sessions/end", async (visit) => {
      const account = await find(visit.params["id"]);
      const own = account.id === visit.who.account.id ? visit.who.sessionId : "";
      const ended = await sessions.revokeAllSessions(account.id, own);
      deps.keysChanged();
      await note("account_sessions_ended", visit, { account: account.username, ended });
      return { ended };
    }),
  ];
}

function invitesApi({ invites, clock, note }: PeopleApiDeps): Endpoint[] {
  return [
    admin(
      "GET",
      "/admin/invites",
      async (): Promise<Listing<InviteView>> => ({ data: (await invites.listInvites()).map(inviteView) }),
    ),

    admin("POST", "/admin/invites", async (visit): Promise<NewInvite> => {
      const body = await visit.body();
      const text = body["note"] === "" ? "" : (optionalText(body, "note") ?? "").trim();
      if (text.length > NOTE_CHARS_MAX) {
        throw new ApiError("invalid_request", `A note has at most ${NOTE_CHARS_MAX} characters.`, { param: "note" });
      }
      const expiresAtMs = optionalTime(body, "expires_at") ?? null;
      if (expiresAtMs !== null && expiresAtMs <= clock.now()) {
        throw new ApiError("invalid_request", "The expiry time must be in the future.", { param: "expires_at" });
      }
      const code = randomText(INVITE_CHARS);
      const createdBy = visit.who.account.id;
      const { id } = await invites.createInvite({ hash: sha256Hex(code), createdBy, note: text, expiresAtMs });
      await note("invite_created", visit, { invite: id, note: text });
      return { id, code };
    }),

    admin("DELETE", "/admin/invites/:id", async (visit) => {
      const id = visit.params["id"] ?? "";
      if (!(await invites.deleteInvite(id))) {
        throw new ApiError("invite_not_found", "There is no such invitation, or it was already used.");
      }
      await note("invite_withdrawn", visit, { invite: id });
      return { success: true };
    }),
  ];
}

async function rowsOf({ keys, usage }: PeopleApiDeps, accounts: readonly Account[]): Promise<AccountRow[]> {
  const ids = accounts.map(({ id }) => id);
  const [live, tokens] = await Promise.all([keys.countLiveKeys(ids), usage.tokensOf(ids)]);
  return accounts.map((account) => ({
    id: account.id,
    username: account.username,
    email: account.email,
    email_verified: account.emailVerified,
    admin: account.admin,
    tier: account.tier,
    trial_ends_at: isoTime(account.trialEndsAtMs),
    subscription_until: isoTime(account.subscriptionUntilMs),
    created_at: isoTime(account.createdAtMs),
    live_keys: live.get(account.id) ?? 0,
    total_tokens: tokens.get(account.id) ?? 0,
  }));
}

function inviteView({ id, note, createdAtMs, expiresAtMs, usedAtMs, usedBy }: Invite): InviteView {
  return {
    id,
    note,
    created_at: isoTime(createdAtMs),
    expires_at: isoTime(expiresAtMs),
    used_at: isoTime(usedAtMs),
    used_by: usedBy,
  };
}
