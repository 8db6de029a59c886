// Detects a peer that sent proxy headers but is not in `server.trusted_proxies`, where the operator may have forgotten
// it.

import type { Clock } from "../base/clock.ts";
import { TrustedProxies } from "../http/peer.ts";
import { type SettingsStore, UNTRUSTED_PROXY_SETTING } from "../store/settings.ts";

/** How long a sighting is reported. Anyone can send such headers, so it is not reported forever. */
const TOLD_MS = 7 * 86_400_000;

/** The advice. Login limits count by address, so behind such a proxy ten failed logins would lock everybody out. */
export const UNTRUSTED_PROXY =
  "X-Forwarded-For came from a peer outside server.trusted_proxies: if it is your proxy, name it there, else all of its clients count as one address";

interface Seen {
  readonly peer: string;
  readonly atMs: number;
}

/** Records that a peer was seen, also for `doctor`, which runs in another process. */
export async function rememberProxy(settings: SettingsStore, clock: Clock, peer: string): Promise<void> {
  await settings.writeSetting(UNTRUSTED_PROXY_SETTING, { peer, atMs: clock.now() } satisfies Seen);
}

/** The last peer seen in recent days, unless it was added to the list meanwhile. */
export async function untrustedProxy(
  settings: SettingsStore,
  clock: Clock,
  trusted: readonly string[],
): Promise<string | undefined> {
  const seen = (await settings.readSetting(UNTRUSTED_PROXY_SETTING)) as Seen | undefined;
  if (seen === undefined || seen.atMs < clock.now() - TOLD_MS) return undefined;
  return new TrustedProxies(trusted).trusts(seen.peer) ? undefined : seen.peer;
}
