// The rules for a new account: valid names and the initial plan.

/** The maximum length of RFC 5321. */
const EMAIL_CHARS_MAX = 254;
// Without "@", so that a user name can never be taken for an address at sign-in.
const USERNAME = /^[\p{L}\p{N}._-]{1,64}$/u;
// Only a mail shows whether an address exists; this refuses what no mailer can use.
const EMAIL = /^[^\s@\p{C}<>,;:"()[\]\\]+@[^\s@\p{C}<>,;:"()[\]\\]+$/u;

/** The problem of a user name, as a public sentence; undefined if it is valid. */
export function usernameFault(username: string): string | undefined {
  return USERNAME.test(username) ? undefined : "A user name has 1 to 64 letters, digits, dots, dashes or underscores.";
}

/** The problem of an address, as a public sentence; undefined if it is valid. */
export function emailFault(email: string): string | undefined {
  return email.length <= EMAIL_CHARS_MAX && EMAIL.test(email) ? undefined : "That is not an e-mail address.";
}

/**
 * Whether two addresses are the same mailbox. Stricter than the look-up: characters that only normalise to the same letters
 * may belong to another person's mailbox, so non-ASCII characters must be identical.
 */
export function isSameMailbox(one: string, other: string): boolean {
  const plain = (text: string) => text.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return plain(one) === plain(other);
}

/** The initial plan. */
export interface PlanStart {
  readonly trialEndsAtMs: number | null;
  readonly subscriptionUntilMs: number | null;
}

/**
 * A new account has its plan's trial. Spec silent: an operator's `untilMs` is a subscription and replaces the trial, and an
 * admin has none, because a gateway must not lock out its operator.
 */
export function planStart(options: {
  readonly nowMs: number;
  readonly trialMs: number | undefined;
  readonly untilMs?: number | undefined;
  readonly admin?: boolean;
}): PlanStart {
  const { nowMs, trialMs, untilMs, admin = false } = options;
  if (untilMs !== undefined) return { trialEndsAtMs: null, subscriptionUntilMs: untilMs };
  const trial = !admin && trialMs !== undefined && trialMs > 0;
  return { trialEndsAtMs: trial ? nowMs + trialMs : null, subscriptionUntilMs: null };
}
