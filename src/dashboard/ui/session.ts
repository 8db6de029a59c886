// The session, as the server described it when the page was loaded and after each change.

import { computed, signal } from "@preact/signals";
import type { Boot } from "../contract.ts";
import { call } from "./api.ts";

/** The service's settings and the signed-in account. */
export const session = signal<Boot>(JSON.parse(document.getElementById("boot")?.textContent ?? "{}") as Boot);

/** The signed-in account, or null. */
export const profile = computed(() => session.value.profile);

/** The base URL of the API for programs, without `/v1`. */
export const baseUrl = computed(() => session.value.base_url || location.origin);

/** Loads the session again. */
export async function refreshSession(): Promise<void> {
  session.value = await call<Boot>("GET", "/session");
}

/** Removes the account from the session, because it has ended or the user signed out. */
export function forgetSession(): void {
  // The next person who signs in in this tab must not see the key.
  freshKey.value = undefined;
  if (session.value.profile !== null) session.value = { ...session.value, profile: null };
}

/** A key that was created since the page was loaded, so that examples with it can be pasted unchanged. */
export const freshKey = signal<string | undefined>(undefined);
