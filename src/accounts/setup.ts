// The first sign-up: while there is no account, it needs a secret link, so that a stranger who finds a new gateway
// cannot become its admin.

import { timingSafeEqual } from "node:crypto";
import { sha256Hex } from "../base/ids.ts";

/** What setup needs of the store. */
export interface SetupDeps {
  countAccounts(): Promise<number>;
  /** The secret under this name, made when there is none. */
  secret(name: "setup_token"): Promise<string>;
}

/** The token of the first sign-up; undefined once there is an account. */
export async function setupToken(deps: SetupDeps): Promise<string | undefined> {
  return (await deps.countAccounts()) > 0 ? undefined : deps.secret("setup_token");
}

/** Does this token open the first sign-up? The account must then be made with `mustBeFirst`. */
export async function isSetupToken(deps: SetupDeps, token: string): Promise<boolean> {
  const right = await setupToken(deps);
  // Hashes have one length, whatever was sent.
  return right !== undefined && timingSafeEqual(Buffer.from(sha256Hex(token)), Buffer.from(sha256Hex(right)));
}

/** The link to hand out. `dashboardUrl` is where the dashboard is reached. */
export function setupLink(dashboardUrl: string, token: string): string {
  return `${dashboardUrl.replace(/\/+$/, "")}/signup?setup=${token}`;
}
