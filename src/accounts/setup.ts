// The first sign-up: while there is no account, it requires a secret link, so that a stranger who finds a new gateway cannot
// become its admin.

import { sha256Hex } from "../base/ids.ts";

/** The part of the store that setup needs. */
export interface SetupDeps {
  countAccounts(): Promise<number>;
  /** The secret under this name, created if missing. */
  secret(name: "setup_token"): Promise<string>;
}

/** The token of the first sign-up; undefined once there is an account. */
export async function setupToken(deps: SetupDeps): Promise<string | undefined> {
  return (await deps.countAccounts()) > 0 ? undefined : deps.secret("setup_token");
}

/** Whether this token opens the first sign-up. The account must then be created with `mustBeFirst`. */
export async function isSetupToken(deps: SetupDeps, token: string): Promise<boolean> {
  const right = await setupToken(deps);
  // Hashes have one length, whatever was sent.
  return right !== undefined && crypto.timingSafeEqual(Buffer.from(sha256Hex(token)), Buffer.from(sha256Hex(right)));
}

/** The link to share. `dashboardUrl` is the dashboard's address. */
export function setupLink(dashboardUrl: string, token: string): string {
  return `${dashboardUrl.replace(/\/+$/, "")}/signup?setup=${token}`;
}
