// The rules for a new account: valid names and the initial plan.

/** RFC 5321's longest path. */
const EMAIL_CHARS_MAX = 254;
// Without "@", so that a user name can never be read as someone's address at sign-in.
const USERNAME = /^[\p{L}\p{N}._-]{1,64}$/u;
// Whether an address exists is found out by mailing it; this only refuses what no mailer can use.
const EMAIL = /^[^\s@\p{C}<>,;:"()[\]\\]+@[^\s@\p{C}<>,;:"()[\]\\]+$/u;

/** What is wrong with a user name, as one public sentence; undefined when it will do. */
export function usernameFault(username: string): string | undefined {
  return USERNAME.test(username) ? undefined : "A user name has 1 to 64 letters, digits, dots, dashes or underscores.";
}

/** What is wrong with an address, as one public sentence; undefined when it will do. */
export function emailFault(email: string): string | undefined {
  return email.length <= EMAIL_CHARS_MAX && EMAIL.test(email) ? undefined : "That is not an e-mail address.";
}

/**
 * Whether two addresses are one mailbox. Stricter than looking up: characters that only fold to the same letters may be
 * another person's mailbox, so outside ASCII every character must be the same.
 */
export function isSameMailbox(one: string, other: string): boolean {
  const plain = (text: string) => text.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return plain(one) === plain(other);
}

/** What a plan begins with. */
export interface PlanStart {
  readonly trialEndsAtMs: number | null;
  readonly subscriptionUntilMs: number | null;
}

/**
 * A new account has its tier's trial. Spec silent: an operator's `untilMs` is a subscription and replaces the trial, and
 * an admin has none, because a gateway must not lock out who runs it.
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
