// The texts of mails, as plain text and HTML. Plain on purpose: no image, no tracking, no external content.

import type { Mail } from "./transport.ts";

/** The code that verifies an address. */
export function verificationMail(to: string, name: string, { code, minutes }: { code: string; minutes: number }): Mail {
  return mail(to, "Your verification code", [
    `Hello ${name},`,
    "this is your verification code:",
    { strong: code },
    `It works for ${minutes} minutes. If you did not ask for it, you can ignore this mail.`,
  ]);
}

/** The link that sets a new password. */
export function resetMail(to: string, name: string, { link, minutes }: { link: string; minutes: number }): Mail {
  return mail(to, "Set a new password", [
    `Hello ${name},`,
    "someone, hopefully you, asked to set a new password for your account. Use this link; it works once:",
    { link },
    `It works for ${minutes} minutes. If you did not ask for it, you can ignore this mail: nothing has changed.`,
  ]);
}

/** Reports that the password was changed. */
export function passwordChangedMail(to: string, name: string, { keysEnded = 0 } = {}): Mail {
  return mail(to, "Your password was changed", [
    `Hello ${name},`,
    "the password of your account was changed just now, and all sessions were ended.",
    keysEnded === 0
      ? "API keys keep working: revoke those that you do not recognise in the dashboard."
      : "Your address had not been verified before, so the API keys that were made until now were revoked too.",
    "If that was not you, ask for a new password at once and tell the operator of this gateway.",
  ]);
}

/** Tells the owner of an account that someone tried to sign up with its address. */
export function signUpTriedMail(to: string, name: string): Mail {
  return mail(to, "You already have an account", [
    `Hello ${name},`,
    "someone, perhaps you, tried to create an account with this address. It already has one: sign in, or ask for a new password.",
    "If that was not you, you can ignore this mail: nothing has changed.",
  ]);
}

/** An alert, as the webhook gets it. */
export interface AlertText {
  readonly type: string;
  readonly at: string;
  readonly subject: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Tells of an alert. `name`: that of the owner; undefined for the operator. */
export function alertMail(to: string, name: string | undefined, { type, at, subject, details }: AlertText): Mail {
  const [title, sentence] = alertWords(type, subject, details);
  const facts = Object.entries(details).map(([key, value]) => `${key.replaceAll("_", " ")}: ${factText(value)}`);
  return mail(to, title, [name === undefined ? "Hello," : `Hello ${name},`, sentence, ...facts, `Noticed at ${at}.`]);
}

function alertWords(type: string, subject: string, { percent, scope, name }: AlertText["details"]): [string, string] {
  const named = typeof name === "string" ? `"${name}"` : subject;
  switch (type) {
    case "budget": {
      const whose = scope === "account" ? "your account" : `the ${scope} ${named}`;
      return [`${percent} % of a budget is spent`, `${percent} % of the budget of ${whose} is spent.`];
    }
    case "key_expiry":
      return [
        "An API key expires soon",
        `the API key ${named} expires soon. Requests with it are refused from then on.`,
      ];
    case "provider_down":
      return [`The provider ${subject} is down`, `calls to the provider ${subject} keep failing.`];
    case "decision_drift":
      return [
        `The decision model ${subject} has changed`,
        `the provider of the decision model ${subject} reports another version than before. Its calibration may no longer hold.`,
      ];
    case "run_limit":
      return ["An agent run has reached its limit", `the agent run ${named} was stopped at its limit.`];
    default:
      return [`Alert: ${type}`, `there is an alert about ${named}.`];
  }
}

function factText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

type Line = string | { readonly strong: string } | { readonly link: string };

function mail(to: string, subject: string, lines: readonly Line[]): Mail {
  const text = lines.map((line) => (typeof line === "string" ? line : "link" in line ? line.link : line.strong));
  const body = lines.map((line) => `<p>${asHtml(line)}</p>`).join("\n");
  return {
    to,
    subject,
    text: `${text.join("\n\n")}\n`,
    html: `<!doctype html>\n<html lang="en"><body style="font-family:sans-serif">\n${body}\n</body></html>\n`,
  };
}

function asHtml(line: Line): string {
  if (typeof line === "string") return escaped(line);
  if ("link" in line) return `<a href="${escaped(line.link)}">${escaped(line.link)}</a>`;
  return `<strong style="font-size:1.5em;letter-spacing:0.1em">${escaped(line.strong)}</strong>`;
}

function escaped(text: string): string {
  return Bun.escapeHTML(text);
}
