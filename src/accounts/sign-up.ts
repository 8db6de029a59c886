// Sign-up in the dashboard: who may sign up, and an account's initial state. A taken address is not named as the reason,
// takes the same work as a free one, and its owner is notified by mail.

import type { Clock } from "../base/clock.ts";
import { ApiError } from "../base/errors.ts";
import { sha256Hex } from "../base/ids.ts";
import type { Config } from "../config/schema.ts";
import type { SignInThrottle } from "../shared-state/sign-in-throttle.ts";
import { type Account, type AccountStore, foldName, type NewAccount } from "../store/access/accounts.ts";
import type { AuditStore } from "../store/access/audit.ts";
import type { CodeStore } from "../store/access/codes.ts";
import { addressName } from "./address-name.ts";
import type { Client } from "./client.ts";
import type { Mailer } from "./mail/mailer.ts";
import { signUpTriedMail } from "./mail/mails.ts";
import { emailFault, isSameMailbox, planStart, usernameFault } from "./new-account.ts";
import type { OAuth, PendingIdentity } from "./oauth/flow.ts";
import type { PasswordHasher } from "./passwords/hash-queue.ts";
import { passwordFault } from "./passwords/passwords.ts";
import { isSetupToken, type SetupDeps } from "./setup.ts";

/** What signing up needs. */
export interface SignUpDeps {
  readonly clock: Clock;
  readonly accounts: Pick<AccountStore, "countAccounts" | "createAccount" | "findAccount" | "findAccountByEmail">;
  readonly codes: Pick<CodeStore, "isInviteOpen">;
  readonly audit: Pick<AuditStore, "addAudit">;
  readonly secrets: { secret: SetupDeps["secret"]; dropSecret(name: "setup_token"): Promise<void> };
  readonly oauth: Pick<OAuth, "peekPending" | "takePending" | "applyGroups">;
  readonly hasher: PasswordHasher;
  readonly mailer: Pick<Mailer, "send">;
  /** Sign-ups by the client's address. */
  readonly attempts: SignInThrottle;
  /** Mails by account. */
  readonly mailed: SignInThrottle;
  /** The same per day, by address. */
  readonly daily: SignInThrottle;
  config(): Pick<Config, "auth" | "tiers">;
}

/** The form's fields, and the parameters of the link. */
export interface SignUpForm {
  readonly email: string;
  readonly username: string;
  /** Optional if a provider authenticates the person. */
  readonly password?: string | undefined;
  readonly invite?: string | undefined;
  /** From the setup link. */
  readonly setup?: string | undefined;
  /** From a provider's callback. */
  readonly pending?: string | undefined;
}

/**
 * Creates the account. Throws `ApiError` 403 `signup_closed` or `invite_required`, 400 `invalid_request` with the field as
 * param (none if the address is taken), 400 `invalid_code` (param `pending`), 429 or 503.
 */
export type SignUp = (form: SignUpForm, client: Client) => Promise<Account>;

