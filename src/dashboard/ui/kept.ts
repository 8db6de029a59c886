// What was typed and said on a page, kept for the reload and for the sign-in that a session's end asks for: in this tab, for
// the account that wrote it. Signing out forgets all of it.

import { profile } from "./session.ts";

const PREFIX = "sallyport:";

interface Kept {
  readonly owner: string;
  readonly value: unknown;
}

/** What this account kept under `name` in this tab; undefined where there is nothing. */
export function recall<T>(name: string): T | undefined {
  const text = sessionStorage.getItem(PREFIX + name);
  if (text === null) return undefined;
  try {
    const { owner, value } = JSON.parse(text) as Kept;
    if (owner === profile.peek()?.id) return value as T;
  } catch {
    // Not of this version of the page: as if there were nothing.
  }
  sessionStorage.removeItem(PREFIX + name);
  return undefined;
}

/** Keeps a value as JSON; one that is too large for the browser is not kept, and what was kept before goes. */
export function keep(name: string, value: unknown): boolean {
  const owner = profile.peek()?.id;
  // After the session has ended there is no one to keep it for; what was kept until then stays.
  if (owner === undefined) return false;
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify({ owner, value } satisfies Kept));
    return true;
  } catch {
    sessionStorage.removeItem(PREFIX + name);
    return false;
  }
}

/** Forgets everything that was kept in this tab. */
export function forgetKept(): void {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
}
