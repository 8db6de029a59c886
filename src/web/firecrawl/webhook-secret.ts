// What an account's webhooks are signed with: made of the gateway's own secret, so that nothing more has to be kept than
// how often it was renewed.

import { createHmac } from "node:crypto";

/** Where a count outlives a restart. */
interface Settings {
  readSetting(name: string): Promise<unknown>;
}

/** The secrets of all accounts. */
export interface WebhookSecrets {
  secretOf(accountId: string): Promise<string>;
}

/** Builds them over the gateway's own secret. */
export function createWebhookSecrets(ownSecret: () => Promise<string>, settings: Settings): WebhookSecrets {
  const nameOf = (accountId: string) => `webhook_secret_renewals:${accountId}`;
  const renewals = async (accountId: string) => Number((await settings.readSetting(nameOf(accountId))) ?? 0);
  const make = async (accountId: string, times: number) =>
    `whsec_${createHmac("sha256", await ownSecret())
      .update(`${accountId}\n${times}`)
      .digest("hex")}`;
  return {
    secretOf: async (accountId) => make(accountId, await renewals(accountId)),
  };
}
