// Keeps a page's input over a reload and over the sign-in after a session has ended. It is kept in this tab, for the
// account that wrote it. Signing out deletes all of it.

import { profile } from "./session.ts";

const PREFIX = "sallyport:";

interface Kept {
  readonly owner: string;
  readonly value: unknown;
}

/** Names of what people type before they are signed in begin with this. */
const GUEST = "guest-";

/** Whose a value is; undefined where nobody is signed in who could own it. */
function ownerOf(name: string): string | undefined {
  const id = profile.peek()?.id;
  if (name.startsWith(GUEST)) return id === undefined ? GUEST : undefined;
  return id;
}

/** The value that this account stored under `name` in this tab; undefined where there is none. */
export function recall<T>(name: string): T | undefined {
  const text = sessionStorage.getItem(PREFIX + name);
  if (text === null) return undefined;
  try {
    const { owner, value } = JSON.parse(text) as Kept;
    if (owner === ownerOf(name)) return value as T;
  } catch {
    // Another version of the page wrote it, so it is ignored.
  }
  sessionStorage.removeItem(PREFIX + name);
  return undefined;
}

/** Stores a value as JSON. A value that is too large for the browser is not stored, and the former value is deleted. */
export function keep(name: string, value: unknown): boolean {
  const owner = ownerOf(name);
  // After the session has ended there is no account to store it for; the former value stays.
  if (owner === undefined) return false;
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify({ owner, value } satisfies Kept));
    return true;
  } catch {
    sessionStorage.removeItem(PREFIX + name);
    return false;
  }
}

/** Deletes a value. */
export function forget(name: string): void {
  sessionStorage.removeItem(PREFIX + name);
}

/** Deletes everything that was stored in this tab. */
export function forgetKept(): void {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
}