/** Builds the verb. */
export function signUp(deps: SignUpDeps): SignUp {
  const { accounts, oauth } = deps;

  const personOf = async (pending: string | undefined): Promise<PendingIdentity | undefined> => {
    if (pending === undefined) return undefined;
    const person = await oauth.peekPending(pending);
    if (person === undefined) throw invalidPending();
    return person;
  };

  return async (form, client) => {
    const attempt = await deps.attempts.begin([`signup:${addressName(client.address)}`]);
    if (!attempt.allowed) {
      const { retryAfterSeconds } = attempt;
      throw new ApiError("too_many_attempts", "Too many sign-ups. Try again later.", { retryAfterSeconds });
    }
    const right = await admission(deps, form);
    const person = await personOf(form.pending);
    const [email, username] = [form.email.trim(), form.username.trim()];
    refuse("email", emailFault(email));
    refuse("username", usernameFault(username));
    if (form.password !== undefined) refuse("password", passwordFault(form.password));
    else if (person === undefined) refuse("password", "A password is required.");
    // Computed before the name is looked up, so that both cases take the same time.
    const passwordHash = form.password === undefined ? null : await deps.hasher.hash(form.password);

    const admin = right.mustBeFirst === true;
    const tier = admin ? deps.config().tiers.at(-1) : deps.config().tiers[0];
    if (tier === undefined) throw new Error("there is no plan");
    const made = await accounts.createAccount({
      email,
      username,
      passwordHash,
      tier: tier.id,
      admin,
      emailVerified: person?.emailVerified === true && isSameMailbox(person.email ?? "", email),
      ...planStart({ nowMs: deps.clock.now(), trialMs: tier.trialMs, admin }),
      ...right,
      ...(person === undefined
        ? {}
        : { identity: { provider: person.provider, subject: person.subject, email: person.email } }),
    });
    if ("refused" in made) {
      if (made.refused === "not_first") throw new ApiError("signup_closed", "The first account already exists.");
      if (made.refused === "invite_invalid") throw inviteRequired();
      const owner = made.refused === "email_taken" ? await accounts.findAccountByEmail(email) : undefined;
      const mayMail = async (to: Account) =>
        (await deps.mailed.begin([`signup:${to.id}`])).allowed &&
        (await deps.daily.begin([`signup:${foldName(to.email)}`])).allowed;
      if (owner !== undefined && (await mayMail(owner))) deps.mailer.send(signUpTriedMail(owner.email, owner.username));
      // Names are public; addresses are not, so a taken one is not distinguished from other reasons.
      if (made.refused === "username_taken") refuse("username", "This username is taken. Choose another.");
      throw new ApiError("invalid_request", "An account with these details cannot be created. Have one? Sign in.");
    }
    // Only now: a taken name must not cost users their sign-in. The unique identity ensures that it is used once.
    if (form.pending !== undefined) await oauth.takePending(form.pending);
    if (admin) await deps.secrets.dropSecret("setup_token");
    const detail = person === undefined ? {} : { provider: person.provider };
    await deps.audit.addAudit({ accountId: made.id, event: "signup", ...client, detail });
    if (person === undefined) return made;
    await oauth.applyGroups(made.id, person, client);
    return (await accounts.findAccount(made.id)) ?? made;
  };
}

/** The permission to sign up. */
async function admission(
  deps: SignUpDeps,
  { setup, invite, pending }: SignUpForm,
): Promise<Pick<NewAccount, "mustBeFirst" | "inviteHash">> {
  const { accounts } = deps;
  if ((await accounts.countAccounts()) === 0) {
    const setupDeps = { countAccounts: () => accounts.countAccounts(), secret: deps.secrets.secret };
    if (setup !== undefined && (await isSetupToken(setupDeps, setup))) return { mustBeFirst: true };
    throw new ApiError("signup_closed", "The first account is created through the link printed at startup.");
  }
  const { signup } = deps.config().auth;
  if (signup === "closed") throw new ApiError("signup_closed", "Sign-up is disabled.");
  // Who comes from a provider and still has to choose a name or tell an address.
  if (signup === "oauth" && pending === undefined)
    throw new ApiError("signup_closed", "Accounts are made by signing in through a provider.");
  if (signup === "open" || signup === "oauth") return {};
  const inviteHash = sha256Hex(invite ?? "");
  if (await deps.codes.isInviteOpen(inviteHash)) return { inviteHash };
  throw inviteRequired();
}

function refuse(param: string, fault: string | undefined): void {
  if (fault !== undefined) throw new ApiError("invalid_request", fault, { param });
}

function inviteRequired(): ApiError {
  return new ApiError("invite_required", "Sign-up requires an invitation. It is missing or invalid.");
}

function invalidPending(): ApiError {
  return new ApiError("invalid_code", "Signing up through the provider took too long. Start again.", {
    param: "pending",
  });
}
