// Who a request of a browser speaks for, and whether a page of ours sent it. API keys and access tokens open nothing here.

import type { Accounts } from "../../accounts/accounts.ts";
import type { SignedIn } from "../../accounts/own-account.ts";
import { ApiError } from "../../base/errors.ts";
import { cookiesOf } from "../../http/cookies.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { BASE } from "../contract.ts";

const COOKIE = "sallyport_session";

/** The account behind the session cookie; undefined when there is none or it has ended. */
export async function visitorOf(
  request: Request,
  { cookies }: Pick<Accounts, "cookies">,
): Promise<SignedIn | undefined> {
  const value = cookiesOf(request).get(COOKIE);
  return value === undefined ? undefined : cookies.find(value);
}

/** Did the request bring a session cookie, whatever it is worth? */
export function hasSessionCookie(request: Request): boolean {
  return cookiesOf(request).has(COOKIE);
}

/** The `Set-Cookie` that signs a browser in; an empty value signs it out. */
export function sessionCookie(session: { value: string; seconds: number }, { secure }: { secure: boolean }): string {
  // Over plain HTTP a browser would drop a Secure cookie without a word.
  const more = secure ? "; Secure" : "";
  // Lax, not Strict: a link in a mail must find people signed in. Writes are held to their Origin besides.
  return `${COOKIE}=${session.value}; Path=${BASE}; Max-Age=${session.seconds}; HttpOnly; SameSite=Lax${more}`;
}

/**
 * Throws `ApiError` 403 `origin_not_allowed` for a write that another site's page sent. Browsers name the Origin of every
 * write; a client that names none is no browser and has no one else's cookie.
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
  // An untrusted proxy may hide that the browser uses HTTPS; the opposite does not happen by accident.
  if (exchangeOf(request).secure && protocol !== "https:") return false;
  // Some proxies write the port behind the name though it is the scheme's own; browsers never do.
  const named = `${protocol}//${request.headers.get("host") ?? ""}`;
  return URL.canParse(named) && new URL(named).host === host;
}
