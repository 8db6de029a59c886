// Determines the account behind a browser's request, and whether a page of the dashboard sent it. API keys and access
// tokens are not accepted here.

import type { Accounts } from "../../accounts/accounts.ts";
import type { SignedIn } from "../../accounts/own-account.ts";
import { ApiError } from "../../base/errors.ts";
import { cookiesOf } from "../../http/cookies.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { BASE } from "../contract.ts";

const COOKIE = "sallyport_session";

/** The account of the session cookie; undefined when there is no session or it has ended. */
export async function visitorOf(
  request: Request,
  { cookies }: Pick<Accounts, "cookies">,
): Promise<SignedIn | undefined> {
  const value = cookiesOf(request).get(COOKIE);
  return value === undefined ? undefined : cookies.find(value);
}

/** Whether the request carries a session cookie, valid or not. */
export function hasSessionCookie(request: Request): boolean {
  return cookiesOf(request).has(COOKIE);
}

/** The `Set-Cookie` that signs a browser in; an empty value signs it out. */
export function sessionCookie(session: { value: string; seconds: number }, { secure }: { secure: boolean }): string {
  // Over plain HTTP a browser would silently drop a Secure cookie.
  const more = secure ? "; Secure" : "";
  // Lax, not Strict: a person who follows a link in a mail must be signed in. The Origin check protects writes as well.
  return `${COOKIE}=${session.value}; Path=${BASE}; Max-Age=${session.seconds}; HttpOnly; SameSite=Lax${more}`;
}

/**
 * Throws `ApiError` 403 `origin_not_allowed` for a write that another site's page sent. Browsers send the Origin with
 * every write; a client that sends none is not a browser and carries no other person's cookie.
 */
export function refuseForeignOrigin(request: Request, ownUrls: readonly string[]): void {
  const origin = request.headers.get("origin");
  if (origin === null) {
    const site = request.headers.get("sec-fetch-site");
    if (site === null || site === "same-origin" || site === "none") return;
  } else if (isOwn(origin, request, ownUrls)) return;
  throw new ApiError("origin_not_allowed", "This request came from another site.");
}

function isOwn(origin: string, request: Request, ownUrls: readonly string[]): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  if (ownUrls.some((url) => URL.canParse(url) && new URL(url).origin === origin)) return true;
  // An untrusted proxy may hide that the browser uses HTTPS. The opposite does not happen by accident.
  if (exchangeOf(request).secure && protocol !== "https:") return false;
  // Some proxies append the scheme's default port to the host; browsers never do.
  const named = `${protocol}//${request.headers.get("host") ?? ""}`;
  return URL.canParse(named) && new URL(named).host === host;
}
