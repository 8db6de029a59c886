// Who is signed in, as the page was told when it was loaded and after every change.

import { computed, signal } from "@preact/signals";
import type { Boot } from "../contract.ts";
import { call } from "./api.ts";

/** What the page knows of the service and of its reader. */
export const session = signal<Boot>(JSON.parse(document.getElementById("boot")?.textContent ?? "{}") as Boot);

/** The signed-in account, or null. */
export const profile = computed(() => session.value.profile);

/** Base of the API as programs reach it, without `/v1`. */
export const baseUrl = computed(() => session.value.base_url || location.origin);

/** Asks the server again. */
export async function refreshSession(): Promise<void> {
  session.value = await call<Boot>("GET", "/session");
}

/** Forgets who was signed in, because the server says so or the reader signed out. */
export function forgetSession(): void {
  // The next person who signs in in this tab must not see it.
  freshKey.value = undefined;
  if (session.value.profile !== null) session.value = { ...session.value, profile: null };
}

/** A key that was created since the page was loaded, for examples that can be pasted unchanged. */
export const freshKey = signal<string | undefined>(undefined);
