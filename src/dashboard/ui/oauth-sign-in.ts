// Sign-in through providers. An answer is accepted only if the sign-in was begun in this tab; otherwise a link could
// sign a user in to another person's account.

import { call, Refused } from "./api.ts";
import { safeNext } from "./router.ts";

const STORE = "sallyport_trip";

/** Goes to the provider to sign in; `next` is the page to come back to. */
export function beginSignIn(slug: string, next: string): void {
  const state = begin(next);
  location.assign(`/v1/auth/oauth/${encodeURIComponent(slug)}/start?state=${state}`);
}

/** Goes to the provider to link it to the signed-in account. */
export async function beginConnect(slug: string): Promise<void> {
  const state = begin("/account");
  const { authorization_url } = await call<{ authorization_url: string }>(
    "POST",
    `/oauth/${encodeURIComponent(slug)}/connect`,
    { state },
  );
  location.assign(authorization_url);
}

/** Whether this is the address to which a provider returns the browser. */
export function isReturn(query: URLSearchParams): boolean {
  return query.has("provider") && ["code", "linked", "error"].some((name) => query.has(name));
}

/** Returns the page to continue to if this tab began the sign-in that the query belongs to. Works once. */
export function endTrip(query: URLSearchParams): string | undefined {
  const kept = sessionStorage.getItem(STORE);
  sessionStorage.removeItem(STORE);
  if (kept === null) return undefined;
  const trip = JSON.parse(kept) as { state: string; next: string };
  return trip.state === query.get("state") ? safeNext(trip.next) : undefined;
}

/**
 * Finishes a sign-in: signs in if there is a code. Returns the page to continue to; throws an error with a readable
 * message.
 */
export async function finishTrip(query: URLSearchParams): Promise<string> {
  const next = endTrip(query);
  const provider = query.get("provider") ?? "";
  const error = query.get("error");
  if (error !== null) throw new Error(wordsOf(error));
  if (next === undefined) throw new Error("This sign-in was not started in this tab. Try again.");
  const code = query.get("code");
  if (code !== null) {
    await call("POST", "/oauth/exchange", { code, provider }).catch((cause: unknown) => {
      throw cause instanceof Refused ? new Error(cause.message) : cause;
    });
  }
  return next;
}

function begin(next: string): string {
  const state = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  sessionStorage.setItem(STORE, JSON.stringify({ state, next }));
  return state;
}

function wordsOf(error: string): string {
  switch (error) {
    case "access_denied":
      return "Sign-in was denied at the provider.";
    case "identity_taken":
      return "This provider account is linked to another account here.";
    case "account_not_found":
      return "There is no account here for this provider account.";
    default:
      return "The provider could not sign you in. Try again.";
  }
}
