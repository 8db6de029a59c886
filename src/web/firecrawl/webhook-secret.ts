// The secrets that sign accounts' webhooks. Each is derived from the gateway's own secret, so only the number of its renewals is
// stored.

/** Where the number of renewals is stored. */
interface Settings {
  readSetting(name: string): Promise<unknown>;
  changeSetting<T>(name: string, change: (value: unknown) => T): Promise<T>;
}

/** The secrets of all accounts. */
export interface WebhookSecrets {
  secretOf(accountId: string): Promise<string>;
  /** Replaces the account's secret and returns the new one. */
  renew(accountId: string): Promise<string>;
}

/** Creates the accounts' secrets from the gateway's own secret. */
export function createWebhookSecrets(ownSecret: () => Promise<string>, settings: Settings): WebhookSecrets {
  const nameOf = (accountId: string) => `webhook_secret_renewals:${accountId}`;
  const renewals = async (accountId: string) => Number((await settings.readSetting(nameOf(accountId))) ?? 0);
  const make = async (accountId: string, times: number) =>
    `whsec_${new Bun.CryptoHasher("sha256", await ownSecret()).update(`${accountId}\n${times}`).digest("hex")}`;
  return {
    secretOf: async (accountId) => make(accountId, await renewals(accountId)),
    async renew(accountId) {
      const times = await settings.changeSetting(nameOf(accountId), (value) => Number(value ?? 0) + 1);
      return make(accountId, times);
    },
  };
}
